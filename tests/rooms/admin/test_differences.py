"""What has changed between two texts, shown within what a page has room for and a moment allows."""

import random
import time

import pytest

from chalicelib.admin.differences import ADDED, GAP, REMOVED, SAME, compare


def lines(before: str, after: str) -> list[tuple[str, str]]:
    return [(line.kind, "".join(text for _, text in line.parts)) for line in compare(before, after).lines]


def test_equal_texts_have_none():
    assert lines("", "") == lines("a\nb", "a\nb") == lines("a\n", "a") == []


def test_lines_are_added_and_removed_between_those_that_stay():
    assert lines("a\nb\nc", "a\nc") == [(SAME, "a"), (REMOVED, "b"), (SAME, "c")]
    assert lines("", "a\nb") == [(ADDED, "a"), (ADDED, "b")]
    assert lines("a\nb", "") == [(REMOVED, "a"), (REMOVED, "b")]


def test_of_a_line_that_is_mostly_the_same_only_words_change():
    [line] = compare("The quick brown fox jumps", "The quick red fox jumps far").lines
    assert line.parts == (
        (SAME, "The quick"),
        (REMOVED, " brown"),
        (ADDED, " red"),
        (SAME, " fox jumps"),
        (ADDED, " far"),
    )
    assert lines("one two three", "four five six") == [(REMOVED, "one two three"), (ADDED, "four five six")]


def test_what_is_far_from_a_change_is_left_out():
    before = [str(number) for number in range(30)]
    after = [*before[:10], "new", *before[10:20], *before[21:]]
    assert lines("\n".join(before), "\n".join(after)) == [
        (GAP, ""),
        (SAME, "8"),
        (SAME, "9"),
        (ADDED, "new"),
        (SAME, "10"),
        (SAME, "11"),
        (GAP, ""),
        (SAME, "18"),
        (SAME, "19"),
        (REMOVED, "20"),
        (SAME, "21"),
        (SAME, "22"),
    ]


noise = random.Random(17)


def few_words(count: int, each: int) -> str:
    return "\n".join(" ".join(noise.choice("ab") for _ in range(each)) for _ in range(count))


WORST = {
    "blank lines": ("\n" * 250_000, "\n" * 249_000 + "x"),
    "two lines in turns": ("a\nb\n" * 125_000, "b\na\n" * 125_000),
    "one line": ("x" * 500_000, "y" * 500_000),
    "one line of words": ("x y " * 125_000, "y x z " * 83_000),
    "ampersands": ("&\n" * 250_000, "&&\n" * 160_000),
    "few words again and again": (few_words(300, 240), few_words(300, 240)),
    "long lines": (few_words(20, 12_000), few_words(20, 12_000)),
}


@pytest.mark.parametrize("case", WORST)
def test_the_worst_texts_fit_on_a_page_and_take_a_moment(case):
    began = time.process_time()
    found = compare(*WORST[case])
    assert time.process_time() - began < 3
    assert sum(line.size for line in found.lines) <= 12_000
    assert len(found.lines) <= 80
    assert found.lines
