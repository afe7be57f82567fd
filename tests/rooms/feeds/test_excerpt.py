"""Text of an entry, taken from its HTML."""

import pytest

from chalicelib.feeds.reading import excerpt
from tests.rooms.feeds.parsing import parse


def test_the_excerpt_is_cut_at_a_word():
    assert excerpt.truncate("one two three", 13) == "one two three"
    assert excerpt.truncate("one two three", 12) == "one two…"
    assert excerpt.truncate("one two, three", 9) == "one two…"
    assert excerpt.truncate("endless" * 10, 10) == "endlessen…"


def test_text_of_neighbouring_blocks_does_not_run_together():
    assert excerpt.plain_text("<h2>Title</h2><p>a<br>b</p><ul><li>c<li>d</ul>in<b>line</b>") == "Title a b c d inline"


@pytest.mark.parametrize("name", ["noscript", "iframe", "textarea", "noembed", "noframes", "xmp", "script", "style"])
def test_what_stands_in_for_something_else_is_not_part_of_the_text(name):
    markup = f"<p>Before</p><{name}>Enable <b>JavaScript</b> &lt;img src=x&gt;</{name}><p>after</p>"
    assert excerpt.plain_text(markup) == "Before after"


def test_no_control_character_is_left_on_a_line():
    assert excerpt.one_line("a\x00b\x1bc\x7fd\x85e\x96f\x81g\u2028h\xa0i\n") == "a b c d…e–fg h i"


def test_a_space_that_does_not_break_is_a_space():
    assert excerpt.plain_text("a&nbsp;b&#160;c\xa0d") == "a b c d"
    text = '<entry><id>1</id><summary type="text">Tea &amp;nbsp;&amp;amp; milk</summary></entry>'
    feed = parse(f'<feed xmlns="http://www.w3.org/2005/Atom">{text}</feed>')
    assert excerpt.plain_text(feed.entries[0].html) == "Tea &amp; milk"
    item = '{"id": "1", "summary": "Tea&nbsp;time"}'
    feed = parse('{"version": "https://jsonfeed.org/version/1.1", "items": [' + item + "]}")
    assert excerpt.plain_text(feed.entries[0].html) == "Tea time"


def test_deeply_nested_html_is_no_trouble():
    assert excerpt.plain_text("<div>" * 100_000 + "deep") == ""
    assert excerpt.plain_text("<b>" * 3_000 + "deep") == "deep"


def test_one_line_has_no_characters_that_are_none():
    assert excerpt.one_line("{\ufdd0{a\ufdef\ufffe\uffff\U0001fffe\U0010ffff}}\ufdcf\ufdf0") == "{{a}}\ufdcf\ufdf0"
