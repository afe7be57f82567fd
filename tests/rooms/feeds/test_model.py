"""What is new. Most rules are stated for any feed in any order, and hypothesis looks for one that breaks them."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from chalicelib.feeds.model import AHEAD, NEAR, VANISHED, Memory, judge
from chalicelib.feeds.reading.model import Entry, entry_id
from tests.hostile.anything import bounded

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
FLOOD = 10

ages = st.one_of(st.none(), st.integers(min_value=0, max_value=60 * 24 * 40))
entry = st.builds(
    lambda number, age, by_update, title: Entry(
        id=f"https://blog.example.org/{number}",
        title=title,
        **{"updated" if by_update else "published": None if age is None else NOW - timedelta(minutes=age)},
    ),
    st.integers(min_value=0, max_value=60),
    ages,
    st.booleans(),
    st.sampled_from(["a", "b"]),
)
documents = st.lists(entry, max_size=40)


def dated(number: int, hours: float = 0, **more: str) -> Entry:
    return Entry(id=str(number), published=NOW - timedelta(hours=hours), **more)


def remembering(*entries: Entry) -> Memory:
    return judge(entries, None, NOW, FLOOD).memory


def new(entries: list[Entry], memory: Memory | None, now: datetime = NOW) -> list[str]:
    return [entry.id for entry in judge(entries, memory, now, FLOOD).new]


def test_the_id_is_guid_then_link_then_what_it_says():
    assert entry_id("g", "l", "t", "c") == "g"
    assert entry_id("", "l", "t", "c") == "l"
    assert entry_id("", "", "t", "c") != entry_id("", "", "t", "d")


def test_the_first_check_records_everything_and_sends_nothing():
    verdict = judge([dated(1, 5), dated(2), Entry(id="3")], None, NOW, FLOOD)
    assert verdict.first
    assert not verdict.new
    assert verdict.memory.watermark == NOW
    assert len(verdict.memory.fingerprints) == 3


def test_a_later_entry_is_new_and_moves_the_watermark():
    memory = remembering(dated(1, 5))
    verdict = judge([dated(2, 1), dated(1, 5)], memory, NOW, FLOOD)
    assert [entry.id for entry in verdict.new] == ["2"]
    assert verdict.memory.watermark == NOW - timedelta(hours=1)


def test_new_entries_come_latest_first():
    assert new([dated(2, 3), dated(4, 1), dated(3, 2)], remembering(dated(1, 5))) == ["4", "3", "2"]


def test_two_entries_of_the_same_second_are_both_mailed():
    assert new([dated(1, 1), dated(2, 1)], remembering(dated(1, 1))) == ["2"]


def test_a_post_dated_a_little_before_the_last_one_is_new_but_not_one_from_the_archive():
    memory = remembering(dated(1))
    assert new([dated(1), dated(2, 30)], memory) == ["2"]
    assert new([dated(1), dated(3, 24 * 30)], memory) == []


def test_an_updated_entry_is_not_new():
    memory = remembering(dated(1, 5), Entry(id="2", updated=NOW - timedelta(days=9)))
    touched = [dated(1, 0, title="corrected"), Entry(id="2", updated=NOW)]
    assert new(touched, memory) == []


def test_an_undated_entry_counts_from_when_it_was_first_seen():
    memory = remembering(dated(1, 5))
    verdict = judge([dated(1, 5), Entry(id="2")], memory, NOW, FLOOD)
    assert [entry.id for entry in verdict.new] == ["2"]
    assert new([dated(1, 5), Entry(id="2")], verdict.memory) == []


def test_a_future_dated_entry_waits_for_its_time():
    later = dated(2, -3)
    verdict = judge([dated(1, 5), later], remembering(dated(1, 5)), NOW, FLOOD)
    assert not verdict.new
    assert verdict.waiting_until == later.published
    assert verdict.memory.watermark == NOW - timedelta(hours=5)
    assert new([dated(1, 5), later], verdict.memory, NOW + timedelta(hours=3)) == ["2"]


def test_a_clock_a_little_ahead_does_not_hold_a_post_back():
    assert new([dated(2, -0.1)], remembering(dated(1, 5))) == ["2"]


def test_a_site_that_moves_to_https_keeps_its_entries():
    old = Entry(id="http://blog.example.org/1", published=NOW)
    assert new([replace(old, id="https://blog.example.org/1")], remembering(old)) == []


MOVED = [
    "https://blog.example.org/2026/post",
    "http://www.example.org/2026/post/",
    "https://staging.example.net/2026/post/?utm_source=rss&utm_medium=feed",
]


@pytest.mark.parametrize("link", MOVED)
def test_a_post_that_only_got_another_id_is_not_new(link):
    memory = remembering(dated(1, 5, link="https://blog.example.org/2026/post/"), dated(2, 9, link="/other"))
    assert new([dated(7, 5, link=link), dated(2, 9, link="/other")], memory) == []
    assert new([dated(7, 5, link=link)], memory) == []


def test_ids_that_are_all_rewritten_mail_nothing_again():
    before = [dated(number, number, link=f"https://blog.example.org/{number}") for number in range(5)]
    after = [replace(entry, id=f"tag:{entry.id}") for entry in before]
    verdict = judge([*after, dated(9, link="https://blog.example.org/9")], remembering(*before), NOW, FLOOD)
    assert ([entry.id for entry in verdict.new], verdict.flood) == (["9"], False)


def test_another_post_is_new_though_its_page_or_its_date_is_that_of_another():
    home = "https://blog.example.org/"
    memory = remembering(dated(1, 5, link=home + "page"), dated(2, 5, link=home), Entry("3", link=home + "undated"))
    assert new([dated(11, 4, link=home + "page")], memory) == ["11"]
    assert new([dated(11, 5, link=home + "other")], memory) == ["11"]
    assert new([dated(11, 5, link=home + "page#next")], memory) == ["11"], "one page may list many"
    assert new([dated(11, 5, link=home)], memory) == ["11"], "a link to the whole site says nothing"
    assert new([Entry("11", link=home + "undated")], memory) == ["11"]
    assert new([dated(1, 5, link=home + "page"), dated(11, 5, link=home + "page")], memory) == ["11"]


def test_a_feed_as_an_earlier_version_remembered_it_has_nothing_new():
    present = [dated(number, number, link=f"https://blog.example.org/{number}") for number in range(12)]
    memory = Memory(NOW, tuple(entry.fingerprint for entry in present))
    assert new(present, memory) == []


def test_more_than_so_many_at_once_is_a_flood():
    memory = remembering(dated(0, 40))
    many = [dated(number, 1) for number in range(1, 12)]
    assert judge([*many, dated(0, 40)], memory, NOW, 10).flood
    assert not judge([*many[:10], dated(0, 40)], memory, NOW, 10).flood


def test_a_feed_whose_entries_are_all_new_was_rewritten():
    memory = remembering(*(dated(number, 1) for number in range(10)))
    rewritten = [dated(100 + number, 1) for number in range(10)]
    assert judge(rewritten, memory, NOW, 50).flood


def test_a_rewritten_feed_is_a_flood_though_most_of_it_is_too_old_to_be_mailed():
    """A post a day: only those of the last two days pass for new, and they were mailed under their old ids."""
    memory = remembering(*(dated(number, 24 * number) for number in range(20)))
    rewritten = [dated(100 + number, 24 * number) for number in range(20)]
    verdict = judge([*rewritten, dated(7, -48)], memory, NOW, FLOOD)
    assert 0 < len(verdict.new) < 4
    assert verdict.flood
    assert not judge([*rewritten, dated(19, 24 * 19)], memory, NOW, FLOOD).flood, "one is known: it was not rewritten"


def test_a_feed_that_shows_only_its_latest_post_is_no_flood():
    memory = remembering(dated(1, 5))
    verdict = judge([dated(2, 1)], memory, NOW, FLOOD)
    assert len(verdict.new) == 1
    assert not verdict.flood


@bounded(25)
@given(documents, documents)
def test_the_same_document_twice_has_nothing_new(before, after):
    memory = judge(after, remembering(*before), NOW, FLOOD).memory
    assert new(after, memory) == []


def test_of_two_twins_of_one_time_the_published_one_counts():
    twins = [Entry(id="2", updated=NOW), Entry(id="2", published=NOW)]
    for order in (twins, twins[::-1]):
        assert judge(order, remembering(dated(1, 5)), NOW, FLOOD).new == (twins[1],)


@bounded(25)
@given(documents, documents, st.randoms())
def test_the_order_and_repetition_of_entries_change_nothing(before, after, random):
    memory = remembering(*before)
    shuffled = after + random.choices(after, k=len(after)) if after else []
    random.shuffle(shuffled)
    assert judge(after, memory, NOW, FLOOD) == judge(shuffled, memory, NOW, FLOOD)


@bounded(25)
@given(documents, st.data())
def test_entries_that_vanish_and_return_are_not_mailed_again(entries, data):
    memory = remembering(*entries)
    for _ in range(3):
        present = data.draw(st.lists(st.sampled_from(entries), unique=True)) if entries else []
        verdict = judge(present, memory, NOW, FLOOD)
        assert not verdict.new
        memory = verdict.memory
    assert new(entries, memory) == []


@bounded(25)
@given(st.lists(documents, max_size=6))
def test_no_entry_is_ever_mailed_twice(history):
    memory, mailed = remembering(), []
    for document in history:
        verdict = judge(document, memory, NOW, FLOOD)
        mailed += [entry.fingerprint for entry in verdict.new]
        memory = verdict.memory
    assert len(mailed) == len(set(mailed))


@bounded(25)
@given(documents, documents)
def test_the_watermark_never_moves_back_nor_into_the_future(before, after):
    memory = remembering(*before)
    later = judge(after, memory, NOW, FLOOD).memory
    assert memory.watermark <= later.watermark <= NOW + AHEAD


@bounded(25)
@given(documents, st.lists(st.integers(min_value=100, max_value=200), unique=True, min_size=1, max_size=9))
def test_every_post_published_since_is_mailed(before, numbers):
    memory = remembering(*before)
    posts = [dated(number, -0.1) for number in numbers]
    assert sorted(new([*posts, *before], memory)) == sorted(str(number) for number in numbers)


def test_a_feed_that_is_empty_for_a_while_mails_nothing_when_it_returns():
    undated = [Entry(id=str(number)) for number in range(110)]
    assert new(undated, judge([], remembering(*undated), NOW, FLOOD).memory) == []


def test_what_is_remembered_does_not_grow_with_the_years():
    memory, sizes = remembering(*(dated(number, 100) for number in range(20))), []
    for number in range(20, 400):
        now = NOW + timedelta(days=number)
        present = [Entry(id=str(n), published=NOW + timedelta(days=n)) for n in range(number - 19, number + 1)]
        memory = judge(present, memory, now, FLOOD).memory
        sizes.append(len(memory.fingerprints))
    assert max(sizes) == sizes[-1] == 20 + VANISHED


def test_near_is_wider_than_any_time_zone():
    assert timedelta(hours=26) <= NEAR
