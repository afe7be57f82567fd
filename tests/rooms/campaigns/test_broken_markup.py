"""Markup that is no HTML: it is read as browsers read it, or refused when it is saved, and never breaks a page."""

import random
import time

import pytest

from chalicelib.campaigns import service, store
from chalicelib.campaigns.content import renderer, sanitise
from chalicelib.campaigns.model import Format
from chalicelib.kernel.aws import tables
from chalicelib.kernel.errors import Invalid
from chalicelib.mail import account
from chalicelib.mail.account import Account
from tests.rooms.campaigns.examples import new_campaign
from tests.rooms.campaigns.rendering import detail, mailed

API = "/admin/api/campaigns"
PIECES = [
    "<![", "<!", "<?", "]]>", "]>", "--!>", "<!--", "-->", "<!DOCTYPE [", "<!DOCTYPE html>", "<![CDATA[",
    "<![if !mso]>", "<![endif]>", "<![FOR]>", "<![ b", "<!ELEMENT", "<!x", "</", "</ >", "<a", "<a href=", '"', "'",
    ">", "<", "&", "&#", "&#x", "<p>", "</p>", "<ª", "<table", "<svg>", "<math>", "<script>", "<style>", "<textarea>",
    "<title>", "<plaintext>", "<xmp>", "<iframe>", "<noscript>", "<select>", "<template>", "{{nickname}}", "\\{{",
    "{{", " ", "x", "\n", "=", "/", "`", "*", "[", "](", "|", "- ", "> ", "&lt;![", "<o:p/>", "<p style='", "url(",
    ";", ":", "\x0c",
]  # fmt: skip


@pytest.fixture
def ses(monkeypatch):
    monkeypatch.setattr(account, "account", lambda: Account(200, 1, 0, False, True, "HEALTHY"))  # moto has none
    monkeypatch.setattr(account, "identity", lambda: None)


@pytest.mark.parametrize("format", Format)
@pytest.mark.parametrize(
    "body", ["a <![ b", "<![x]>", "<![foo[ b", "<![FOR]>x", "enable_if_t<![a::b](/c)< U >::value"]
)
def test_a_marked_section_is_saved_shown_and_sent(admin, ses, body, format):
    made = admin.post(API, json={"subject": "s", "body": body, "format": format})
    assert made.status == 201
    url = f"{API}/{made.json['id']}"
    assert admin.get(f"{url}/preview").status == 200
    assert admin.get(f"{url}/preflight").status == 200
    for page in ("", "/review", "/send", "/preview"):
        assert admin.get(f"/admin/campaigns/{made.json['id']}{page}").status == 200
    assert admin.post(f"{url}/send", json={}).status == 200
    assert admin.get(f"/archive/{made.json['id']}").status == 200


def test_any_mix_of_broken_pieces_is_rendered():
    chance = random.Random(12)
    for _ in range(300):
        body = "".join(chance.choices(PIECES, k=chance.randint(1, 12)))
        for format in Format:
            message = mailed(f"x{body}", format=format)
            assert "Unsubscribe" in message.html


@pytest.mark.parametrize(
    "tag", ["div", "b", "table><tr><td", "ul><li", "span style='x'", "o:p", "rt", "rp", "optgroup", "div></x"]
)
def test_markup_nested_too_deep_is_refused_at_once(admin, tag):
    started = time.process_time()
    answer = admin.post(API, json={"subject": "s", "body": f"<{tag}>" * 30_000})
    assert answer.status == 400
    assert answer.json == {"error": "Body has elements nested more than 200 deep: close every tag that is opened"}
    assert time.process_time() - started < 2


def test_deep_markup_cannot_hide_in_attributes():
    with pytest.raises(Invalid, match="nested"):
        renderer.render(detail("<div title='</div>'>" * 1000))


def test_so_many_elements_that_reading_them_takes_minutes_are_refused_at_once(admin):
    started = time.process_time()
    answer = admin.post(API, json={"subject": "s", "body": "<div/>" * 80_000})
    assert (answer.status, answer.json) == (400, {"error": "Body has more than 20,000 elements"})
    assert time.process_time() - started < 2


def test_an_end_tag_ends_what_was_left_open_inside():
    assert "xy" * 300 in mailed("<ruby>x<rt>y</ruby>" * 300).text


def test_long_lists_tables_and_paragraphs_without_end_tags_are_not_deep():
    body = "<ul>" + "<li>x" * 2000 + "</ul><table>" + "<tr><td>x<td>y" * 2000 + "</table>" + "<p>x<br>" * 2000
    assert mailed(body + "<svg>" + "<path/>" * 500 + "</svg>").text.count("x") >= 6000


@pytest.mark.parametrize(
    "piece", ["<a ", '<img alt="', "<!--", "<![", "</", "&#", "<p style='color:red;", "<", "{{", "\\"]
)
def test_hostile_markup_takes_no_time(piece):
    started = time.process_time()
    mailed("x" + piece * (100_000 // len(piece)))
    assert time.process_time() - started < 4


@pytest.mark.parametrize(
    ("begins", "repeats"),
    [
        ("<", "a"),
        ("<a ", " "),
        ("<a ", "href "),
        ("<p style='color:", "a"),
        ("<p style='a:(", "b"),
        ("", "a:"),
        ("", "a="),
    ],
)
def test_one_long_piece_takes_no_time_either(begins, repeats):
    started = time.process_time()
    mailed("x" + begins + repeats * (100_000 // len(repeats)) + "'>")
    assert time.process_time() - started < 4


def test_whatever_a_parser_raises_is_refused_at_saving_time_and_no_defect_later(admin, monkeypatch):
    saved = new_campaign(body="<p>x</p>").campaign.id

    def broken(*args, **kwargs):
        raise RecursionError

    monkeypatch.setattr(sanitise, "clean", broken)
    reason = {"error": "Body cannot be read as HTML: look for tags that are not complete"}
    answer = admin.post(API, json={"subject": "s", "body": "<p>x</p>"})
    assert (answer.status, answer.json) == (400, reason)
    assert admin.patch(f"{API}/{saved}", json={"body": "<p>y</p>"}).json == reason
    assert admin.get(f"{API}/{saved}/preview").json == reason
    assert admin.get(f"/admin/campaigns/{saved}/review").status == 400
    assert service.view(saved).content.body == "<p>x</p>"
    assert service.list_page(None, 1, 20).total == 1


def test_one_that_was_saved_before_is_shown_in_the_archive(admin):
    made, writes = service.create_writes(service.Draft(subject="s", body="a <![ b"), send=True)
    tables.transact(*writes)
    assert store.find_detail(made.campaign.id)
    assert admin.get(f"/archive/{made.campaign.id}").status == 200
