"""What a reader sees of new entries, whatever the feed put into them."""

from datetime import UTC, datetime

from chalicelib.campaigns import service
from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.model import Campaign, CampaignDetail, Content
from chalicelib.feeds import digest
from chalicelib.feeds.reading.model import Entry

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def entry(title: str = "A post", html: str = "<p>Hello.</p>", **more: str) -> Entry:
    given = {"id": title, "link": "https://blog.example.org/1", "base": "https://blog.example.org/"} | more
    return Entry(title=title, html=html, published=NOW, **given)


def test_one_entry_is_the_subject_and_its_excerpt_the_preview():
    draft = digest.draft([entry()])
    assert (draft.subject, draft.preheader) == ("A post", "Hello.")
    assert '<h1><a href="https://blog.example.org/1">A post</a></h1>' in draft.body
    assert "<p>Hello.</p>" in draft.body


def test_several_entries_are_one_mail_named_after_the_first():
    draft = digest.draft([entry("One"), entry("Two"), entry("Three")])
    assert (draft.subject, draft.preheader) == ("One and 2 more", "Two · Three")
    assert draft.body.count("<h2>") == 3


def test_nothing_a_feed_says_becomes_markup():
    bad = entry(
        title='<script>alert(1)</script>"',
        html="<script>x</script><b onclick=y>Tom &amp; <i>Jerry</i></b> &lt;script&gt;",
        link='https://blog.example.org/?a="><script>',
        image="https://blog.example.org/\"onerror='x'",
    )
    body = digest.draft([bad]).body
    assert "<script" not in body
    assert "onerror='" not in body
    assert "Tom &amp; Jerry &lt;script&gt;" in body


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
    body = digest.draft([entry(link="")]).body
    assert "<a " not in body
    assert "<img" not in body


def test_the_mail_made_of_it_loses_nothing_and_greets_the_reader():
    draft = digest.draft([entry("Tom & Jerry", "<p>A cat.</p><img src='/cat.jpg'>"), entry("Two", link="")])
    campaign = Campaign("c", draft.subject, NOW, NOW, preheader=draft.preheader)
    mailing = renderer.render(CampaignDetail(campaign, Content(draft.body, draft.text), ()))
    message = mailing.message("ann@example.org", "Ann", "token")
    assert mailing.removed == ()
    assert message.subject == "Tom & Jerry and 1 more"
    assert "Hi, Ann, here are the new posts from The Daily Test." in message.html
    assert "Tom &amp; Jerry</a>" in message.html
    assert 'src="https://blog.example.org/cat.jpg"' in message.html
    assert "Tom & Jerry (https://blog.example.org/1)" in message.text
    assert "A cat." in message.text
