"""What following costs. Requests and units of polls, of fan-out to many followers, of a sweep and of a page of the
inbox are those of an exact DynamoDB, with a small YouTube on loopback. The page is `GET /admin/api/inbox?limit=50`;
every tenth item is used in two campaigns, and on the second page another tenth are sightings with a photo. The
quota of a week is simulated for a
thousand channels of the usual mix, with a clock of its own and the rules that decide when a channel is polled; one
poll in a hundred fails. What a poll takes from the quota is what it took here."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from bench import emulated, exact
from bench.table import Row, at_most, growth

_FOLLOWERS = (1, 10, 1_000)
_CREATORS = (10, 100_000)
_DUE = 10
_ENTRIES = (100, 100_000)
_PAGE = "/admin/api/inbox?limit=50"
_USED, _SEEN = "some used in campaigns", "also some sightings with photos"
_EVERY = 10  # one of so many is used in campaigns, and on the second page another is a sighting
_SIGHTINGS = range(51, 100, _EVERY)
# How many of a thousand channels publish how often, in days; those in the last line have not for long.
_MIX = ((50, 1), (250, 7), (400, 30), (300, 0))
_DAYS = 7
_SWEEP = timedelta(minutes=15)
_FAILING = 0.01  # of the polls


def rows() -> list[Row]:
    with exact.running() as url:
        place = {"AWS_ENDPOINT_URL_DYNAMODB": url} if url else {}
        found = emulated.run("bench.following", DISABLE_AUTH="true", **place)
    return [*_polls(found), *_sweeps(found), _quota(found), *_pages(found)]


def _polls(found: dict[str, Any]) -> list[Row]:
    quiet, news = ({int(size): cost for size, cost in found[kind].items()} for kind in ("quiet", "news"))
    shares = {size: (news[size]["write units"] - quiet[size]["write units"]) / size for size in _FOLLOWERS}
    most = _FOLLOWERS[-1]
    return [
        Row("poll without news", "", shown(quiet[1])),
        growth("poll without news: write units", {size: cost["write units"] for size, cost in quiet.items()}),
        Row("poll with one new item, one follower", "", shown(news[1])),
        *(Row(f"poll with one new item, {size:,} followers", "", shown(news[size])) for size in _FOLLOWERS[1:]),
        at_most("fan-out of an item: write units a follower", shares[most], 6, detail=f"with {most:,} followers"),
        at_most("ingest of an item for the desk: write units", found["ingest"]["write units"], 12),
    ]


def _sweeps(found: dict[str, Any]) -> list[Row]:
    costs = {int(size): cost for size, cost in found["sweep"].items()}
    return [
        growth(f"sweep with {_DUE} creators due: {what}", {size: cost[what] for size, cost in costs.items()})
        for what in ("requests", "read units")
    ]


def _pages(found: dict[str, Any]) -> list[Row]:
    return [
        growth(f"inbox, page of 50, {kind}: {what}", {int(size): cost[what] for size, cost in costs.items()})
        for kind, costs in found["page"].items()
        for what in ("requests", "read units")
    ]


def _quota(found: dict[str, Any]) -> Row:
    days = simulate(found["news"]["1"]["quota"], found["quiet"]["1"]["quota"])
    most, average = max(days.values()), sum(days.values()) / len(days)
    measured = f"{most:,} units (the most in {len(days)} days, {average:,.0f} on average)"
    return Row("YouTube quota of a day, 1,000 channels", "≤ 6,000 units", measured, most <= 6_000)


def shown(cost: dict[str, float]) -> str:
    units = ", ".join(f"{cost[what]:,.0f} {what}" for what in ("read units", "write units") if cost[what])
    return f"{cost['requests']:.0f} requests, {units}, {cost['quota']:.0f} of the quota"


def simulate(with_news: int, without: int, days: int = _DAYS) -> Counter[str]:
    """Units by Pacific day. All are due at the beginning, which is the worst way to begin."""
    from chalicelib.following import quota

    chance, spent = random.Random(7), Counter[str]()
    begin = datetime(2026, 11, 2, 8, tzinfo=UTC)
    channels = [_Channel(chance, begin, every) for count, every in _MIX for _ in range(count)]
    random.seed(7)  # the jitter
    for sweep in range(days * int(timedelta(days=1) / _SWEEP)):
        now = begin + sweep * _SWEEP
        spent[quota.day_of(now)] += sum(channel.poll(now, with_news, without) for channel in channels)
    return spent


class _Channel:
    """As a poll and its end treat it, without a database."""

    def __init__(self, chance: random.Random, begin: datetime, every: int) -> None:
        from chalicelib.following import resolving
        from chalicelib.following.providers.contract import Channel
        from chalicelib.inbox.model import Provider

        age, period = chance.random(), timedelta(days=every or 90)
        last = begin + timedelta(days=_DAYS) if every else begin - timedelta(days=31)
        first = begin - timedelta(days=90) + age * period
        self.published = [first + number * period for number in range(100) if first + number * period <= last]
        self.creator = resolving.new_creator(Provider.YOUTUBE, Channel(f"{age}", "A channel"))
        self._refreshed_at = begin - age * timedelta(days=25)
        self._due, self._seen, self._failures, self._chance = begin, begin, 0, chance

    def poll(self, now: datetime, with_news: int, without: int) -> int:
        from msgspec.structs import replace

        from chalicelib.following import model, settling
        from chalicelib.following.providers.contract import Page

        if now < self._due:
            return 0
        if self._chance.random() < _FAILING:
            self._failures += 1
            self._due = model.next_attempt(self._failures, now)
            return without
        dates = [moment for moment in self.published if moment <= now][-50:]
        has_news = any(moment > self._seen for moment in dates)
        interval = settling.choose_interval(self.creator, Page(), dates, now)
        self.creator = replace(self.creator, interval_seconds=interval)
        self._due, self._seen, self._failures = model.next_poll(self.creator, now), now, 0
        return (with_news if has_news else without) + self._refresh(now)

    def _refresh(self, now: datetime) -> int:
        """What is told about the channel itself, now and then."""
        from chalicelib.following import asking

        if now < self._refreshed_at + asking.REFRESH_AFTER:
            return 0
        self._refreshed_at = now
        return 1


def _measure() -> dict[str, Any]:
    import os

    from local.providers import credentials
    from local.providers.main import Providers

    providers = Providers().start()
    os.environ |= {"YOUTUBE_ORIGIN": providers.youtube, **credentials.YOUTUBE}
    found: dict[str, Any] = measure_polls(providers, _FOLLOWERS)
    found["ingest"] = measure_ingest()
    found["sweep"] = measure_sweeps(_CREATORS, emulated.fill)
    found["page"] = measure_pages(_ENTRIES, emulated.fill)
    providers.stop()
    return found


def measure_polls(providers: Any, sizes: tuple[int, ...]) -> dict[str, Any]:
    """By the number of followers, without news and with one new item."""
    from chalicelib.following import polling, service
    from chalicelib.following.model import Cause
    from chalicelib.inbox.model import DESK, Provider
    from local.providers.catalogue import CHANNELS

    channel = CHANNELS[0].id
    followed, _ = service.follow(DESK, Provider.YOUTUBE, channel)
    id, found = followed.follow.creator_id, {"quiet": dict[str, Any](), "news": dict[str, Any]()}
    poll = lambda: polling.poll(id, Cause.SCHEDULE)  # noqa: E731
    poll()
    for size in sizes:
        fill_followers(id, size)
        found["quiet"][str(size)] = cost(poll, providers)
        providers.publish(channel, f"For {size}")
        found["news"][str(size)] = cost(poll, providers)
        assert poll().result is polling.Result.POLLED
    return found


def measure_ingest() -> dict[str, float]:
    from chalicelib.inbox import service
    from chalicelib.inbox.model import DESK, ContentType, Item, Provider, Recipient

    now = datetime(2026, 11, 17, 12, tzinfo=UTC)
    url = "https://www.youtube.com/watch?v=1"
    item = Item("0" * 32, Provider.YOUTUBE, "1", ContentType.VIDEO, "A title", url, now, excerpt="Words. " * 60)
    return cost(lambda: service.deliver(item, [Recipient(DESK, "1")], now))


def measure_sweeps(sizes: tuple[int, ...], fill: Callable[..., None]) -> dict[str, Any]:
    """Ten are due among the others, which are due next year."""
    from chalicelib.following import jobs

    fill("creators", _creators(0, _DUE, "2026-01-01T00:00:00.000Z"))
    jobs.sweep()
    found, before = {}, _DUE
    for size in sizes:
        fill("creators", _creators(before, size, "2100-01-01T00:00:00.000Z"))
        found[str(size)], before = cost(jobs.sweep), size
    return found


def measure_pages(sizes: tuple[int, ...], fill: Callable[..., None]) -> dict[str, Any]:
    import app
    from local.gateway.gateway import Gateway
    from tests.fixtures.client import Client

    http = Client(Gateway(app.app))
    found: dict[str, Any] = {_USED: {}, _SEEN: {}}
    before = 0
    for size in sizes:
        fill("inbox", _entries(before, size))
        fill("items", _items(before, min(size, sizes[0])))
        if not before:
            fill("media", _photos())
            _use(range(0, 100, _EVERY))
        before, second = size, f"{_PAGE}&cursor={http.get(_PAGE).json['next_cursor']}"
        for kind, page, photos in ((_USED, _PAGE, 0), (_SEEN, second, len(_SIGHTINGS))):
            found[kind][str(size)] = cost(lambda page=page: http.get(page))
            _check(http.get(page).json["items"], photos)
    return found


def _check(items: Sequence[Any], photos: int) -> None:
    """It is measured what is meant to be measured."""
    assert len(items) == 50
    assert sum(len(item["used_in"]) == 2 for item in items) == 50 // _EVERY
    assert sum(item["image_url"] is not None for item in items) == photos


def _use(numbers: Iterable[int]) -> None:
    """In two campaigns, as an editor composes them."""
    from chalicelib.campaigns import service
    from chalicelib.campaigns.content import blocks
    from chalicelib.campaigns.model import Format

    items = [
        blocks.Item(f"Article {number}", f"https://example.org/{number}", entry=_id(number)) for number in numbers
    ]
    for issue in (1, 2):
        service.create(service.Draft(f"Issue {issue}", blocks.write(items), format=Format.MARKDOWN))


def cost(act: Callable[[], Any], providers: Any = None) -> dict[str, float]:
    if providers:
        providers.forget_calls()
    with emulated.Meter() as meter:
        act()
    taken = {what: meter.counts[what] for what in ("requests", "read units", "write units")}
    return taken | {"quota": providers.calls()["units"] if providers else 0}


def fill_followers(creator_id: str, size: int) -> None:
    """Beside the desk, which follows from the beginning."""
    from chalicelib.following.model import Follower, FollowStatus, Options
    from chalicelib.following.stores import followers
    from chalicelib.kernel.aws import tables

    writes = [
        followers.put_write(creator_id, Follower(_id(number), _id(number), FollowStatus.ACTIVE, Options()), None)
        for number in range(1, size)
    ]
    rows: list[Any] = [write.row for write in writes]
    tables.write_all(followers.FollowerRow, put=rows)


def _creators(first: int, until: int, due_at: str) -> Iterator[dict[str, Any]]:
    moment = "2026-01-01T00:00:00.000Z"
    for number in range(first, until):
        yield {
            "id": f"creator {number:07}",
            "part": "creator",
            "provider": "RSS",
            "channel_id": f"https://example.org/{number}.xml",
            "name": "A feed",
            "created_at": moment,
            "refreshed_at": moment,
            "updated_at": moment,
            "next_poll_at": due_at,
            "due": "RSS",
        }


def _entries(first: int, until: int) -> Iterator[dict[str, Any]]:
    """The desk's, the newest first."""
    newest = datetime(2026, 11, 17, tzinfo=UTC)
    for number in range(first, until):
        at = (newest - timedelta(minutes=number)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        yield {
            "owner": "desk",
            "item_id": _id(number),
            "placed": f"{at} {_id(number)}",
            **_kind(number),
            "state": "INBOX",
            "shelf": "desk INBOX",
            "held": _id(number),
            "follow_id": "follow",
        }


def _items(first: int, until: int) -> Iterator[dict[str, Any]]:
    for number in range(first, until):
        yield {
            "id": _id(number),
            **_kind(number),
            "provider_item_id": f"{number}",
            "title": f"Article {number}",
            "canonical_url": f"https://example.org/{number}",
            "refreshed_at": "2026-11-17T00:00:00.000Z",
            "excerpt": "Some words about it. " * 20,
            "version": 1,
        }


def _photos() -> Iterator[dict[str, Any]]:
    for number in _SIGHTINGS:
        yield {"id": f"shown as {_id(number)}", "picture_id": f"photo {number}"}
        yield {"id": f"photo {number}", "owner": "ada", "state": "ready"}


def _kind(number: int) -> dict[str, str]:
    if number in _SIGHTINGS:
        return {"provider": "SIGHTING", "content_type": "SIGHTING"}
    return {"provider": "RSS", "content_type": "ARTICLE"}


def _id(number: int) -> str:
    return f"{number:032x}"


if __name__ == "__main__":
    emulated.main(_measure)
