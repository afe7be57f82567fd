"""The pages of what is followed, as a browser without scripts uses them: those of the desk, and a member's own."""

import re
from datetime import timedelta
from html import unescape

import pytest

from chalicelib.following import connections, notifications, quota
from chalicelib.following.providers.contract import SEARCHES, UNITS
from chalicelib.following.stores import counters, creators
from chalicelib.following.stores import notifications as notification_store
from chalicelib.inbox.model import DESK, Provider
from chalicelib.kernel import clock
from chalicelib.kernel.errors import Unavailable
from local.providers.catalogue import CHANNELS, SHOWS
from tests.rooms.following import made

HERE = "https://news.example.org"
LARGEST = 60 * 1024
ALLOTMENT, HEDGE = CHANNELS[0], CHANNELS[1]


class Pages:
    """What somebody sees."""

    def __init__(self, owner):
        self.owner, self.id = owner, owner.id
        self.prefix = owner.prefix.removesuffix("/api")
        self.home = f"{self.prefix}/following"

    def _headers(self):
        return {"Cookie": self.owner.cookie} if self.owner.cookie else {}

    def get(self, path="", **headers):
        return self.owner.http.get(f"{self.home}{path}", **self._headers(), **headers)

    def see(self, path=""):
        answer = self.get(path)
        assert answer.status == 200, words(answer)
        return words(answer)

    def post(self, path="", **fields):
        return self.owner.http.post(f"{self.home}{path}", form=fields, Origin=HERE, **self._headers())

    def lead(self, path="", **fields):
        """Send a form, and read the page it leads to."""
        answer = self.post(path, **fields)
        assert answer.status == 303, words(answer)
        to = answer.headers["Location"]
        assert to.startswith(self.home)
        return self.see(to.removeprefix(self.home))

    def elsewhere(self):
        """A page of another room."""
        path = f"{self.prefix}/subscribers" if self.prefix else "/account"
        answer = self.owner.http.get(path, **self._headers())
        assert answer.status == 200
        return words(answer)

    def follow(self, channel=ALLOTMENT):
        found = self.owner.follow("YOUTUBE", channel.id)
        return found["id"].replace("-", "")


def words(answer):
    bare = re.sub(r"<(script|style|title|template).*?</\1>|<[^>]+>", " ", answer.text, flags=re.DOTALL)
    return " ".join(unescape(bare).split())


@pytest.fixture
def ada(member):
    return Pages(member("ada"))


@pytest.fixture
def editor(desk):
    return Pages(desk)


@pytest.fixture(params=["editor", "ada"])
def who(request):
    """Each of the two in turn."""
    return request.getfixturevalue(request.param)


def test_an_empty_page_says_what_to_do_first(who):
    page = who.see()
    assert "Nothing followed yet" in page
    assert "connect YouTube to choose from your subscriptions" in page


def test_a_pasted_link_is_followed(who):
    page = who.lead(url="https://www.youtube.com/@allotmentno9")
    assert "Followed. Its latest item is on its way to the inbox." in page
    assert "Allotment No. 9" in page
    assert "You follow this already." in who.lead(url=f"https://www.youtube.com/channel/{ALLOTMENT.id}")
    assert len(who.owner.follows()) == 1
    assert who.owner.titles() == ["Sowing broad beans too early"]


@pytest.mark.parametrize(
    ("typed", "status", "why"),
    [
        ("", 400, "Enter the address of a channel, a show, a feed or a website."),
        ("two words & more", 400, "Enter the address of a channel, a show, a feed or a website."),
        ("https://www.youtube.com/@nobodyhere", 404, ""),
        ("x" * 5_000, 400, "Enter the address of a channel, a show, a feed or a website."),
    ],
)
def test_what_cannot_be_followed_is_explained_beside_the_field_and_stays_there(who, typed, status, why):
    page = who.post(url=typed)
    assert page.status == status
    found = re.search(r'<p class="why" id="url-why" role="alert">(.+?)</p>', page.text)
    assert unescape(found[1]).startswith(why)
    field = re.search(r'<input type="text" id="url" name="url" value="([^"]*)"', page.text)
    assert unescape(field[1]) == typed[:2_000]
    assert 'aria-describedby="url-why url-hint" aria-invalid="true" autofocus' in page.text


def test_a_show_needs_a_connection_and_members_are_led_to_its_feed(editor, ada):
    link = f"https://open.spotify.com/show/{SHOWS[0].id}"
    assert "Connect Spotify first." in words(editor.post(url=link))
    page = ada.post(url=link)
    assert page.status == 409
    assert "most podcasts have a feed of their own: paste its link" in words(page)


def test_subscriptions_are_listed_and_followed_from_the_list(who, providers):
    assert "YouTube is not connected" in who.see("/find")
    who.owner.connect("YOUTUBE")
    page = who.get("/find?provider=YOUTUBE")
    buttons = re.findall(r'<button [^>]*name="channel_id" value="([^"]+)"', page.text)
    assert sorted(buttons) == sorted(channel.id for channel in CHANNELS[:3])
    calls = providers.calls()["youtube"]["GET /youtube/v3/subscriptions"]
    page = who.lead("/find", provider="YOUTUBE", channel_id=ALLOTMENT.id)
    assert "Followed." in page
    page = who.get("/find?provider=YOUTUBE")
    assert len(re.findall(r'name="channel_id"', page.text)) == 2
    assert ">Following</span>" in page.text
    assert providers.calls()["youtube"]["GET /youtube/v3/subscriptions"] == calls, "not asked again for each"


def test_another_connection_has_other_subscriptions(who, providers):
    who.owner.connect("YOUTUBE")
    who.see("/find")
    who.owner.call("DELETE", "connections/YOUTUBE")
    assert "YouTube is not connected" in who.see("/find")
    who.owner.connect("YOUTUBE")
    providers.forget_calls()
    who.see("/find")
    assert providers.calls()["youtube"]["GET /youtube/v3/subscriptions"] == 1


def test_what_cannot_be_followed_from_the_list_is_explained_above_it(editor):
    editor.owner.connect("YOUTUBE")
    page = editor.post("/find", provider="YOUTUBE", channel_id=f"UC{'x' * 22}")
    assert page.status == 404
    assert 'class="notice bad" role="alert"' in page.text
    assert "Mend & Keep" in words(page)


def test_a_search_finds_channels_by_name(who):
    assert 'name="q" value=""' in who.get("/find?q=").text
    page = who.see("/find?provider=YOUTUBE&q=compost")
    assert "1 found for “compost”" in page
    assert "Compost Hour 3,480 subscribers" in page
    page = who.lead("/find", provider="YOUTUBE", q="compost", channel_id=CHANNELS[3].id)
    assert "Followed." in page
    assert "1 found for “compost”" in page
    assert "Nothing found for “zeppelin”" in who.see("/find?provider=YOUTUBE&q=zeppelin")


def test_a_search_is_made_for_a_person_only(who, providers):
    providers.forget_calls()
    for headers in ({"Sec_Fetch_Site": "cross-site"}, {"Sec_Purpose": "prefetch"}):
        assert who.get("/find?provider=YOUTUBE&q=compost", **headers).status == 200
    assert providers.calls()["searches"] == 0
    assert who.get("/find?provider=YOUTUBE&q=compost", Sec_Fetch_Site="same-origin").status == 200
    assert providers.calls()["searches"] == 1


def test_the_page_says_when_the_searches_of_the_day_are_used_up(who):
    quota.use_up(Provider.YOUTUBE, SEARCHES)
    page = who.get("/find?provider=YOUTUBE&q=compost")
    assert page.status == 429
    assert "Today’s 100 searches at YouTube are used up" in words(page)
    assert int(page.headers["Retry-After"]) > 0


def test_checking_now_says_what_was_found(who, providers, later):
    id = who.follow()
    assert "Checked: nothing new." in who.lead("/act", sync=id)
    assert "Not checked: it was checked less than five minutes ago" in who.lead("/act", sync=id)
    later(minutes=6)
    providers.publish(ALLOTMENT.id, "Frost again")
    providers.publish(ALLOTMENT.id, "And again")
    assert "Checked: 2 new items found." in who.lead("/act", sync=id)
    later(minutes=6)
    providers.set_fault("youtube", outage=True)
    assert "It could not be checked." in who.lead("/act", sync=id)


def test_a_number_in_a_notice_can_only_be_a_number(who):
    who.follow()
    assert "Checked: 3 new items found." in who.see("?notice=synced&items=3")
    assert "greetings" not in who.see("?notice=synced&items=greetings")
    assert "greetings" not in who.see("?notice=greetings")


def test_pausing_and_resuming(who):
    id = who.follow()
    page = who.lead("/act", pause=id)
    assert "Paused. Nothing is received until you resume it." in page
    assert "Paused YouTube" in page
    assert "Paused." in who.lead("/act", pause=id), "a second click changes nothing"
    assert "Can't do that yet" in who.lead("/act", sync=id)
    page = who.lead("/act", resume=id)
    assert "Resumed." in page
    assert "Paused YouTube" not in page


def test_a_button_of_the_page_of_a_follow_leads_back_to_it(who):
    id = who.follow()
    answer = who.post("/act", pause=id, **{"from": "page"})
    assert answer.headers["Location"] == f"{who.home}/{id}?notice=paused"


def test_a_button_that_names_nothing_changes_nothing(who):
    assert who.post("/act").status == 400
    assert "it was not there any more" in who.lead("/act", pause="0" * 32)
    assert "it was not there any more" in who.lead("/act", read="nothing")


def test_options_are_saved(who):
    id = who.follow()
    page = who.get(f"/{id}")
    assert 'name="action" value="inbox" checked' in page.text
    assert "No shorts" in page.text
    assert "Saved." in who.lead(f"/{id}", action="bookmark", newest_only="yes")
    found = who.owner.follows()[0]["options"]
    assert found == {"action": "bookmark", "newest_only": True, "hide_shorts": False}
    page = who.get(f"/{id}").text
    assert 'name="action" value="bookmark" checked' in page
    assert 'name="newest_only" value="yes" checked' in page
    assert who.post(f"/{id}", action="burn").status == 400


def test_only_youtube_has_shorts(editor):
    feed = made.follow("A feed").id.replace("-", "")
    assert "shorts" not in editor.see(f"/{feed}")


def test_the_page_of_a_follow_says_how_it_is_doing(who):
    page = who.see(f"/{who.follow()}")
    for said in ("Allotment No. 9", "Active YouTube", "Newest item", "Last checked", "Items there"):
        assert said in page
    assert "How often every 4 hours" in page or "How often every hour" in page


def test_unfollowing_is_confirmed_first(who):
    id = who.follow()
    page = who.see(f"/{id}/unfollow")
    assert "what was bookmarked or archived stays where it is" in page
    assert "Unfollowed." in who.lead(f"/{id}/unfollow")
    assert who.owner.follows() == []
    assert who.owner.titles() == []
    assert "it was not there any more" in who.lead(f"/{id}/unfollow"), "a second click"
    assert who.get(f"/{id}").status == 404


@pytest.mark.parametrize("path", ["/nothing", f"/{'0' * 32}", f"/{'0' * 32}/unfollow"])
def test_what_is_not_followed_is_not_found(who, path):
    assert who.get(path).status == 404


def test_members_do_not_see_what_others_follow(ada, member):
    id = ada.follow()
    bob = Pages(member("bob"))
    assert bob.get(f"/{id}").status == bob.get(f"/{id}/unfollow").status == bob.post(f"/{id}", action="inbox").status
    assert bob.get(f"/{id}").status == 404
    assert "it was not there any more" in bob.lead("/act", pause=id)
    assert "Allotment" not in bob.see()


def test_follows_are_filtered_and_listed_in_pages(editor):
    for number in range(30):
        made.follow(f"Feed {number:02}", number=number)
    made.follow("A channel", provider=Provider.YOUTUBE)
    page = editor.get()
    names = re.findall(r'<h3><a id="f\d+" [^>]*>(.+?)</a>', page.text)
    assert (names[0], len(names)) == ("A channel", 25)
    older = editor.get(unescape(re.search(r'rel="next" href="/admin/following([^"]+)"', page.text)[1]))
    names += re.findall(r'<h3><a id="f\d+" [^>]*>(.+?)</a>', older.text)
    assert len(set(names)) == 31
    assert ">Newest</a>" in older.text
    assert "Feed" not in re.findall(r'<ul class="follows.*?</ul>', editor.get("?provider=YOUTUBE").text, re.DOTALL)[0]
    assert "Nothing like that is followed." in editor.see("?status=PAUSED")
    assert editor.get("?provider=ALL&status=ALL").status == 200
    assert editor.get("?cursor=x").status == 400


def test_a_follow_that_fails_says_why(editor):
    creator = made.creator_of(made.follow("A feed", problem="The server answered 500", failures=3))
    page = editor.see()
    assert "Failing Feed" in page
    assert "The server answered 500. 3 attempts failed; we keep trying." in page
    later = clock.now() + timedelta(hours=1)
    assert creator.is_failing
    made.follow("Another", number=1, not_before=later)
    assert "Its server asked us to wait." in editor.see()


def test_a_follow_that_waits_for_a_connection_says_so(editor, configure):
    editor.owner.connect("SPOTIFY")
    editor.owner.follow("SPOTIFY", SHOWS[0].id)
    assert "Waiting" not in editor.see()
    editor.owner.call("DELETE", "connections/SPOTIFY")
    page = editor.see()
    assert "Disconnected Spotify" in page
    assert "The account was disconnected. Connect Spotify again, and it goes on." in page


def test_what_a_connection_needs_is_said_in_words(editor, ada, configure):
    configure(YOUTUBE_CLIENT_ID="", SPOTIFY_CLIENT_ID="", YOUTUBE_API_KEY="")
    page = editor.see()
    assert "until YOUTUBE_CLIENT_ID and YOUTUBE_CLIENT_SECRET are set" in page
    assert "until SPOTIFY_CLIENT_ID is set" in page
    assert "https://news.example.org/admin/following/callback" in page
    assert "docs/following.md" in page
    assert "need no account: paste a link" in page
    page = ada.see()
    assert "YouTube is not set up on this site" in page
    assert "CLIENT_ID" not in page
    assert "is not set up" in ada.see("/connect")
    assert "docs/following.md" in editor.see("/connect?provider=SPOTIFY")


def test_members_are_offered_youtube_only_and_feeds(ada, editor):
    assert "Spotify lets only a few people connect" in ada.see()
    assert "connect?provider=SPOTIFY" not in ada.get().text
    assert "connect?provider=SPOTIFY" in editor.get().text


def test_the_page_that_connects_has_what_its_script_needs(who):
    page = who.get("/connect?provider=YOUTUBE")
    found = {
        name: unescape(re.search(rf"data-{name}=([\"'])(.*?)\1", page.text)[2])
        for name in ("connect", "api", "authorize", "parameters", "redirect", "here")
    }
    assert found["connect"] == "YOUTUBE"
    assert found["api"] == who.owner.prefix
    assert found["redirect"] == connections.redirect_uri(who.id) == f"{HERE}{who.home}/callback"
    assert found["here"] == f"{HERE}{who.home}/connect?provider=YOUTUBE"
    assert '"code_challenge_method": "S256"' in found["parameters"]
    assert "secret" not in page.text.lower().replace("client_secret", "")
    assert "Connecting an account needs JavaScript" in page.text
    assert who.get("/connect?provider=RSS").status == 404


def test_locally_everything_about_connecting_is_at_one_address(editor, configure):
    configure(SITE_URL="http://localhost:8000", DISABLE_AUTH="true")
    page = editor.get("/connect?provider=YOUTUBE").text
    assert 'data-redirect="http://127.0.0.1:8000/admin/following/callback"' in page
    assert 'data-here="http://127.0.0.1:8000/admin/following/connect?provider=YOUTUBE"' in page


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("access_denied", "Access was declined, so nothing was connected."),
        ("admin_policy_enforced", "does not allow it to be connected"),
        ("<b>greetings</b>", "gave no reason we know"),
    ],
)
def test_what_the_provider_refuses_is_said_in_our_words(who, error, said):
    page = who.get(f"/callback?error={error}&error_description=Pay+here&state=x")
    assert page.status == 200
    assert said in words(page)
    assert "greetings" not in page.text
    assert "Pay here" not in page.text


def test_the_callback_repeats_and_keeps_nothing_it_was_sent(who):
    page = who.get("/callback?code=4%2Fcode&state=stated")
    assert page.headers["Cache-Control"] == "no-store"
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert "4/code" not in page.text
    assert "stated" not in page.text
    assert "Connecting…" in words(page)
    assert "Nothing to do here" in who.see("/callback")


def test_the_callback_is_shown_to_a_member_whose_session_has_ended(ada):
    """Its script keeps the code in the tab: a redirect to the sign-in page would lose it."""
    page = ada.owner.http.get("/following/callback?code=c&state=s")
    assert page.status == 200
    assert 'data-sign-in="/sign-in?next=/following"' in page.text
    assert ada.owner.http.get("/following").headers["Location"] == "/sign-in?next=%2Ffollowing"


def test_disconnecting_is_confirmed_first(who):
    who.owner.connect("YOUTUBE")
    assert "Connected Since" in who.see()
    page = who.see("/disconnect?provider=YOUTUBE")
    assert "is kept and waits" in page
    assert "Bookmarked and archived items keep their title and link" in page
    assert "Disconnected." in who.lead("/disconnect", provider="YOUTUBE")
    assert who.owner.connection("YOUTUBE") is None
    assert "There is nothing to disconnect." in who.see("/disconnect?provider=YOUTUBE")
    assert who.post("/disconnect").status == 404, "which one is never guessed"


def test_a_connection_that_is_not_accepted_says_what_to_do(who):
    who.owner.connect("YOUTUBE")
    notifications.tell_expired(who.id, Provider.YOUTUBE)
    page = who.see()
    assert "YouTube needs to be connected again" in page
    assert re.search(
        r'class="button small" href="[^"]*/following/connect\?provider=YOUTUBE">Connect again', who.get().text
    )


def test_notifications_are_newest_first_and_can_be_marked_as_read(who):
    notifications.tell_expired(who.id, Provider.SPOTIFY)
    notifications.tell_ending(who.id, Provider.YOUTUBE, 3)
    notifications.resolve_ending(who.id, Provider.YOUTUBE)
    notifications.tell_revoked(who.id, Provider.YOUTUBE)
    page = who.get()
    assert [unescape(title) for title in re.findall(r'<h3 id="n\d">(.+?)</h3>', page.text)] == [
        "YouTube has ended the connection",
        "The connection to YouTube ends in 3 days",
        "Spotify needs to be connected again",
    ]
    assert re.findall(r'<li class="(now|over)', page.text) == ["now", "over", "now"]
    id = re.search(r'name="read" value="(\w{32})"', page.text)[1]
    page = who.lead("/act", read=id)
    assert "Marked as read." in page
    assert "· read" in page
    assert who.get().text.count('name="read"') == 1


def test_every_page_says_that_there_are_notifications(who):
    assert "what you follow" not in who.elsewhere()
    notifications.tell_revoked(who.id, Provider.YOUTUBE)
    assert "YouTube has ended the connection. See what to do" in who.elsewhere()
    assert "See what to do" not in who.see(), "the page that shows them does not point to itself"
    notifications.tell_expired(who.id, Provider.SPOTIFY)
    page = who.elsewhere()
    assert "2 notifications about what you follow. See them" in page
    assert "Following 2 unread" in page
    for id in re.findall(r'name="read" value="(\w{32})"', who.get().text):
        who.post("/act", read=id)
    assert "See" not in who.elsewhere()


def test_what_is_resolved_is_no_longer_announced(who):
    notifications.tell_revoked(who.id, Provider.YOUTUBE)
    assert "See what to do" in who.elsewhere()
    notifications.resolve_connection(who.id, Provider.YOUTUBE)
    assert "See what to do" not in who.elsewhere()


def test_notifications_of_one_are_not_shown_to_another(editor, ada):
    notifications.tell_revoked(DESK, Provider.YOUTUBE)
    assert "See what to do" in editor.elsewhere()
    assert "See what to do" not in ada.elsewhere()


def test_notifications_are_read_once_in_half_a_minute(who, monkeypatch, later):
    reads = []
    list_active = notification_store.list_active
    monkeypatch.setattr(notification_store, "list_active", lambda owner: reads.append(owner) or list_active(owner))
    for _ in range(3):
        who.elsewhere()
    assert reads == [who.id]
    later(seconds=31)
    who.elsewhere()
    assert reads == [who.id] * 2


def test_no_page_fails_because_notifications_cannot_be_read(who, monkeypatch, capsys):
    def fail(owner):
        raise Unavailable("The database is not responding")

    monkeypatch.setattr(notification_store, "list_active", fail)
    assert "See" not in who.elsewhere()
    assert '"notifications.unknown"' in capsys.readouterr().out


def test_the_quota_is_shown_to_editors(editor, ada):
    counters.spend(Provider.YOUTUBE, quota.day_of(clock.now()), UNITS, 8_123, 10_000)
    page = editor.see()
    assert "Units 8,123 of 10,000" in page
    assert "Searches 0 of 100" in page
    assert "beyond 90% polls wait for the next day" in page
    assert "quota" not in ada.see().lower()


def test_no_page_shows_a_picture_of_somebody_else(who):
    who.owner.connect("YOUTUBE")
    id = who.follow()
    for path in ("", "/find", "/find?q=compost", f"/{id}"):
        assert "<img" not in who.get(path).text


@pytest.mark.parametrize("character", ["&", "\U00010330"])
def test_no_page_is_too_large_with_the_longest_names(who, character):
    facts = {
        "problem": character * 400,
        "failures": 5,
        "last_polled_at": clock.now(),
        "description": character * 1_000,
    }
    facts |= {"last_published_at": clock.now(), "next_poll_at": clock.now() + timedelta(hours=1)}
    followed = [made.follow(character * 200, who.id, number=number, **facts) for number in range(50)]
    for provider in (Provider.YOUTUBE, Provider.SPOTIFY, Provider.RSS):
        for kind in notifications.Kind:
            notifications._tell(who.id, kind, provider, character * 230, character * 700)
    for path in (
        "",
        "?status=ACTIVE",
        f"/{followed[0].id.replace('-', '')}",
        f"/{followed[0].id.replace('-', '')}/unfollow",
    ):
        page = who.get(path)
        assert (page.status, len(page.body) <= LARGEST) == (200, True), (path, len(page.body))
    page = who.post(url=character * 20_000)
    assert (page.status, len(page.body) <= LARGEST) == (400, True), len(page.body)


def test_an_editor_who_ends_something_is_in_the_audit_log(editor, capsys):
    id = editor.follow()
    editor.owner.connect("YOUTUBE")
    editor.post(f"/{id}/unfollow")
    editor.post("/disconnect", provider="YOUTUBE")
    lines = [line for line in capsys.readouterr().out.splitlines() if '"audit"' in line]
    assert ['"follow.end"' in lines[0], '"connection.end"' in lines[1]] == [True, True]


def test_a_creator_that_was_forgotten_is_shown_by_its_id(editor, monkeypatch):
    follow = made.follow("A feed")
    monkeypatch.setattr(creators, "find_many", lambda ids: {})
    monkeypatch.setattr(creators, "find", lambda id: None)
    for path in ("", f"/{follow.id.replace('-', '')}"):
        assert "https://blog.example.org/0.xml" in editor.see(path)
