"""GET and PATCH /admin/api/site, the history, and bringing back an earlier version."""

from datetime import timedelta

import pytest
from PIL import Image

from chalicelib.audience import mails
from chalicelib.kernel import clock, publication
from chalicelib.media import service as media
from chalicelib.site import pictures, service
from tests.rooms.media.pictures import PNG, encode

SITE = "/admin/api/site"
LINK = "https://news.example.org/confirm?token=0198f3c1.secret"
HISTORY = "/admin/api/site/history"
SHAPE = {
    "name": "The Daily Test",
    "tagline": "",
    "logo": None,
    "colours": {"accent": "#0f766e"},
    "language": "en",
    "time_zone": "UTC",
    "postal_address": "",
    "contact_email": "hello@example.org",
    "archive": True,
    "footer": "",
    "design": "plain",
    "confirmation": {"sentence": "", "button": "", "afterwards": ""},
    "welcome": {"on": False, "subject": "", "body": "", "link_last": False},
    "feed": {"mode": "auto", "digest": "off", "digest_at": "", "hold": 0, "images": "copy"},
    "version": 0,
}
NEW = {
    "name": "Der Garten",
    "tagline": "Was wächst",
    "colours": {"accent": "#123456"},
    "language": "de",
    "time_zone": "Europe/Berlin",
    "postal_address": "Am Weg 1, 12345 Berlin",
    "contact_email": "garten@example.org",
    "archive": False,
    "footer": "Gedruckt auf Gras.\nSeit 2019.",
    "design": "letter",
    "confirmation": {"sentence": "Bitte bestätigen.", "button": "Ja", "afterwards": "Danke."},
    "welcome": {"on": True, "subject": "Willkommen", "body": "{{greeting}}", "link_last": True},
    "feed": {"mode": "review", "digest": "weekly", "digest_at": "mon 09:00", "hold": 30, "images": "link"},
}


def told(answer):
    """The fields of the publication."""
    return {name: value for name, value in answer.json.items() if name not in ("environment", "notes")}


def patch(admin, **sent):
    return admin.patch(SITE, json=sent)


def test_before_anybody_changed_it_the_environment_is_told(admin):
    answer = admin.get(SITE)
    assert list(told(answer)) == list(SHAPE)
    digest_at = answer.json["feed"].pop("digest_at")
    assert isinstance(digest_at, str)
    assert told(answer) == SHAPE | {"feed": {k: v for k, v in SHAPE["feed"].items() if k != "digest_at"}}
    assert {"name", "colours.accent", "feed.mode"} <= set(answer.json["environment"])
    assert all("#0f766e" in note for note in answer.json["notes"])


def test_every_field_can_be_changed_and_given_back(admin):
    answer = patch(admin, **NEW)
    assert answer.status == 200
    assert told(answer) == NEW | {"logo": None, "version": 1}
    assert answer.json["environment"] == ["logo"]
    assert told(admin.get(SITE)) == told(answer)
    back = patch(admin, **dict.fromkeys(NEW), version=1)
    assert told(back)["name"] == "The Daily Test"
    assert told(back)["version"] == 2
    assert len(back.json["environment"]) == 23


def test_what_is_left_out_stays(admin):
    patch(admin, **NEW)
    answer = patch(admin, feed={"hold": 5}, confirmation={"button": None})
    assert answer.json["feed"] == NEW["feed"] | {"hold": 5}
    assert answer.json["confirmation"] == NEW["confirmation"] | {"button": ""}
    assert answer.json["name"] == "Der Garten"


def test_the_time_of_digests_is_understood_as_phones_write_it(admin):
    assert patch(admin, feed={"digest_at": " Mon 09:00 "}).json["feed"]["digest_at"] == "mon 09:00"


@pytest.mark.parametrize(
    "sent",
    [
        {"motto": "x"},
        {"colours": {"accent": "#123456", "ink": "#000000"}},
        {"feed": {"url": "https://example.org"}},
        {"welcome": "on"},
        {"language": "tlh"},
        {"language": "EN"},
        {"language": ["en"]},
        {"colours": {"accent": "#12345"}},
        {"colours": {"accent": "red"}},
        {"colours": {"accent": "#123456;}"}},
        {"colours": {"accent": 123456}},
        {"name": ""},
        {"name": "   "},
        {"name": "x" * 256},
        {"name": "a\x00b"},
        {"name": "a\u202eb"},
        {"name": 5},
        {"tagline": "x" * 251},
        {"footer": "\n".join("x" * 13)},
        {"footer": "x" * 1001},
        {"footer": "a\x07"},
        {"contact_email": "nobody"},
        {"contact_email": "a@example.org\r\nBcc: b@example.org"},
        {"time_zone": "Mars/Olympus"},
        {"time_zone": "../../etc/passwd"},
        {"time_zone": ""},
        {"archive": "yes"},
        {"design": "loud"},
        {"feed": {"mode": "sometimes"}},
        {"feed": {"digest": "hourly"}},
        {"feed": {"digest_at": "9:00"}},
        {"feed": {"digest_at": "24:00"}},
        {"feed": {"digest_at": "mo 09:00"}},
        {"feed": {"digest_at": "mon  09:00"}},
        {"feed": {"digest_at": 9}},
        {"feed": {"hold": -1}},
        {"feed": {"hold": 1441}},
        {"feed": {"hold": True}},
        {"feed": {"images": "hotlink"}},
        {"welcome": {"on": 1}},
        {"welcome": {"body": "x" * 5001}},
        {"confirmation": {"button": "x" * 61}},
        {"logo": "https://elsewhere.example/logo.png"},
        {"logo": "/media/" + "0" * 32 + ".png"},
        {"logo": 5},
        {"version": "1"},
        {"version": -1},
        {"version": True},
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(admin, sent):
    answer = patch(admin, **{"tagline": "Kept out", **sent})
    assert answer.status == 400
    assert set(answer.json) == {"error"}
    assert admin.get(SITE).json["version"] == 0


def test_what_was_sent_is_not_repeated_in_errors(admin):
    assert "<script>" not in patch(admin, **{"<script>": 1}).text
    assert "<script>" not in patch(admin, language="<script>").text


def test_a_stale_version_is_refused(admin):
    assert patch(admin, name="One", version=0).status == 200
    answer = patch(admin, name="Two", version=0)
    assert answer.status == 409
    assert admin.get(SITE).json["name"] == "One"
    assert patch(admin, name="Two", version=1).json["version"] == 2


def test_a_change_of_nothing_makes_no_version(admin):
    patch(admin, name="One")
    assert patch(admin, name="One").json["version"] == 1
    assert len(admin.get(HISTORY).json["entries"]) == 1


def test_a_colour_of_low_contrast_is_accepted_and_said(admin):
    answer = patch(admin, colours={"accent": "#FFEE00"})
    assert answer.status == 200
    assert answer.json["colours"] == {"accent": "#ffee00"}
    assert any("hard to read" in note for note in answer.json["notes"])
    style = admin.get("/style.css").text
    assert "--accent: #ffee00" in style
    assert "--accent-line: #ffee00" not in style.partition("prefers-color-scheme")[0]


def test_the_history_says_who_changed_what(admin):
    patch(admin, name="One")
    patch(admin, name="Two", colours={"accent": "#123456"})
    entries = admin.get(HISTORY).json["entries"]
    assert [entry["version"] for entry in entries] == [2, 1]
    assert entries[0]["by"] == "dev@localhost"
    assert entries[0]["changes"] == [
        {"field": "name", "before": "One", "after": "Two"},
        {"field": "colours.accent", "before": "#0f766e", "after": "#123456"},
    ]


def test_an_earlier_version_can_be_brought_back(admin):
    patch(admin, name="One", tagline="First")
    patch(admin, name="Two", tagline=None)
    answer = admin.post(HISTORY, json={"restore": 1, "version": 2})
    assert (answer.json["name"], answer.json["tagline"], answer.json["version"]) == ("One", "First", 3)
    assert admin.get(HISTORY).json["entries"][0]["restored"] == 1
    everything = admin.post(HISTORY, json={"restore": 0})
    assert everything.json["name"] == "The Daily Test"
    assert len(everything.json["environment"]) == 23


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"restore": 9}, 404),
        ({}, 400),
        ({"restore": "1"}, 400),
        ({"restore": 1, "x": 1}, 400),
        ({"restore": 1, "version": 7}, 409),
    ],
)
def test_only_versions_there_are_can_be_brought_back(admin, sent, status):
    patch(admin, name="One")
    assert admin.post(HISTORY, json=sent).status == status


def test_a_change_is_seen_at_once_where_it_was_made(admin):
    assert "The Daily Test" in admin.get("/subscribe").text
    patch(admin, name="Der Garten", footer="Seit 2019.")
    page = admin.get("/subscribe").text
    assert "Der Garten" in page
    assert "Seit 2019." in page
    assert publication.current().version == 1


def test_only_editors_may_see_or_change_it(http):
    assert http.get(SITE).status == 401
    assert http.patch(SITE, json={"name": "x"}).status == 401


def test_markup_in_a_name_is_shown_as_text(admin):
    patch(admin, name="<b>Tom</b> & Jerry", footer="<i>x</i>")
    page = admin.get("/subscribe").text
    assert "<b>Tom" not in page
    assert "&lt;b&gt;Tom&lt;/b&gt; &amp; Jerry" in page
    assert "<i>x</i>" not in page


def logo_of(media_bucket, colour, size=(400, 120)):
    return service.add_logo(encode(Image.new("RGBA", size, colour), PNG))


def test_a_logo_is_shown_small_with_the_name_as_its_text(admin, media_bucket):
    url = logo_of(media_bucket, (10, 20, 30, 128))
    answer = patch(admin, logo=url)
    assert answer.json["logo"] == url
    shown = publication.current()
    assert (shown.logo_width, shown.logo_height) == (160, 48)
    assert f'src="{url}" alt="The Daily Test" width="160" height="48"' in admin.get("/subscribe").text
    assert (
        f'src="{url}" alt="The Daily Test" width="160" height="48"' in mails.confirm_mail("a@example.org", LINK).html
    )
    assert admin.get(url.removeprefix("https://news.example.org")).status == 200
    assert patch(admin, logo=None).json["logo"] is None


def test_a_logo_in_use_stays_and_an_old_one_is_released_in_the_end(admin, media_bucket):
    urls = [logo_of(media_bucket, (n, 0, 0, 255)) for n in range(12)]
    for url in urls:
        assert patch(admin, logo=url).status == 200
    names = [url.rpartition("/")[2] for url in urls]
    assert not media.unpublish(names[-1])
    assert not media.unpublish(names[2])
    assert media.unpublish(names[1])
    assert media.unpublish(names[0])


def test_a_logo_that_is_gone_does_not_come_back_with_its_version(admin, media_bucket):
    urls = [logo_of(media_bucket, (n, 0, 0, 255)) for n in range(12)]
    patch(admin, logo=urls[0], name="One")
    for url in urls[1:]:
        patch(admin, logo=url, name="Two")
    media.unpublish(urls[0].rpartition("/")[2])
    answer = admin.post(HISTORY, json={"restore": 1})
    assert (answer.json["name"], answer.json["logo"]) == ("One", urls[-1])


def test_the_logo_before_comes_back(admin, media_bucket):
    one, two = (logo_of(media_bucket, (n, 0, 0, 255)) for n in (1, 2))
    patch(admin, logo=one)
    patch(admin, logo=two)
    assert admin.post(HISTORY, json={"restore": 1}).json["logo"] == one


def test_the_words_of_the_confirmation_are_the_publications_own(admin):
    patch(
        admin, confirmation={"sentence": "Bitte <b>ja</b> sagen.", "button": "Ja!", "afterwards": "Danke.\nBis bald."}
    )
    mail = mails.confirm_mail("a@example.org", LINK)
    assert "Bitte &lt;b&gt;ja&lt;/b&gt; sagen." in mail.html
    assert ">Ja!</a>" in mail.html
    assert "Bitte <b>ja</b> sagen." in mail.text
    assert LINK in mail.text


def test_the_version_before_is_there_to_undo_a_change_however_old_it_is(admin, monkeypatch):
    start = clock.now()
    patch(admin, name="One")
    monkeypatch.setattr(clock, "now", lambda: start + timedelta(days=400))
    patch(admin, name="Two")
    assert [entry["version"] for entry in admin.get(HISTORY).json["entries"]] == [2, 1]
    assert admin.post(HISTORY, json={"restore": 1}).json["name"] == "One"
    monkeypatch.setattr(clock, "now", lambda: start + timedelta(days=800))
    assert [entry["version"] for entry in admin.get(HISTORY).json["entries"]] == [3]


def test_pictures_in_the_welcome_email_are_in_use_until_it_is_saved_without_them(admin, media_bucket):
    one, other = (media.publish(encode(Image.new("RGB", (30, 20), colour))) for colour in ("teal", "navy"))
    shown = [f"![A picture]({media.copy_url(copy.name)})" for copy in (one, other)]
    missing = f"![Gone](/media/{'0' * 32}.png)"
    assert patch(admin, welcome={"body": "\n\n".join([*shown, missing])}).status == 200
    assert admin.get(f"/admin/api/media/{one.name[:32]}").json["on_site"] is True
    assert [media.unpublish(copy.name) for copy in (one, other)] == [False, False]
    assert patch(admin, welcome={"body": shown[1]}).status == 200
    assert [media.unpublish(copy.name) for copy in (one, other)] == [True, False]
    assert patch(admin, name="Another").status == 200
    assert not media.unpublish(other.name)
    assert patch(admin, welcome=None).status == 200
    assert media.unpublish(other.name)


def test_an_earlier_welcome_email_comes_back_with_the_pictures_that_are_left(admin, media_bucket):
    copies = [media.publish(encode(Image.new("RGB", (30, 20), colour))) for colour in ("teal", "navy")]
    body = "\n\n".join(f"![A picture]({media.copy_url(copy.name)})" for copy in copies)
    first = patch(admin, welcome={"body": body}).json["version"]
    patch(admin, welcome={"body": "None"})
    assert media.unpublish(copies[0].name)
    assert admin.post(HISTORY, json={"restore": first}).status == 200
    assert admin.delete(f"/admin/api/media/{copies[1].name[:32]}").status == 409


def test_a_picture_that_is_logo_and_in_the_welcome_email_is_used_until_it_is_neither(admin, media_bucket):
    url = logo_of(media_bucket, (1, 2, 3, 255))
    name = url.rpartition("/")[2]
    patch(admin, logo=url, welcome={"body": f"![Logo]({url})"})
    found = admin.get(f"/admin/api/media/{name[:32]}").json
    assert (found["uses"], found["used_in"], found["on_site"]) == (1, [], True)
    patch(admin, welcome={"body": "Hello"})
    found = admin.get(f"/admin/api/media/{name[:32]}").json
    assert (found["uses"], found["on_site"]) == (1, True)


def test_too_many_pictures_at_once_are_refused(admin, media_bucket, monkeypatch):
    monkeypatch.setattr(pictures, "MOST_EXCHANGED", 1)
    copies = [media.publish(encode(Image.new("RGB", (30, 20), colour))) for colour in ("teal", "navy")]
    answer = patch(admin, welcome={"body": " ".join(media.copy_url(copy.name) for copy in copies)})
    assert (answer.status, "different pictures" in answer.json["error"]) == (400, True)
