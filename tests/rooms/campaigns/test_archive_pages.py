"""The archive as people read it: lists with excerpts, search, and a campaign with what stands around it."""

import html
import re

import pytest

from chalicelib.campaigns import content_store, extract_store, service, store
from chalicelib.campaigns.content import archive, catalogue, extracts, renderer, words
from chalicelib.campaigns.model import Content, Counts, Format, State, Targeting, Terms
from chalicelib.campaigns.sending import deliveries
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.errors import Unavailable
from tests.rooms.campaigns.test_archive import published

SITE = "https://news.example.org"
API = "/admin/api/campaigns"


def titles(page):
    return [html.unescape(title) for title in re.findall(r"<h[23]><a [^>]*>([^<]*)</a></h[23]>", page.text)]


def found(http, query):
    page = http.get(f"/archive?q={query}")
    assert page.status == 200
    return titles(page)


def link(page, rel):
    match = re.search(rf'<a [^>]*rel="{rel}" href="([^"]*)"', page)
    return match[1] if match else None


def test_lists_show_the_preheader_or_else_what_the_text_begins_with(http):
    published("With", preheader="Psst & co")
    published(
        "Without", body="<h1>Without</h1><p><img src='x.png' alt='A leek'>Kale is <a href='https://e.org'>up</a>.</p>"
    )
    for path in ("/", "/archive"):
        page = http.get(path).text
        assert "<p>Psst &amp; co</p>" in page
        assert "<p>Kale is up.</p>" in page


def test_a_long_text_is_cut_at_the_end_of_a_sentence_or_a_word(http):
    published("Sentence", body=f"<p>{'word ' * 25}ends. {'more ' * 50}</p>")
    published("Word", body=f"<p>{'endless ' * 100}</p>")
    page = http.get("/archive").text
    assert "word ends.</p>" in page
    assert re.search(r"endless endless…</p>", page)


def test_headings_and_facts_do_not_run_into_what_is_said(http):
    body = "Short, for the ears.\n\n## Listening\n\n:::item\ntitle: Ducks\nsource: Radio\nexcerpt: They quack.\n:::"
    published("Ears", body=body, format=Format.MARKDOWN)
    published("Only lines", body="<h2>Beans</h2><p>Peas</p>")
    page = http.get("/archive").text
    assert "<p>Short, for the ears. They quack.</p>" in page
    assert "<p>Beans Peas</p>" in page


def test_what_was_published_later_comes_first_whenever_it_was_written(http):
    early, late = (
        service.create(service.Draft(subject, "<p>x</p>")) for subject in ("Written first", "Written last")
    )
    for detail in (late, early):
        deliveries.finish(service.send_now(detail.campaign.id).deliveries[0], Counts(1, 1))
    assert titles(http.get("/archive")) == ["Written first", "Written last"]


@pytest.mark.parametrize(
    "query",
    [
        "kale",
        "KALE",
        "k%C3%A2le",
        "minus+kale",
        "kale+minus+frost",
        "strasse",
        "stra%C3%9Fe",
        "cafe",
        "caf%C3%A9",
        "psst",
        "kal",
        "%22kale%22",
        "+kale,+",
    ],
)
def test_words_are_found_in_any_case_with_or_without_accents(http, query):
    published("What the frost left", preheader="Psst", body="<p>The kâle at minus four, Café Straße.</p>")
    published("Another", body="<p>Beans</p>")
    assert found(http, query) == ["What the frost left"]


def test_every_word_must_occur_and_no_tag_or_address_is_a_word(http):
    published("One", body='<p class="lead">Kale <a href="https://example.org/secretpath">here</a></p>')
    for query in ("kale+beans", "secretpath", "lead", "href", "ale"):
        assert found(http, query) == []
    assert "0 issues for" in http.get("/archive?q=beans").text


def test_words_of_languages_without_spaces_are_found_within(http):
    published("京都", body="<p>今日は京都の庭を歩いた</p>")
    assert found(http, "%E5%BA%AD") == ["京都"]


def test_a_search_says_how_many_and_leads_on(http, monkeypatch):
    monkeypatch.setattr(archive, "PER_PAGE", 2)
    for number in range(3):
        published(f"Beans {number}")
    published("Kale")
    first = http.get("/archive?q=beans+%26")
    assert "3 issues for “beans &amp;”" in first.text
    assert titles(first) == ["Beans 2", "Beans 1"]
    older = html.unescape(link(first.text, "next"))
    assert older == f"{SITE}/archive?q=beans+%26&page=2"
    second = http.get(older.removeprefix(SITE))
    assert titles(second) == ["Beans 0"]
    assert 'content="noindex, follow"' in second.text
    assert "1 issue for" in http.get("/archive?q=kale").text


def test_what_is_searched_for_is_never_markup(http):
    page = http.get("/archive?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E")
    assert page.status == 200
    assert "<script" not in page.text
    assert "&lt;script&gt;" in page.text


def test_a_search_is_bounded_and_an_empty_one_is_the_list(http):
    published("Here")
    assert http.get("/archive?q=" + "x" * 101).status == 400
    assert http.get("/archive?q=" + "x" * 100).status == 200
    for query in ("", "+", "%E2%80%A6", "%F0%9F%A5%AC"):
        assert found(http, query) == ["Here"]


def test_a_corrected_text_is_found_by_its_new_words_only(http, admin):
    id = published("One", body="<p>Tuesday</p>").campaign.id
    assert found(http, "tuesday") == ["One"]
    assert admin.post(f"{API}/{id}/correction", json={"body": "<p>Thursday</p>", "note": "Wrong day"}).status == 200
    assert found(http, "tuesday") == []
    assert found(http, "thursday") == ["One"]
    assert admin.delete(f"{API}/{id}/correction").status == 200
    assert found(http, "tuesday") == ["One"]


def test_texts_are_read_once_and_kept(http, monkeypatch):
    published("One", body="<p>Kale</p>")
    assert found(http, "kale") == ["One"]
    extracts._kept._values.clear()
    monkeypatch.setattr(store, "list_web_contents", lambda _: pytest.fail("the text was read again"))
    assert found(http, "kale") == ["One"]
    monkeypatch.setattr(extract_store, "find_many", lambda _: pytest.fail("the words were read again"))
    assert found(http, "kale") == ["One"]


def test_a_search_that_runs_out_of_time_says_so_and_the_next_goes_on(http, monkeypatch):
    published("Kale in the title", body="<p>Beans</p>")
    published("Other", body="<p>Kale</p>")
    monkeypatch.setattr(extracts, "_SECONDS", -1.0)
    page = http.get("/archive?q=kale")
    assert titles(page) == ["Kale in the title"]
    assert "Search again in a moment" in page.text
    monkeypatch.undo()
    page = http.get("/archive?q=kale")
    assert titles(page) == ["Other", "Kale in the title"]
    assert "Search again in a moment" not in page.text


def test_words_that_cannot_be_stored_are_shown_all_the_same(http, monkeypatch):
    def fail(_):
        raise Unavailable

    monkeypatch.setattr(extract_store, "put_all", fail)
    published("One", body="<p>Kale</p>")
    assert found(http, "kale") == ["One"]


def test_a_text_that_cannot_be_read_any_more_is_still_listed(http):
    detail = published("Broken")
    tables.put(content_store.build_row(detail.campaign.id, Content("<div>" * 300)))
    assert titles(http.get("/archive")) == ["Broken"]
    assert found(http, "broken") == ["Broken"]
    assert http.get("/archive/feed.xml").status == 200


def test_the_archive_is_read_once_until_something_changes(http, monkeypatch):
    published("One")
    read = []
    original = store.list_sent
    monkeypatch.setattr(store, "list_sent", lambda: read.append(1) or original())
    for path in ("/", "/archive", "/archive?q=one", "/archive/feed.xml", "/sitemap.xml"):
        assert http.get(path).status == 200
    assert len(read) == 1
    published("Two")
    assert "Two" in http.get("/").text
    assert len(read) == 2


def test_a_campaign_leads_to_the_ones_before_and_after_that_are_public(http, admin):
    first, hidden, middle = (published(subject).campaign.id for subject in ("First", "Hidden", "Middle"))
    published("Some", targeting=Targeting(tags=Terms(any=("vip",))))
    last = published("Last").campaign.id
    admin.patch(f"{API}/{hidden}", json={"hidden": True})
    page = http.get(f"/archive/{middle}").text
    assert (link(page, "prev"), link(page, "next")) == (f"{SITE}/archive/{first}", f"{SITE}/archive/{last}")
    assert link(http.get(f"/archive/{first}").text, "prev") is None
    assert link(http.get(f"/archive/{last}").text, "next") is None
    sending = service.send_now(service.create(service.Draft("Now", "<p>x</p>")).campaign.id).campaign.id
    page = http.get(f"/archive/{sending}").text
    assert (link(page, "prev"), link(page, "next")) == (f"{SITE}/archive/{last}", None)


def test_a_campaign_is_listed_from_the_moment_sending_starts_and_while_it_is_sent_again(http, admin):
    """Imported people may be written to over hours; who was written to first finds it in the archive."""
    published("Before")
    detail = service.send_now(service.create(service.Draft("Again", "<p>kale</p>")).campaign.id)
    assert detail.campaign.state is State.PUBLISHING
    assert titles(http.get("/archive")) == ["Again", "Before"]
    assert found(http, "kale") == ["Again"]
    assert admin.patch(f"{API}/{detail.campaign.id}", json={"hidden": True}).status == 200
    assert titles(http.get("/archive")) == ["Before"]
    service.hide(detail.campaign.id, False)
    failed = deliveries.finish(detail.deliveries[0], Counts(2, 1, 0, 1))
    assert titles(http.get("/archive")) == ["Again", "Before"]
    again = deliveries.retry(failed.campaign.id, failed.deliveries[0].id)
    assert again.campaign.state is State.PUBLISHING
    assert titles(http.get("/archive")) == ["Again", "Before"]


def test_a_campaign_tells_others_what_it_is(http):
    body = '<p><img src="https://elsewhere.example/a.png"><img src="/media/0a1b.png" alt="">Kale &amp; "frost".</p>'
    id = published('On "kale" & <b>', body=body).campaign.id
    page = http.get(f"/archive/{id}").text
    url = f"{SITE}/archive/{id}"
    for tag in (
        f'<link rel="canonical" href="{url}">',
        '<meta name="description" content="Kale &amp; &#34;frost&#34;.">',
        '<meta property="og:type" content="article">',
        '<meta property="og:title" content="On &#34;kale&#34; &amp; &lt;b&gt;">',
        f'<meta property="og:url" content="{url}">',
        f'<meta property="og:image" content="{SITE}/media/0a1b.png">',
        '<link rel="alternate" type="application/atom+xml"',
        '<link rel="alternate" type="application/feed+json"',
    ):
        assert tag in page
    assert "<time datetime=" in page
    assert f'href="{SITE}/"' in page
    assert f'action="{SITE}/api/subscribe"' in page
    assert "<script" not in page


def test_sharing_is_links_and_nothing_else(http):
    id = published("Beans & <peas>").campaign.id
    page = http.get(f"/archive/{id}").text
    shared = re.findall(r'<a href="([^"]*)" rel="nofollow noopener noreferrer">', page)
    assert [html.unescape(address).split("=")[0] for address in shared] == [
        "mailto:?subject",
        "https://share.joinmastodon.org/#text",
        "https://bsky.app/intent/compose?text",
    ]
    assert all("Beans%20%26%20%3Cpeas%3E" in address for address in shared)
    assert f"<code>{SITE}/archive/{id}</code>" in page


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("<p>Kale</p>", ["Subject"]),
        ("<h1>Own</h1><p>Kale</p><h1>Second</h1>", ["Own"]),
        ("<p>Kale</p><h1>Late</h1>", ["Subject"]),
        ('<p><img src="a.png"></p><h1 style="color:red">Own</h1>', ["Own"]),
    ],
)
def test_a_campaign_has_one_title(http, body, shown):
    page = http.get(f"/archive/{published('Subject', body=body).campaign.id}").text
    assert re.findall(r"<h1[^>]*>([^<]*)</h1>", page) == shown


def test_what_was_hidden_is_gone_from_everywhere_and_comes_back(http, admin):
    id = published("Zucchini", body="<p>marrow</p>").campaign.id
    other = published("Other").campaign.id
    places = (
        "/",
        "/archive",
        "/archive?q=marrow",
        "/archive/feed.xml",
        "/archive/feed.json",
        "/sitemap.xml",
        f"/archive/{other}",
    )

    def seen():
        return [id in http.get(path).text for path in places]

    assert seen() == [True] * len(places)
    assert http.get(f"/archive/{id}").status == 200
    assert admin.patch(f"{API}/{id}", json={"hidden": True}).status == 200
    assert seen() == [False] * len(places)
    assert "0 issues" in http.get("/archive?q=marrow").text
    assert http.get(f"/archive/{id}").status == 404
    assert admin.patch(f"{API}/{id}", json={"hidden": False}).status == 200
    assert seen() == [True] * len(places)


def test_the_first_page_is_there_when_the_database_is_not(http, monkeypatch):
    published("One")

    def fail():
        raise Unavailable

    monkeypatch.setattr(store, "find_archive_stamp", fail)
    page = http.get("/")
    assert page.status == 200
    assert f'action="{SITE}/api/subscribe"' in page.text
    assert page.headers["Cache-Control"] == "no-store"
    assert http.get("/archive").status == 503


def test_a_thousand_issues_are_listed_and_searched_within_bounds(http):
    """What is in memory costs no request, so a page deep in the archive is as cheap as the first."""
    at = clock.now()
    one = catalogue.describe(published("One", body="<p>kale</p>").campaign)
    many = tuple(
        catalogue.Issue(one.campaign, f"Issue {number}", "pre", at, at, one.stamp) for number in range(1_000)
    )
    assert len(archive._page(many, 50).issues) == 20
    assert archive._page(many, 51).issues == []
    assert words.matches(("kale",), words.collect("a kale b"))


def test_markdown_is_the_same_text_in_mail_and_archive(http):
    detail = published("One", body="*So* it goes, {{nickname|friend}}", format=Format.MARKDOWN)
    assert "<em>So</em> it goes, friend" in http.get(f"/archive/{detail.campaign.id}").text
    assert "<em>So</em> it goes, " in renderer.render(detail).html
