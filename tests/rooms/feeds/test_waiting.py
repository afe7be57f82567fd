"""Posts that wait: what leaves when, whatever the settings become meanwhile."""

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from chalicelib.feeds import waiting
from chalicelib.feeds.plan import Policy
from chalicelib.feeds.reading.model import Entry
from chalicelib.feeds.waiting import Waiting

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
DAILY = Policy("daily", "09:00", "UTC")


def minutes(count: float) -> timedelta:
    return timedelta(minutes=count)


def entry(name: str, days_ago: float | None = 0) -> Entry:
    return Entry(name, name, published=None if days_ago is None else NOW - timedelta(days=days_ago))


def held(policy: Policy, *names: str, since: datetime = NOW) -> Waiting:
    empty = waiting.under(Waiting(), policy, since)
    return waiting.add(empty, "https://blog.example.org/", "batch", [entry(name) for name in names], [], since)


def titles(taken: waiting.Taken | None) -> list[str]:
    return [kept.entry.title for kept in taken.entries] if taken else []


def test_without_hold_and_digest_a_post_leaves_at_once():
    taken, rest = waiting.take(held(Policy(), "A"), NOW)
    assert titles(taken) == ["A"]
    assert rest.entries == ()


def test_each_post_has_its_own_hold():
    both = waiting.add(held(Policy(hold=30), "A"), "u", "later", [entry("B")], [], NOW + minutes(20))
    assert waiting.take(both, NOW + minutes(29)) == (None, both)
    taken, rest = waiting.take(both, NOW + minutes(30))
    assert titles(taken) == ["A"]
    assert titles(waiting.take(rest, NOW + minutes(50))[0]) == ["B"]


def test_a_digest_takes_everything_at_its_moment_and_plans_the_next():
    first = held(DAILY, "A")
    assert first.digest_due == datetime(2026, 11, 19, 9, tzinfo=UTC)
    late = waiting.add(first, "u", "later", [entry("B")], [], NOW + minutes(60 * 21 + 3))
    taken, rest = waiting.take(late, NOW + minutes(60 * 21 + 3))
    assert sorted(titles(taken)) == ["A", "B"]
    assert rest.digest_due == datetime(2026, 11, 20, 9, tzinfo=UTC)


def test_a_digest_without_posts_moves_on():
    empty = waiting.under(Waiting(), DAILY, NOW)
    taken, rest = waiting.take(empty, NOW + minutes(60 * 21))
    assert titles(taken) == []
    assert rest.digest_due == datetime(2026, 11, 20, 9, tzinfo=UTC)


def test_a_digest_that_was_missed_with_nothing_to_send_is_not_made_up_for():
    empty = waiting.under(Waiting(), DAILY, NOW)
    after = waiting.under(empty, DAILY, NOW + timedelta(days=2))
    assert after.digest_due == datetime(2026, 11, 21, 9, tzinfo=UTC)
    full = held(DAILY, "A")
    assert waiting.under(full, DAILY, NOW + timedelta(days=2)).digest_due == full.digest_due


def test_more_than_six_hours_late_is_late():
    taken, _ = waiting.take(held(Policy(hold=30), "A"), NOW + minutes(30 + 360))
    assert taken
    assert not taken.is_late(NOW + minutes(30 + 360))
    assert taken.is_late(NOW + minutes(30 + 361))


def test_switching_the_digest_off_sends_what_was_collected():
    after = waiting.under(held(DAILY, "A", "B"), Policy(), NOW + timedelta(hours=12))
    taken, rest = waiting.take(after, NOW + timedelta(hours=12))
    assert sorted(titles(taken)) == ["A", "B"]
    assert not taken.is_late(NOW + timedelta(hours=12))
    assert (rest.entries, rest.digest_due) == ((), None)


def test_switching_the_digest_off_with_a_hold_keeps_the_hold():
    after = waiting.under(held(DAILY, "A"), Policy(hold=60), NOW + minutes(10))
    assert not waiting.is_due(after, NOW + minutes(59))
    assert waiting.is_due(after, NOW + minutes(60))


def test_switching_the_digest_on_collects_what_is_held():
    after = waiting.under(held(Policy(hold=60), "A"), DAILY, NOW + minutes(10))
    assert not waiting.is_due(after, NOW + minutes(120))
    assert waiting.is_due(after, datetime(2026, 11, 19, 9, tzinfo=UTC))


def test_a_moved_digest_is_planned_from_now_on():
    after = waiting.under(held(DAILY, "A"), Policy("daily", "11:00", "UTC"), NOW + minutes(5))
    assert after.digest_due == datetime(2026, 11, 19, 11, tzinfo=UTC)
    zoned = waiting.under(after, Policy("daily", "11:00", "Europe/Berlin"), NOW + minutes(5))
    assert zoned.digest_due == datetime(2026, 11, 19, 10, tzinfo=UTC)


def test_ending_the_hold_makes_a_post_due_but_not_late():
    now = NOW + timedelta(hours=20)
    after = waiting.under(held(Policy(hold=1440), "A"), Policy(), now)
    taken, _ = waiting.take(after, now)
    assert taken
    assert not taken.is_late(now)


def test_what_somebody_wants_sent_leaves_under_any_policy():
    hurried = waiting.hurry(held(Policy(hold=60), "A"), {"batch"}, NOW + minutes(1))
    assert waiting.is_due(hurried, NOW + minutes(1))
    assert waiting.is_due(waiting.under(hurried, Policy(hold=1440), NOW + minutes(2)), NOW + minutes(2))
    assert waiting.is_due(waiting.under(hurried, DAILY, NOW + minutes(2)), NOW + minutes(2))


def test_one_post_or_a_batch_can_be_cancelled():
    both = held(Policy(hold=60), "A", "B")
    name = waiting.name_of(entry("A"))
    assert [kept.entry.title for kept in waiting.without(both, {name}).entries] == ["B"]
    assert waiting.without(both, {"batch"}).entries == ()
    assert waiting.without(both, {"other"}) == both


def test_of_more_than_a_mail_shows_the_latest_are_kept_and_the_others_counted():
    empty = waiting.under(Waiting(), DAILY, NOW)
    full = waiting.add(empty, "u", "b", [entry(f"{day}", day / 10) for day in range(60)], [], NOW)
    assert [kept.entry.title for kept in full.entries[:2]] == ["0", "1"]
    assert (len(full.entries), full.more) == (waiting.MOST, 10)
    taken, rest = waiting.take(full, NOW + timedelta(days=1))
    assert (len(taken.entries), taken.more, rest.more) == (waiting.MOST, 10, 0)


def test_cancelling_all_that_can_be_named_leaves_nothing_behind():
    empty = waiting.under(Waiting(), Policy(hold=60), NOW)
    full = waiting.add(empty, "u", "b", [entry(f"{day}", day / 10) for day in range(60)], [], NOW)
    assert waiting.without(full, {full.entries[0].name}).more == 10
    assert waiting.without(full, {"b"}).more == 0


def test_a_post_that_waits_already_is_not_added_again():
    once = held(Policy(hold=60), "A")
    assert waiting.add(once, "u", "again", [entry("A")], [], NOW + minutes(1)) == once


def is_taken_down(held: Waiting, *present: Entry) -> bool:
    (kept,) = waiting.refresh(held, present).entries
    return kept.missing


def test_a_post_is_taken_down_if_an_older_one_is_still_there():
    once = held(DAILY, "A")
    assert is_taken_down(once, entry("Old", 3))
    assert not is_taken_down(once, entry("New", -1))
    assert not is_taken_down(once)
    assert not is_taken_down(once, entry("No date", None))


def test_without_dates_older_is_what_was_there_before():
    empty = waiting.under(Waiting(), DAILY, NOW)
    once = waiting.add(empty, "u", "b", [entry("A", None)], [entry("Old", None)], NOW)
    assert is_taken_down(once, entry("Old", None))
    assert not is_taken_down(once, entry("Newer", None))


def test_a_post_that_was_seen_to_be_taken_down_is_so_until_it_returns():
    """Later the older posts may have left the feed, too."""
    gone = waiting.refresh(held(DAILY, "A"), [entry("Old", 3)])
    assert is_taken_down(gone, entry("New", -1))
    assert not is_taken_down(gone, entry("A"))


def test_what_is_kept_follows_the_feed_and_an_unchanged_feed_changes_nothing():
    once = held(DAILY, "A")
    assert waiting.refresh(once, [entry("A")]) == once
    corrected = replace(entry("A"), title="B", html="<p>Corrected.</p>")
    (kept,) = waiting.refresh(once, [corrected]).entries
    assert (kept.entry.title, kept.entry.html, kept.name) == ("B", "Corrected.", once.entries[0].name)
