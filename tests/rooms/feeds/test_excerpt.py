"""Text and image of an entry, taken from its HTML."""

from chalicelib.feeds.reading import excerpt
from tests.rooms.feeds.parsing import URL


def test_the_excerpt_is_cut_at_a_word():
    assert excerpt.truncate("one two three", 13) == "one two three"
    assert excerpt.truncate("one two three", 12) == "one two…"
    assert excerpt.truncate("one two, three", 9) == "one two…"
    assert excerpt.truncate("endless" * 10, 10) == "endlessen…"


def test_text_of_neighbouring_blocks_does_not_run_together():
    assert excerpt.plain_text("<h2>Title</h2><p>a<br>b</p><ul><li>c<li>d</ul>in<b>line</b>") == "Title a b c d inline"


def test_deeply_nested_html_is_no_trouble():
    assert excerpt.plain_text("<div>" * 100_000 + "deep") == ""
    assert excerpt.plain_text("<b>" * 3_000 + "deep") == "deep"


def test_the_first_image_is_no_pixel_and_no_data():
    markup = (
        '<img src="https://t.example.org/p.gif" width="1" height="1"><img src="data:image/png;base64,AA">'
        "<img alt=x src='/real.jpg?a=1&amp;b=2'>"
    )
    assert excerpt.first_image(markup, URL) == "https://blog.example.org/real.jpg?a=1&b=2"
    assert excerpt.first_image("<p>none</p>", URL) == ""
