from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.content.links import Links
from chalicelib.campaigns.model import Campaign, CampaignDetail, Content
from chalicelib.campaigns.review import preflight
from chalicelib.mail import bulk
from chalicelib.mail.account import Account

NOW = datetime(2026, 11, 16, 9, tzinfo=UTC)
GOOD = Account(50_000, 14, 0, False, True, "HEALTHY")


def codes(body: str, text: str | None = "text", subject: str = "Hi") -> set[str]:
    detail = CampaignDetail(
        Campaign("0193a5c4-11f0-7a6b-8c01-2d3e4f506172", subject, NOW, NOW), Content(body, text), ()
    )
    mailing = renderer.render(detail)
    found = [*preflight.check_mail(mailing, detail), *preflight.check_links(Links(mailing.archived()))]
    return {finding.code for finding in found} - {"no_postal_address"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p>Fine</p>", set()),
        ('<p><a href="https://example.org">x</a><img src="/media/x.png" alt=""></p>', set()),
        ('<a href="http://example.org">x</a>', {"http_links"}),
        ('<img src="http://example.org/x.png" alt="x">', {"http_links", "foreign_images"}),
        ('<a href="https://nowhere">x</a>', {"broken_links"}),
        ("<a>x</a>", {"broken_links"}),
        ('<a href="https://">x</a>', {"broken_links", "removed"}),
        ('<a href="mailto:">x</a>', {"broken_links"}),
        ('<img src="/media/x.png">', {"images_without_alt"}),
        ("<p>a</p><script>b</script>", {"removed"}),
        ("<p>Hi {{nickname}}</p>", {"no_fallback"}),
        ("<p>Hi {{nickname|you}} {{greeting}}</p>", set()),
        ("<p>" + "word " * 21_000 + "</p>", {"clipped"}),
        ("<p>" + "word " * 98_000 + "</p>", {"too_large"}),
        ("<p>" + "漢" * 150_000 + "</p>", {"clipped"}),
    ],
)
def test_what_is_wrong_with_an_email_is_found(body, expected):
    assert codes(body) == expected


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("<a>Read more</a>", "1 link has a missing or invalid address: “Read more”."),
        (
            '<a href="https://nowhere">x</a><a href="mailto:">y</a>',
            "2 links have a missing or invalid address: https://nowhere, mailto:.",
        ),
        ('<a href="http://example.org/a">x</a>', "1 link or image uses http instead of https: http://example.org/a."),
        (
            '<img src="/media/x.png">',
            "1 image has no alternative text (alt): https://news.example.org/media/x.png.",
        ),
    ],
)
def test_a_finding_counts_in_good_english_and_names_what_it_found(body, message):
    mailing = renderer.render(
        CampaignDetail(Campaign("0193a5c4-11f0-7a6b-8c01-2d3e4f506172", "Hi", NOW, NOW), Content(body), ())
    )
    assert [finding.message for finding in preflight.check_links(Links(mailing.archived()))] == [message]


def test_of_many_links_the_first_are_named():
    page = "".join(f'<a href="http://example.org/{number}">x</a>' for number in range(9))
    (finding,) = preflight.check_links(Links(page))
    assert finding.message.startswith("9 links or images use http")
    assert finding.message.endswith("http://example.org/4 and 4 more.")


def test_the_plain_text_counts_for_the_size():
    body = "<p>" + "word " * 60_000 + "</p>"
    assert codes(body, text="text") == {"clipped"}
    assert codes(body, text=None) == {"too_large", "text_made"}


def test_what_is_not_too_large_can_be_sent():
    body = "<p>" + "漢" * 80_000 + "</p>"
    detail = CampaignDetail(Campaign("0193a5c4-11f0-7a6b-8c01-2d3e4f506172", "s" * 250, NOW, NOW), Content(body), ())
    mailing = renderer.render(detail)
    assert 480_000 < bulk.json_size(mailing.html, mailing.text) < preflight.LARGEST
    bulk.BulkTemplate(bulk.BulkContent(mailing.subject, mailing.html, mailing.text, mailing.headers_for_all))


def test_small_things_are_noted():
    assert codes("<p>x</p>", text=None) == {"text_made"}
    assert codes("<p>x</p>", subject="x" * 71) == {"long_subject"}


@pytest.mark.parametrize(
    ("account", "people", "expected"),
    [
        (GOOD, 1400, timedelta(seconds=100)),
        (Account(1000, 10, 900, False, True, ""), 100, timedelta(seconds=10)),
        (Account(1000, 10, 1000, False, True, ""), 100, timedelta(days=1, seconds=10)),
        (Account(1000, 10, 900, False, True, ""), 1600, timedelta(days=2, seconds=50)),
        (Account(-1, 100, 0, False, True, ""), 100_000, timedelta(seconds=1000)),
    ],
)
def test_when_it_will_be_finished(account, people, expected):
    assert preflight.estimate_finish(account, people, NOW) == NOW + expected


def test_without_a_rate_no_time_is_promised():
    assert preflight.estimate_finish(Account(0, 0, 0, False, True, ""), 5, NOW) is None
