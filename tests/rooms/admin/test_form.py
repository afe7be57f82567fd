from html import unescape
from html.parser import HTMLParser

import pytest

from chalicelib.admin import form_snippets, site_origins
from chalicelib.admin.form_snippets import Options
from chalicelib.kernel.errors import Invalid
from tests.rooms.admin.test_page_size import LARGEST

BASE = "https://news.example.org"
NASTY = """"><script>alert('&amp; <b>')</script>"""


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.words = [], []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.words.append(data)


def _read(snippet):
    parser = _Tags()
    parser.feed(snippet)
    return parser


def _shown(dashboard, query=""):
    page = dashboard.get(f"/admin/form?{query}").text
    return unescape(page.partition('id="snippet" tabindex="0">')[2].partition("</pre>")[0])


def test_the_page_begins_with_the_script(dashboard):
    assert _shown(dashboard) == f'<script src="{BASE}/embed.js" async></script>'


def test_every_choice_becomes_an_attribute(dashboard):
    query = "kind=script&source=blog&tags=Seeds,+garden&name=yes&text_button=Join+us"
    [(tag, attributes)] = _read(_shown(dashboard, query)).found
    assert tag == "script"
    assert attributes == {
        "src": f"{BASE}/embed.js",
        "data-source": "blog",
        "data-tags": "garden,seeds",
        "data-text-button": "Join us",
        "data-name": None,
        "async": None,
    }


@pytest.mark.parametrize("kind", form_snippets.KINDS)
def test_whatever_is_typed_stays_inside_its_attribute_or_text(kind):
    options = form_snippets.parse(
        {"kind": kind, "source": NASTY, "tags": NASTY, "name": "yes"}
        | {f"text_{name}": f"{NASTY} {name}" for name, _, _ in form_snippets.WORDS}
    )
    plain = form_snippets.write(Options(kind, "x", ("x",), True, {"button": "x"}), BASE)
    written = _read(form_snippets.write(options, BASE))
    assert [tag for tag, _ in written.found] == [tag for tag, _ in _read(plain).found]
    if kind in ("html", "link"):
        assert f"{NASTY} button" in written.words
    if kind == "script":
        assert written.found[0][1]["data-text-success"] == f"{NASTY} success"


def test_the_form_speaks_the_language_that_was_chosen(dashboard):
    assert 'data-lang="de"' in _shown(dashboard, "lang=de")
    assert _shown(dashboard, "kind=link&lang=fr").startswith(f'<a href="{BASE}/subscribe?lang=fr">')
    written = _read(_shown(dashboard, "kind=html&lang=de"))
    assert ("input", {"type": "hidden", "name": "lang", "value": "de"}) in written.found
    assert "Abonnieren" in written.words
    assert "data-lang" not in _shown(dashboard, "lang=tlh"), "a language we do not have"


def test_the_plain_form_has_the_source_the_tags_and_the_trap():
    written = _read(form_snippets.write(form_snippets.parse({"kind": "html", "source": "b", "tags": "x,y"}), BASE))
    assert ("form", {"method": "post", "action": f"{BASE}/api/subscribe"}) in written.found
    fields = {given["name"]: given.get("value") for tag, given in written.found if tag == "input"}
    assert fields == {"source": "b", "tags": "x,y", "email": None, "website": None}


def test_a_link_and_a_frame_lead_to_the_sign_up_page():
    options = form_snippets.parse({"source": "a&b", "tags": "x y"})
    assert form_snippets.page_url(options, BASE) == f"{BASE}/subscribe?source=a%26b&tags=x+y"


def test_the_sign_up_page_passes_the_tags_on(dashboard):
    page = dashboard.get("/subscribe?source=blog&tags=Garden,%22x%22").text
    assert '<input type="hidden" name="tags" value="&#34;x&#34;,garden">' in page
    assert dashboard.get("/subscribe").text.count('name="tags"') == 0
    assert dashboard.get(f"/subscribe?tags={'x' * 65}").status == 400


def test_the_live_form_may_be_framed_by_our_own_page_only(dashboard):
    answer = dashboard.get("/admin/form?live=yes&kind=script&source=blog")
    assert answer.status == 200
    assert 'src="/embed.js" data-source="blog"' in answer.text
    assert "frame-ancestors 'self'" in answer.headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in answer.headers


def test_the_page_asks_to_be_framed_with_the_same_choices(dashboard):
    query = form_snippets.encode(form_snippets.parse({"kind": "html", "source": "a&b", "text_button": "Ja, bitte"}))
    assert query == "kind=html&source=a%26b&text_button=Ja%2C+bitte"
    assert (
        f'src="/admin/form?live=yes&amp;{query.replace("&", "&amp;")}"' in dashboard.get(f"/admin/form?{query}").text
    )


@pytest.mark.parametrize(
    ("site", "said"),
    [
        ("", "Browsers run it on the sites in ALLOWED_ORIGINS only"),
        ("blog.example.org/2026/11/", "https://blog.example.org may use it."),
        ("https://other.example", "https://other.example may not use it yet."),
        ("http://blog.example.org", "https://blog.example.org may, but to browsers that is another site."),
    ],
)
def test_the_page_says_whether_the_site_may_use_the_form(dashboard, site, said):
    assert said in dashboard.see(f"/admin/form?site={site}")


def test_what_to_add_to_the_settings_is_written_out(dashboard):
    seen = dashboard.see("/admin/form?kind=frame&site=other.example")
    assert "ALLOWED_ORIGINS=https://blog.example.org,https://www.example.org,https://other.example" in seen
    assert "may not use it yet" not in dashboard.see("/admin/form?kind=html&site=other.example")


@pytest.mark.parametrize(
    ("typed", "origin"),
    [
        ("Example.ORG", "https://example.org"),
        ("http://example.org:80/x?y#z", "http://example.org"),
        ("https://example.org:8443", "https://example.org:8443"),
        ("bücher.example", "https://xn--bcher-kva.example"),
        ("http://[::1]:3000/", "http://[::1]:3000"),
    ],
)
def test_the_origin_is_that_which_browsers_send(typed, origin):
    assert site_origins.parse(typed) == origin


@pytest.mark.parametrize(
    "typed", ["ftp://x.org", "https://", "https://a b", "javascript:x", "https://me@x.org", "[", "x" * 300]
)
def test_what_is_no_address_of_a_site_is_refused(typed):
    with pytest.raises(Invalid, match="not valid"):
        site_origins.parse(typed)


def test_a_refused_choice_is_said_and_stays_in_the_form(dashboard):
    answer = dashboard.get(f"/admin/form?kind=html&tags={'x' * 65}&source=blog")
    assert answer.status == 400
    assert "Each tag must be" in answer.text
    assert 'value="blog"' in answer.text
    assert dashboard.get(f"/admin/form?live=yes&tags={'x' * 65}").status == 400


def test_the_page_is_small_whatever_is_chosen(dashboard):
    words = "&".join(f"text_{name}={'%26' * 200}" for name, _, _ in form_snippets.WORDS)
    tags = ",".join(f"{number:02}{'%F0%90%8C%B0' * 62}" for number in range(20))
    answer = dashboard.get(f"/admin/form?source={'%26' * 64}&tags={tags}&{words}&site=a.example&name=yes")
    assert answer.status == 200
    assert len(answer.body) <= LARGEST
    refused = dashboard.get(f"/admin/form?source={'%26' * 9000}&{words}")
    assert refused.status == 400
    assert len(refused.body) <= LARGEST


def test_the_form_is_found_from_the_subscribers(dashboard):
    assert 'href="/admin/form"' in dashboard.get("/admin/subscribers").text
