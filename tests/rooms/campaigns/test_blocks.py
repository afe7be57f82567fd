"""Blocks are read from whatever somebody typed, and come back from what they are written as."""

import html
import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from chalicelib.campaigns.content import blocks, body
from chalicelib.campaigns.content.blocks import Block, Divider, Heading, Image, Item, Text
from chalicelib.campaigns.content.marks import without_invisible
from chalicelib.campaigns.content.placeholders import Placeholders
from chalicelib.campaigns.model import Format

WHOLE = """\
{{greeting}}, this was November.

Two paragraphs
of text.

## To watch

:::item
title: Who is eating the buds?
link: https://www.youtube.com/watch?v=EXj9v5Qp6a8
source: The Hedge Birds
kind: video
duration: 721
picture: https://news.example.org/media/3f2a.jpg
alt: A bullfinch on a twig
entry: 0be54d1e1e1da6aa0bbd04d373dff869
excerpt: One hedge, one feeder,
  one microphone.
note: The *best* ten minutes
  of November.

  - Really.
:::

---

![A hedge](https://news.example.org/media/77.jpg)
"""
VIDEO = Item(
    title="Who is eating the buds?",
    link="https://www.youtube.com/watch?v=EXj9v5Qp6a8",
    source="The Hedge Birds",
    kind="video",
    duration=721,
    picture="https://news.example.org/media/3f2a.jpg",
    alt="A bullfinch on a twig",
    entry="0be54d1e1e1da6aa0bbd04d373dff869",
    excerpt="One hedge, one feeder, one microphone.",
    note="The *best* ten minutes\nof November.\n\n- Really.",
)
BLOCKS = (
    Text("{{greeting}}, this was November.\n\nTwo paragraphs\nof text."),
    Heading("To watch"),
    VIDEO,
    Divider(),
    Image("https://news.example.org/media/77.jpg", "A hedge"),
)

visible = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"))
lines = st.text(visible, max_size=40).map(lambda text: " ".join(text.split()))
notes = st.lists(st.text(visible, max_size=20).map(lambda line: line if line.strip() else ""), max_size=5).map(
    lambda given: "\n".join(given).strip()
)
items = st.builds(
    Item,
    title=lines,
    link=lines,
    source=lines,
    kind=lines,
    duration=st.none() | st.integers(0, 999_999),
    picture=lines,
    alt=lines,
    entry=st.just("") | st.text("0123456789abcdef", min_size=32, max_size=32),
    excerpt=lines,
    note=notes,
)
headings = st.builds(Heading, lines.filter(bool), st.integers(1, 6))
images = st.builds(Image, st.text("abc:/.%?&=é", min_size=1), lines)
paragraphs = st.text(st.characters(categories=("L", "N")), min_size=1).map(Text)
pieces = st.sampled_from(
    [":::item", ":::", ":::item\n", "title: x\n", "title: y\n", "link:z\n", "note: a\n", "  b\n", "\tc\n", " d\n",
     "\n", "\r\n", "\r", "```\n", "~~~\n", "````", "duration: x\n", "duration: 5\n", "entry: 1\n", "odd: one\n",
     "## h\n", "---\n", "***\n", "![a](b)\n", "![\\[](b)\n", "text", "    code\n", "\u2028", ": \n", "::: item \n"]
)  # fmt: skip
typed = st.lists(pieces | st.text(max_size=8), max_size=30).map("".join)


def closed(found: tuple[Block, ...]) -> tuple[Block, ...]:
    return tuple(replace(block, closed=True) if isinstance(block, Item) else block for block in found)


def test_a_body_is_read_as_its_blocks_and_written_back():
    assert blocks.parse(WHOLE) == BLOCKS
    assert blocks.parse(blocks.write(BLOCKS)) == BLOCKS
    assert blocks.items(WHOLE) == (VIDEO,)
    assert VIDEO.problems == []


@given(st.lists(items | headings | images | paragraphs | st.just(Divider()), max_size=8))
@example([Item(note="0 \n0")])
@example([Item(note="A line that breaks  \nhere")])
@example([Image("a", "\\{{")])
@example([Image("a", "\\\\{{ \\[ \\")])
def test_blocks_come_back_from_what_they_are_written_as(given):
    apart = [block for last, block in zip([None, *given], given, strict=False) if {type(last), type(block)} != {Text}]
    assert blocks.parse(blocks.write(apart)) == tuple(apart)


@settings(max_examples=500)
@given(typed)
def test_whatever_was_typed_stays_the_same_when_it_is_written_again(body):
    found = blocks.parse(body)
    assert blocks.parse(blocks.write(found)) == closed(found)


@given(st.lists(pieces, max_size=30).map("".join))
def test_nothing_that_was_typed_is_lost(body):
    written = blocks.write(blocks.parse(body))
    for word in ("x", "y", "z", "a", "b", "c", "d", "odd: one", "text", "h"):
        assert written.count(word) >= body.count(word)


@given(st.text(st.characters(categories=("P", "S", "L", "N", "Zs")), max_size=40))
def test_any_line_can_be_an_item_that_others_compose(text):
    line = " ".join(text.split())
    (found,) = blocks.parse(blocks.write([Item(title=f"  {text}\n{text}", link="https://x.example/", note=text)]))
    assert found == Item(title=" ".join([line, line]).strip(), link="https://x.example/", note=text.strip())


def test_line_ends_of_windows_are_line_ends():
    assert blocks.parse(WHOLE.replace("\n", "\r\n")) == BLOCKS


@pytest.mark.parametrize("fence", ["```", "~~~", "  ````", "```text"])
def test_an_item_in_a_code_block_is_code(fence):
    body = (
        f"Write:\n\n{fence}\n:::item\ntitle: x\n:::\n\n## no heading\n{fence.strip().rstrip('tex')}\n\n## A heading"
    )
    text, heading = blocks.parse(body)
    assert isinstance(text, Text)
    assert text.text.endswith(fence.strip().rstrip("tex"))
    assert heading == Heading("A heading")


def test_a_code_block_that_is_left_open_is_closed_before_the_next_block():
    assert blocks.parse("```\n:::item\n:::") == (Text("```\n:::item\n:::"),)
    found = blocks.parse(blocks.write([Text("```\ncode"), VIDEO]))
    assert found == (Text("```\ncode\n```"), VIDEO)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (":::item\ntitle: x\nText goes on.", (Item("x", closed=False), Text("Text goes on."))),
        (":::item\ntitle: x\n:::item\nlink: y\n:::", (Item("x", closed=False), Item(link="y"))),
        (":::item\ntitle: x", (Item("x", closed=False),)),
        (":::item", (Item(closed=False),)),
        (":::item\n:::", (Item(),)),
        (":::item\n  title: x\n:::", (Item("x"),)),
        (":::item\n:::\n:::", (Item(), Text(":::"))),
        ("a\n:::item\n:::\nb", (Text("a"), Item(), Text("b"))),
        ("- a\n  :::item\n  :::", (Text("- a\n  :::item\n  :::"),)),
        (":::items\n:::", (Text(":::items\n:::"),)),
    ],
)
def test_an_item_that_is_not_complete_swallows_nothing(body, expected):
    assert blocks.parse(body) == expected


def test_lines_nobody_can_read_are_kept():
    body = ":::item\ntitle: x\ntitle: second\nduration: soon\nentry: none\nodd: one\n  goes on\nsource:\n:::\n"
    (item,) = blocks.items(body)
    assert item == Item("x", rest="title: second\nduration: soon\nentry: none\nodd: one\n  goes on")
    assert blocks.items(blocks.write([item])) == (item,)


@pytest.mark.parametrize(
    ("item", "problems"),
    [
        (Item("x", "https://a.example/"), []),
        (Item(), ["no title", "no link"]),
        (Item("x", "javascript:alert(1)"), ["a link that is no web address"]),
        (Item("x" * 301, "https://a.example/"), ["a title of more than 300 characters"]),
        (Item("x", "https://a.example/", note="n" * 2001), ["a note of more than 2,000 characters"]),
        (Item("x", "https://a.example/", rest="odd: one"), ["lines that cannot be read"]),
        (Item("x", "https://a.example/", closed=False), ["no line “:::” at its end"]),
    ],
)
def test_what_is_wrong_with_an_item_can_be_told(item, problems):
    assert item.problems == problems


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Title\n---", (Text("Title\n---"),)),
        ("# a\nb", (Text("# a\nb"),)),
        ("#hashtag", (Text("#hashtag"),)),
        ("***", (Divider(),)),
        ("![a \\] b](https://x.example/y)", (Image("https://x.example/y", "a ] b"),)),
        ("![a](b) and text", (Text("![a](b) and text"),)),
        ("    indented code\n\n", (Text("    indented code"),)),
        ("", ()),
        ("\n \n", ()),
    ],
)
def test_only_what_stands_alone_is_a_block_of_its_own(body, expected):
    assert blocks.parse(body) == expected


def test_what_cannot_stand_in_an_address_or_a_line_is_written_so_that_it_can():
    written = blocks.write([Image("https://x.example/a b(c)", "two\nlines"), Heading("two\nlines"), Heading(" ")])
    assert written == "![two lines](https://x.example/a%20b%28c%29)\n\n## two lines\n"


markdown = st.sampled_from([*"\\`*_[]()<>&|~#.-+=:!1a \"'{}", "https://x.example", ":::item", "&amp;", "<b>", "---"])


@given(st.lists(markdown, max_size=12).map("".join) | st.text(visible, max_size=20))
def test_a_literal_line_is_shown_as_it_is(text):
    line = " ".join(without_invisible(text).split())
    read = body.read(Format.MARKDOWN, f"x\n\n{blocks.literal(line)}\n\ny", Placeholders())
    shown = html.unescape(re.sub(r"<p>|</p>|\n", "", read.html))
    assert shown == f"x{line}y"


@pytest.mark.parametrize(
    "piece",
    [":", ":::", ":::item\n", ":::item\ntitle: ", "```\n", "`", "```a`", "![", "![a](", "\\", "# ", "---\n", "\n",
     "\r\n", "  x\n", " ", "a:\n", "title: x\n", "~~~ :::item\n"],
)  # fmt: skip
def test_hostile_bodies_take_no_time(piece):
    for start in ("", ":::item\n", ":::item\nnote: ", "```\n"):
        body = start + piece * (500_000 // len(piece))
        began = time.process_time()
        blocks.parse(blocks.write(blocks.parse(body)))
        assert time.process_time() - began < 4


def test_a_huge_value_is_read_whole():
    (item,) = blocks.items(f":::item\ntitle: {'x' * 400_000}\nlink: https://a.example/\n:::")
    assert len(item.title) == 400_000
