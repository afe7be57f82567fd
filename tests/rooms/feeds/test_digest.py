"""What a reader sees of new entries, whatever the feed put into them."""

import re
from datetime import UTC, datetime

from msgspec.structs import replace

from chalicelib.campaigns import service
from chalicelib.campaigns.content import blocks, renderer
from chalicelib.campaigns.content.blocks import Heading, Item, Text
from chalicelib.campaigns.model import Format
from chalicelib.feeds import digest
from chalicelib.feeds.reading.model import Entry
from chalicelib.mail import templates
from chalicelib.mail.message import Message
from tests.rooms.campaigns.rendering import Layout

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def entry(title: str = "A post", html: str = "<p>Hello.</p>", **more: str) -> Entry:
    given = {"id": title, "link": "https://blog.example.org/1"} | more
    return Entry(title=title, html=html, published=NOW, **given)


def mailed(entries: list[Entry]) -> Message:
    mailing = renderer.render(service.preview_detail(digest.draft(entries)))
    return mailing.message("reader@example.org", "Ana", "token")


def test_one_entry_is_the_subject_and_its_excerpt_the_preview():
    draft = digest.draft([entry()])
    assert (draft.subject, draft.preheader) == ("A post", "Hello.")
    assert draft.format is Format.MARKDOWN
    assert blocks.parse(draft.body) == (
        Heading("New on The Daily Test", 1),
        Text("{{greeting}}, here is a new post from The Daily Test."),
        Item("A post", "https://blog.example.org/1", excerpt="Hello."),
    )


def test_several_entries_are_one_mail_named_after_the_first():
    draft = digest.draft([entry("One"), entry("Two"), entry("Three")])
    assert (draft.subject, draft.preheader) == ("One and 2 more", "Two · Three")
    assert [item.title for item in blocks.items(draft.body)] == ["One", "Two", "Three"]


def test_nothing_a_feed_says_becomes_markup():
    bad = entry(
        title='<script>alert(1)</script>"',
        html="<script>x</script><b onclick=y>Tom &amp; <i>Jerry</i></b> &lt;script&gt;",
        link='https://blog.example.org/?a="><script>',
        image="https://blog.example.org/\"onerror='x'",
    )
    for page in (mailed([bad]).html, mailed([replace(bad, link="")]).html):
        found = Layout(page).found
        assert "script" not in {tag for tag, _ in found}
        assert "onerror" not in {name for _, given in found for name in given}
        assert "Tom &amp; Jerry &lt;script&gt;" in page


def test_nothing_a_feed_says_becomes_a_block_or_markdown():
    bad = entry(title=":::item", html="*x* [a](b)<br>:::<br>entry: " + "0" * 32 + "<br># one")
    for linked in (bad, replace(bad, link="")):
        draft = digest.draft([linked, entry("Two")])
        assert [item.entry for item in blocks.items(draft.body)] == [""] * (2 if linked.link else 1)
        shown = mailed([linked, entry("Two")])
        for part in (shown.html, shown.text):
            assert "*x* [a](b) ::: entry: 0000" in part
            assert "# one" in part
            assert ":::item" in part


def test_a_post_to_listen_to_says_for_how_long():
    (item,) = blocks.items(digest.draft([replace(entry(), audio="https://x.example/a.mp3", duration=1500)]).body)
    assert (item.kind, item.duration) == ("podcast", 1500)
    (item,) = blocks.items(digest.draft([replace(entry(), duration=1500)]).body)
    assert (item.kind, item.duration) == ("", None)


def test_what_is_made_of_a_feed_is_complete():
    given = [entry("t" * 400), entry(""), entry(link=""), entry(image="https://blog.example.org/a.jpg")]
    assert [item.problems for item in blocks.items(digest.draft(given).body)] == [[], [], []]


def test_a_deployment_may_have_a_template_for_it(monkeypatch):
    from jinja2 import DictLoader, Environment

    own = (
        "{% for item in items %}<h2>{{ item.title }}</h2>{{ item.excerpt }}{% endfor %}{{ more }} on {{ site_name }}"
    )
    environment = Environment(loader=DictLoader({"feed_digest.html": own}), autoescape=True)
    monkeypatch.setattr(templates, "environment", lambda: environment)
    draft = digest.draft([entry("Tom & {{nickname}}"), entry("Two")])
    assert draft.format is Format.HTML
    assert draft.body == "<h2>Tom &amp; \\{{nickname}}</h2>Hello.<h2>Two</h2>Hello.0 on The Daily Test"


def test_braces_of_a_post_are_not_the_readers_name():
    """They go out literally, and nothing holds the campaign up."""
    draft = digest.draft([entry("On {{nickname}} \\{{a}}", "<p>{{greeting|Hey}} {{x}} {{{y}}}</p>")])
    mailing = renderer.render(service.preview_detail(draft))
    message = mailing.message("reader@example.org", "Ana", "token")
    assert message.subject == "On {{nickname}} \\{{a}}"
    assert "Hi, Ana, here is a new post" in message.text
    for part in (message.html, message.text):
        assert "On {{nickname}} \\{{a}}" in part
        assert "{{greeting|Hey}} {{x}} {{{y}}}" in part
    assert mailing.unknown == mailing.foreign == ()


def test_a_post_without_a_title_is_named_by_its_first_words():
    preview = digest.preview(entry(title="", html="word " * 60))
    assert preview.title == "word " * 13 + "word…"
    assert len(preview.excerpt) == 299
    assert digest.preview(entry(title="", html="Short.")).excerpt == ""
    assert digest.preview(entry(title="", html="")).title == "A new post"


def test_a_long_text_is_cut_at_a_word():
    preview = digest.preview(entry(html="<p>" + "several words " * 100))
    assert preview.excerpt.endswith(("several…", "words…"))
    assert len(preview.excerpt) <= 320


def test_a_flood_is_listed_in_part_and_counted_whole():
    draft = digest.draft([entry(f"Post {number}") for number in range(2000)])
    assert draft.subject == "Post 0 and 1999 more"
    assert "And 1950 more." in draft.body
    assert len(draft.body) < 50_000


def test_without_link_or_image_there_is_none():
    page = mailed([entry(link="")]).html.partition('class="body"')[2].partition('class="foot"')[0]
    assert "<a " not in page
    assert "<img" not in page
    assert re.search(r"<h3[^>]*>A post</h3>\s*<p[^>]*>Hello\.</p>", page)


def test_the_mail_made_of_it_loses_nothing_and_greets_the_reader():
    draft = digest.draft(
        [entry("Tom & Jerry", "A cat.", image="https://blog.example.org/cat.jpg"), entry("Two", link="")]
    )
    mailing = renderer.render(service.preview_detail(draft))
    message = mailing.message("ann@example.org", "Ann", "token")
    assert mailing.removed == ()
    assert message.subject == "Tom & Jerry and 1 more"
    assert "Hi, Ann, here are the new posts from The Daily Test." in message.html
    assert "Tom &amp; Jerry</a>" in message.html
    assert 'src="https://blog.example.org/cat.jpg"' in message.html
    assert "Tom & Jerry\n\nA cat.\n\nhttps://blog.example.org/1\n" in message.text


def test_braces_of_a_title_are_not_filled_in_where_it_describes_a_picture():
    post = entry("Hey {{nickname}} \\{\ufdd0{greeting}}", link="", image="https://blog.example.org/a.jpg")
    message = mailed([post])
    alts = [given["alt"] for tag, given in Layout(message.html).found if tag == "img" and given.get("alt")]
    assert alts == ["Hey {{nickname}} \\{{greeting}}"]
    assert "Hey Ana" not in message.html + message.text
