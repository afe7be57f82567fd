"""Compares the AWS calls of each function with its permissions in `deploy/functions.yaml`: none is missing, which
would otherwise be noticed only once deployed, and none is unused."""

import io
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import boto3
import pytest
from PIL import Image

from chalicelib.audience import service as audience
from chalicelib.audience.imports import jobs as import_jobs
from chalicelib.audience.imports import running
from chalicelib.audience.imports import service as imports
from chalicelib.audience.imports.model import Consent, Joined
from chalicelib.audience.stores import subscribers as audience_store
from chalicelib.audience.tags import service as tags
from chalicelib.audience.tags.model import check_change
from chalicelib.bounces import failing
from chalicelib.bounces import service as bounces
from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.model import CampaignDetail, DeliveryState, Format, Targeting, Terms, WaveState
from chalicelib.campaigns.sending import continuing, deliveries, jobs, part_store, parts, progress, supervisor
from chalicelib.campaigns.sending.supervisor import Order
from chalicelib.campaigns.service import Draft
from chalicelib.events import service as events
from chalicelib.events.webhooks import dispatch
from chalicelib.events.webhooks import service as webhooks
from chalicelib.events.webhooks import store as webhook_store
from chalicelib.events.webhooks.model import BUS, NewWebhook
from chalicelib.feeds import service as feeds
from chalicelib.feeds import state as feed_state
from chalicelib.feeds import websub
from chalicelib.inbox import composing, offers, page_reading, pictures
from chalicelib.inbox import service as inbox
from chalicelib.inbox.item_row_store import ItemRow
from chalicelib.inbox.model import DESK, Recipient
from chalicelib.inbox.page_reading import Reading
from chalicelib.kernel import ciphers, clock, locks, settings
from chalicelib.kernel.aws import session as kernel_aws
from chalicelib.kernel.aws import tables
from chalicelib.media import service as media
from chalicelib.members import invitations, sessions
from chalicelib.members import service as members
from chalicelib.sightings import service as sightings
from chalicelib.site import service as site
from local.providers.catalogue import CHANNELS
from local.providers.main import Providers
from tests.conftest import received
from tests.deploy.rights import Watch
from tests.fixtures.emitters import all_emitters
from tests.fixtures.providers import TOKEN_KEYS
from tests.fixtures.receiver import Receiver
from tests.rooms.audience.reader import Reader
from tests.rooms.bounces.test_service import event as ses_event
from tests.rooms.campaigns.crowd import gather, gather_imported
from tests.rooms.events.conftest import happen
from tests.rooms.following.conftest import Owner
from tests.rooms.inbox.test_pictures import Host
from tests.rooms.inbox.things import article, receive, states
from tests.rooms.sightings.person import Person, prepare_photos

_ITEM = f":::item\ntitle: News\nlink: https://example.org/\nentry: {'0' * 32}\n:::\n"


@pytest.fixture
def watch(
    aws: None, ses: Any, receiver: Receiver, configure: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Watch]:
    """A webhook, so that events have a receiver."""
    watch, real, real_of_providers = Watch(), settings.secret, settings.provider_secret

    def secret(name: str) -> bytes:
        watch.used[watch.running].add(("may", "secrets"))
        return real(name)

    def provider_secret(name: str) -> str:
        watch.used[watch.running].add(("may", "providers"))
        return real_of_providers(name)

    monkeypatch.setattr(settings, "secret", secret)
    monkeypatch.setattr(settings, "provider_secret", provider_secret)
    monkeypatch.setattr(dispatch, "_LANES_AT_ONCE", 1)  # moto is not made for threads
    configure(GNA_LOCAL="true")
    webhooks.add(NewWebhook(url=receiver.url, include_address=True))
    emitters = all_emitters()
    for emitter in emitters:
        emitter.register_first("before-send", watch.hear)
    yield watch
    for emitter in emitters:
        emitter.unregister("before-send", watch.hear)
    kernel_aws._client.cache_clear()


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    real = clock.now

    def move(**time: float) -> None:
        monkeypatch.setattr(clock, "now", lambda: real() + timedelta(**time))

    return move


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.stop()


@pytest.fixture
def ada(http: Any, ses: Any, watch: Watch) -> Reader:
    def deliver() -> None:
        for message in received("audience"):
            watch.work("audience", message)

    return Reader(http, ses, deliver, "ada@example.net")


def _id() -> str:
    (row,) = tables.scan(audience_store.SubscriberRow)
    return str(row.id)


def test_mail(watch: Watch, ada: Reader, monkeypatch: pytest.MonkeyPatch, configure: Any) -> None:
    configure(MAILS_PER_HOUR="1")
    ada.join(source="blog").subscribe(source="shop")
    configure(MAILS_PER_HOUR="100")
    watch.work("audience", {"kind": "release"})
    ada.deliver()
    assert len(ada.mails()) == 2, "what was held is mailed"
    ada.http.post("/api/profile/update", json={"token": ada.magic_token(), "email": "new@example.net"})
    ada.deliver()
    site.change({"welcome.on": True, "welcome.link_last": True}, "editor@example.org")
    newcomer = Reader(ada.http, ada.mailbox, ada.deliver, "newcomer@example.net").join()
    ada.deliver()
    assert "Welcome to" in newcomer.mails()[0]["subject"]
    audience.unsubscribe(re.search(r"token=([^&\s]+)", newcomer.mails()[0]["text"])[1])  # type: ignore[index]
    remove = {"kind": "remove", "subscriber_id": _id()}
    with monkeypatch.context() as busy:
        busy.setattr(events, "ensure_relayed", lambda _: False)
        watch.work("audience", remove)
    configure(REMEMBER_LEAVERS="true")
    watch.work("audience", remove)
    assert not list(tables.scan(audience_store.SubscriberRow))
    watch.hold("audience")


def test_clean_up(watch: Watch, ada: Reader, later: Any, configure: Any, media_bucket: str) -> None:
    configure(GNA_LOCAL="true", DOWNLOADS_BUCKET="gna-downloads")
    boto3.client("s3").create_bucket(
        Bucket="gna-downloads", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"}
    )
    Reader(ada.http, ada.mailbox, ada.deliver, "bob@example.net").join()
    ada.subscribe(source="blog")
    imports.create(b"email\neve@example.net\n", "text/csv")
    later(hours=47)
    ada.http.post("/api/subscribe", json={"email": "eve@example.net"})
    _start(imports.create(b"email\neve@example.net\n", "text/csv"))
    later(hours=49)
    watch.work("clean_up")
    assert [message["kind"] for message in received("audience")][-1] == "sign-up"
    watch.hold("clean_up")


_CAREFUL = {
    "GNA_LOCAL": "true",
    "ADMIN_EMAIL": "me@example.org",
    "WAVE_WAIT": "1",
    "VALIDATING_CONFIGURATION_SET": "gna-imported",
}


def _between_waves(monkeypatch: pytest.MonkeyPatch, look: Callable[[], object]) -> None:
    """Imported people: somebody looks after their waves while nobody sends, and too many bounce."""
    gather_imported(60)
    detail = campaigns.send_now(campaigns.create(Draft("Hello", "<p>Hi</p>")).campaign.id)
    look()
    for _ in range(2):
        with monkeypatch.context() as alone:
            alone.setattr(supervisor, "_finish_if_last", lambda delivery: None)
            for message in received("sending"):
                supervisor.drive(Order(**message), lambda: 60)
        deliveries.wake(detail)
        look()
    assert progress.with_live_counts(detail).deliveries[0].wave.state is WaveState.WAITING
    _report_bounces(detail, "first", "second")
    deliveries.wake(detail)
    look()
    assert progress.with_live_counts(detail).deliveries[0].wave.state is WaveState.STOPPED


def _report_bounces(detail: CampaignDetail, *ids: str) -> None:
    for id in ids:
        tags = {"delivery": [detail.deliveries[0].id], "wave": ["1"]}
        mail = {"source": "news@example.org", "destination": [f"{id}@example.org"], "messageId": id, "tags": tags}
        bounces.record_event({"eventType": "Bounce", "mail": mail, "bounce": {"bounceType": "Permanent"}})


def test_deliveries(watch: Watch, configure: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(GNA_LOCAL="true", BOUNCES="pause")
    gather(1)
    detail = campaigns.send_now(campaigns.create(Draft("Hello", "<p>Hi</p>")).campaign.id)
    (message,) = received("deliveries")
    watch.work("deliveries", message)
    part_store.stop(detail.deliveries[0].id, 0, "That is enough")
    watch.work("deliveries", message)
    assert deliveries.get(**message).state is DeliveryState.FAILED
    configure(**_CAREFUL)
    _between_waves(monkeypatch, lambda: watch.work("deliveries", *received("deliveries")[:1]))
    watch.hold("deliveries")


def test_sending(watch: Watch, ses: Any, monkeypatch: pytest.MonkeyPatch, configure: Any) -> None:
    gather(3)
    for mode in ("pause", "remove"):
        configure(GNA_LOCAL="true", BOUNCES=mode)
        gather(1, email=f"{mode}@example.org")
        ses.tell(entries={f"{mode}@example.org": "INVALID_PARAMETER"})
        detail = campaigns.send_now(campaigns.create(Draft("Hello", "<p>Hi</p>")).campaign.id)
        supervisor.tend(detail.deliveries[0])
        with monkeypatch.context() as late:
            late.setattr(jobs, "_MARGIN", 1000.0)
            watch.work("sending", *received("sending"))
        watch.work("sending", *received("sending"))
        assert deliveries.get(detail.campaign.id, detail.deliveries[0].id).counts.failed == 1
    configure(**_CAREFUL)
    gather_imported(60)
    detail = campaigns.send_now(campaigns.create(Draft("Hello", "<p>Hi</p>")).campaign.id)
    supervisor.tend(detail.deliveries[0])
    for _ in range(2):
        watch.work("sending", *received("sending"))
    continuing.go_on(detail.campaign.id, detail.deliveries[0].id)
    supervisor.tend(detail.deliveries[0])
    _report_bounces(detail, "first", "second")
    watch.work("sending", *received("sending"))
    assert progress.with_live_counts(detail).deliveries[0].wave.state is WaveState.STOPPED
    watch.hold("sending")


def test_sweep_deliveries(
    watch: Watch, later: Any, configure: Any, media_bucket: str, blog: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(GNA_LOCAL="true", BOUNCES="pause")
    gather(1)
    picture = media.publish(_photo()).name
    media.unpublish(picture)  # it comes back after the campaigns were saved
    for hours in (1, 20):
        body = f"{_ITEM}\n![]({media.copy_url(picture)})"
        aim = Targeting(tags=Terms(none=("x",)))  # nobody may be changing these tags
        campaign = campaigns.create(Draft("Hello", body, format=Format.MARKDOWN, targeting=aim)).campaign
        campaigns.schedule(campaign.id, clock.text(clock.now() + timedelta(hours=hours)))
    later(hours=20, minutes=1)
    media.publish(_photo())
    watch.work("sweep_deliveries")
    (under_way,) = deliveries.list_sending()
    part_store.stop(under_way.id, 0, "That is enough")
    watch.work("sweep_deliveries")
    held = {"GNA_LOCAL": "true", "FEED_URL": f"{blog.url}/feed.xml"}
    configure(**held, FEED_HOLD="30")
    feeds.check(feed_state.Trigger.SCHEDULE)
    blog.publish("News")
    feeds.check(feed_state.Trigger.SCHEDULE)
    configure(**held, FEED_HOLD="60")
    watch.work("sweep_deliveries")  # it is planned anew
    later(hours=22)
    watch.work("sweep_deliveries")
    configure(**_CAREFUL)
    later(hours=0)
    _between_waves(monkeypatch, lambda: watch.work("sweep_deliveries"))
    watch.hold("sweep_deliveries")


def test_mail_events(watch: Watch, ada: Reader, configure: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ada.email = "reader@example.org"
    ada.join()
    members.sign_up(ada.email, _PASSWORD, _PASSWORD, None, "192.0.2.1")
    monkeypatch.setattr(failing, "_PORTION", 1)
    for mode in ("keep", "remove", "pause"):
        configure(GNA_LOCAL="true", BOUNCES=mode)
        watch.work("mail_events", ses_event("event_bounce_transient"), ses_event("event_bounce_permanent"))
    failing.start(failing.PAUSE)
    watch.work("mail_events", *received("mail-events"))
    watch.work("mail_events", ses_event("event_complaint"))
    watch.hold("mail_events")


def _watch_feed(watch: Watch, blog: Any, name: str, *messages: Any) -> None:
    """The watched feed has news, and then it is gone."""
    blog.hub = f"{blog.url}/hub"
    watch.work(name, *messages)
    blog.files["/shot.jpg"] = _photo(60)
    blog.publish("News", picture="/shot.jpg")
    watch.work(name, *messages)
    blog.answer = (410, {}, b"")
    watch.work(name, *messages)
    with locks.held(feed_state.WATCHED, 60):
        watch.work(name, *messages)


def test_check_feed(watch: Watch, blog: Any, media_bucket: str) -> None:
    _watch_feed(watch, blog, "check_feed")
    watch.hold("check_feed")


class _Following:
    """Somebody who follows channels with an account of theirs, at a small YouTube."""

    def __init__(self, watch: Watch, owner: Owner, providers: Providers) -> None:
        self.watch, self.owner, self.providers = watch, owner, providers

    def follow(self, channel: str) -> Any:
        follow = self.owner.follow("YOUTUBE", channel)
        self.work()
        return follow

    def sweep(self) -> None:
        self.watch.work("sweep_following")
        self.work()

    def work(self, *messages: Any) -> None:
        for message in messages or received("feed"):
            self.watch.work("poll_sources", message)


@pytest.fixture
def following(watch: Watch, admin: Any, providers: Providers, configure: Any) -> _Following:
    """Without a key of the deployment, so that everything needs somebody's connection."""
    configure(YOUTUBE_API_KEY="", MEMBERS="open")
    providers.deliver_by(lambda *sent: (404, b""))
    return _Following(watch, Owner(admin, providers, "/admin/api"), providers)


@pytest.fixture
def pass_time(later: Any, providers: Providers) -> Callable[..., None]:
    """Here and at the providers, one after the other."""
    passed = timedelta()

    def move(**time: float) -> None:
        nonlocal passed
        passed += timedelta(**time)
        later(seconds=passed.total_seconds())
        providers.advance(timedelta(**time).total_seconds())

    return move


def _copy_pictures(copy: Callable[[str], None]) -> None:
    """Of every item there is; then it looks as if each had another by now."""
    host = Host()
    for row in tables.scan(ItemRow):
        tables.update(row, [ItemRow.image.set(host.put(_photo()))])
        copy(row.id)
        tables.update(row, [ItemRow.picture_of.set("another")])
        assert row.picture
    host.stop()


def _read_later(read: Callable[[str], None], url: str) -> None:
    """A page that there was no time for."""
    unread = page_reading.to_item(Reading(url, "a page", problem=page_reading.NOT_READ_YET), clock.now())
    inbox.deliver(unread, [Recipient("ada")], clock.now())
    read(unread.id)
    stored = inbox.find_item(unread.id)
    assert stored
    assert stored.problem != unread.problem


def test_poll_sources(watch: Watch, blog: Any, following: _Following, pass_time: Any, media_bucket: str) -> None:
    _watch_feed(watch, blog, "poll_sources", {"trigger": "webhook"})
    following.owner.connect("YOUTUBE")
    follow = following.follow(CHANNELS[0].id)
    following.owner.set_options(follow, newest_only=True)
    video = following.providers.publish(CHANNELS[0].id, "News")
    pass_time(hours=25)
    following.sweep()
    assert following.owner.titles() == ["News"]
    _copy_pictures(lambda id: following.work({"kind": "copy", "item": id}))
    deleted = {"feed": follow["creator_id"], "deleted": [f"yt:video:{video}"], "at": clock.text(clock.now())}
    following.work(deleted)
    following.owner.act(follow, "pause")
    following.owner.act(follow, "resume")
    following.work()
    following.owner.call("DELETE", f"follows/{follow['id']}")
    following.work({"kind": "forget", "owner": following.owner.id, "follow": follow["id"]})
    following.follow(CHANNELS[1].id)
    following.owner.call("DELETE", "connections/YOUTUBE")
    following.work({"kind": "disconnect", "owner": "desk", "provider": "YOUTUBE", "at": clock.text(clock.now())})
    following.work({"kind": "revive", "owner": "desk", "provider": "YOUTUBE"})
    following.work({"kind": "forget_owner", "owner": "somebody who has gone"})
    reader = Person(following.owner.http, "ada")
    following.work({"kind": "follow_url", "owner": reader.id, "url": f"{blog.url}/moved.xml", "tries": 0})
    _read_later(lambda id: following.work({"kind": "read_page", "item": id, "tries": 0}), f"{blog.url}/posts/1")
    _withdraw(lambda id: following.work({"kind": "recall", "items": [id]}), reader)
    _import_lists(following.work)
    _change_tags(following.work)
    watch.hold("poll_sources")
    watch.hold("sweep_following")


def _start(shown: imports.Shown, joined: Joined = Joined.DOUBLE) -> dict[str, Any]:
    imports.start(shown.found.id, imports.Start(Consent(joined, "They signed up.")))
    return {"kind": import_jobs.KIND, "import_id": shown.found.id}


def _change_tags(work: Callable[[dict[str, Any]], None]) -> None:
    """While a campaign for such people waits for its wave: whoever gets it is read already."""
    aim = Targeting(tags=Terms(any=("tea",)))
    gather(1, tags={"tea"})
    campaigns.create(Draft("Later", "Hello", targeting=aim))
    delivery = campaigns.send_now(campaigns.create(Draft("Now", "Hello", targeting=aim)).campaign.id).deliveries[0]
    part_store.begin(parts.Plan(delivery.id), [parts.done(part) for part in parts.cut(delivery.id, 1)])
    job = tags.start(check_change("rename", ["tea"], "chai"))
    work({"kind": tags.KIND, "job_id": job.id})
    assert (tags.view(job.id).state, tags.view(job.id).changed) == ("done", 1)


def _import_lists(work: Callable[[dict[str, Any]], None]) -> None:
    """One of every kind, twice in two slices, and taken back."""
    listed = b"email,status\nimported@example.net,\nleft@example.net,unsubscribed\nspam@example.net,complained\n"
    first = _start(imports.create(listed, "text/csv"))
    work(first)
    asked = _start(imports.create(b"email\nasked@example.net\n", "text/csv"), Joined.SINGLE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "_JUDGED", 1)
        work(asked)
    assert imports.view(asked["import_id"]).found.counts["asked"] == 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(imports, "_SECONDS", 0.0)
        imports.undo(first["import_id"])
    work(first)
    assert imports.view(first["import_id"]).found.removed == 1


def _withdraw(recall: Callable[[str], None], reader: Person) -> None:
    """A sighting that is in a draft with its photo and in an older version of it, and in nothing else."""
    ada, upload_id = members.get(reader.id), media.receive(reader.id, _photo())
    shared = sightings.share(ada, sightings.create(ada.id, "Red fox", "Here", upload_id).sighting.id, "", "").sighting
    prepare_photos()
    id = offers.item_id(sightings.model.shown_id(shared.id))
    draft = composing.compose([composing.Section((id,))]).detail.campaign
    campaigns.update(draft.id, {"preheader": "There is an older version with it"}, {})
    campaigns.schedule(draft.id, clock.text(clock.now() + timedelta(hours=1)))
    tables.transact(*offers.withdraw_writes(id, offers.find(id)))
    recall(id)
    assert campaigns.view(draft.id).campaign.notice


def test_maintain_following(
    watch: Watch, following: _Following, pass_time: Any, configure: Any, media_bucket: str
) -> None:
    owner, providers = following.owner, following.providers
    owner.connect("YOUTUBE")
    unfollowed = following.follow(CHANNELS[1].id)
    owner.call("DELETE", f"follows/{unfollowed['id']}")
    pass_time(hours=25)
    following.sweep()
    websub.renew(unfollowed["creator_id"], f"{providers.youtube}/subscribe", "https://www.youtube.com/")
    following.follow(CHANNELS[0].id)
    video = providers.publish(CHANNELS[0].id, "Deleted before it is refreshed")
    pass_time(hours=25)
    following.sweep()
    providers.delete(video)
    _copy_pictures(pictures.copy)
    configure(TOKEN_KEYS=f"{TOKEN_KEYS},{ciphers.make_key(2)}")
    pass_time(days=28)
    watch.work("maintain_following")
    assert len(owner.inbox()) == 1
    providers.set_fault("youtube", revoked=True)
    pass_time(days=1)
    following.sweep()
    pass_time(days=8)
    (in_a_draft,) = receive(DESK, article())
    composing.compose([composing.Section((in_a_draft,))])
    configure(INBOX_DAYS="7")
    watch.work("maintain_following")
    assert states()[in_a_draft] == "INBOX"
    watch.hold("maintain_following")


def test_the_events(watch: Watch, receiver: Receiver, ada: Reader, later: Any, configure: Any) -> None:
    configure(GNA_LOCAL="true", EVENT_BUS="gna-events")
    (hook,) = webhook_store.list_webhooks()
    ada.join()
    watch.work("sweep_events")
    watch.work("sweep_events")
    for message in received("events"):
        watch.work("send_events", message)
    watch.work("send_events", {"aggregates": [happen()]}, {"destination": BUS})
    receiver.answer = lambda call: 410
    watch.work("send_events", {"destination": hook.id})
    watch.hold("sweep_events")
    watch.hold("send_events")
    later(days=31)
    watch.work("clean_up_events")
    watch.hold("clean_up_events")


_PASSWORD = "Analytical-1"


def _photo(width: int = 40) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (width, 40), (200, 90, 40)).save(buffer, "PNG")
    return buffer.getvalue()


class _Members:
    """Somebody who joins, verifies, posts a sighting with a photo, shares it, follows a channel and leaves."""

    def __init__(self, watch: Watch, ses: Any, http: Any, providers: Providers) -> None:
        self.watch, self.ses, self.http, self.providers = watch, ses, http, providers

    def join(self, email: str = "ada@example.net") -> Any:
        member, _ = members.sign_up(email, _PASSWORD, _PASSWORD, None, "192.0.2.1")
        return member

    def work(self, queue: str) -> None:
        for message in received(queue):
            self.watch.work(queue, message)

    def post(self, member: Any) -> Any:
        return sightings.create(member.id, "Red fox", "Here", media.receive(member.id, _photo())).sighting

    def follow(self, member: Any) -> None:
        """With an account that is connected, and something received."""
        value, session = sessions.begin_write(member, clock.now())
        tables.transact(session)
        owner = Owner(self.http, self.providers, "/api", member.id, f"__Host-session={value}")
        owner.connect("YOUTUBE")
        owner.follow("YOUTUBE", CHANNELS[0].id)
        assert len(owner.inbox()) == 1

    def token(self, email: str, path: str) -> str:
        (link, *_) = re.findall(rf"{path}\?token=(\S+)", self.ses.mails(to=email)[0]["text"])
        return link


@pytest.fixture
def membership(
    watch: Watch, ses: Any, http: Any, providers: Providers, configure: Any, media_bucket: str
) -> _Members:
    configure(GNA_LOCAL="true", MEMBERS="open")
    providers.deliver_by(lambda *sent: (404, b""))
    return _Members(watch, ses, http, providers)


def test_members(watch: Watch, membership: _Members, configure: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(GNA_LOCAL="true", MEMBERS="open", MAILS_PER_HOUR="1")
    ada = membership.join()
    membership.join("bob@example.net")
    membership.work("members")
    members.verify(membership.token("ada@example.net", "/verify"))
    invitations.invite("eve@example.net")
    members.request_reset("ada@example.net", "192.0.2.1")
    ada = members.get(ada.id)
    sightings.share(ada, membership.post(ada).id, "", "")
    membership.follow(ada)
    members.close(ada.id)
    membership.work("members")
    watch.hold("members")


def _share_as_before(person: Person) -> None:
    """By an earlier version, when there was no inbox."""
    carol = members.get(person.id)
    shared = sightings.share(carol, sightings.create(carol.id, "Owl", "Here").sighting.id, "", "").sighting
    id = offers.item_id(sightings.model.shown_id(shared.id))
    tables.transact(*offers.delete_writes(id))


def test_clean_up_members(watch: Watch, membership: _Members, later: Any) -> None:
    bob = membership.join("bob@example.net")
    sightings.delete(bob.id, membership.post(bob).id)
    membership.post(bob)
    membership.follow(bob)
    members.close(bob.id)
    membership.join()
    invitations.invite("eve@example.net")
    _share_as_before(Person(membership.http, "carol"))
    received("members")
    later(days=31)
    watch.work("clean_up_members")
    watch.hold("clean_up_members")


def test_media(watch: Watch, membership: _Members, later: Any) -> None:
    ada = membership.join()
    gone, stays = membership.post(ada), membership.post(ada)
    membership.work("media")
    sightings.delete(ada.id, gone.id)
    membership.work("media")
    assert sightings.find(ada.id, stays.id).photo_state == "ready"
    watch.hold("media")
    membership.post(ada)
    media.receive(ada.id, _photo())
    media.postpone("feed", {"kind": "copy", "item": "0"}, clock.now())
    later(hours=1)
    watch.work("clean_up_media")
    watch.hold("clean_up_media")
