"""/admin/settings: the publication's settings as a form, its preview, conflicts, the logo and the history."""

import re
from html import unescape

import pytest
from PIL import Image

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.model import Counts
from chalicelib.campaigns.sending import deliveries
from chalicelib.kernel.errors import Invalid
from chalicelib.mail import templates
from chalicelib.site import service
from tests.rooms.media.pictures import PNG, encode

PAGE = "/admin/settings"
ORIGIN = {"Origin": "https://news.example.org"}


@pytest.fixture(autouse=True)
def _mail_account(ses):
    """The page asks SES, too."""


def form_of(page):
    """What a browser would send if nobody touched anything."""
    text = re.search(r'<form class="compose two".*?</form>', page.text, re.S)[0]
    found = {}
    for tag in re.findall(r"<input\b[^>]*>", text):
        name, value = (re.search(rf'\b{part}="([^"]*)"', tag) for part in ("name", "value"))
        if not name or (('type="radio"' in tag or 'type="checkbox"' in tag) and " checked" not in tag):
            continue
        found[name[1]] = unescape(value[1])
    for name, value in re.findall(r'<textarea[^>]*name="([^"]*)"[^>]*>\n(.*?)</textarea>', text, re.S):
        found[name] = unescape(value)
    for name, options in re.findall(r'<select[^>]*name="([^"]*)"[^>]*>(.*?)</select>', text, re.S):
        found[name] = re.search(r'value="([^"]*)" selected', options)[1]
    return found


def send(admin, **changes):
    fields = form_of(admin.get(PAGE)) | changes
    return post(admin, {name: value for name, value in fields.items() if value is not None})


def post(admin, fields):
    return admin.post(PAGE, form=fields, **ORIGIN)


def test_saving_what_nobody_touched_changes_nothing(admin, configure):
    configure(DISABLE_AUTH="true", SITE_LANG="de-AT", CONTACT_EMAIL="Us <us@example.org>")
    answer = send(admin)
    assert answer.status == 303
    assert service.view().publication.version == 0


def test_a_field_that_is_changed_is_stored_and_no_other(admin):
    answer = send(admin, name="Der Garten", **{"feed.hold": "15", "welcome.on": "yes", "archive": None})
    assert answer.headers["Location"] == f"{PAGE}?notice=site-saved"
    site = service.view()
    assert (site.publication.name, site.publication.feed.hold) == ("Der Garten", 15)
    assert site.publication.welcome.on
    assert not site.publication.archive
    assert len(site.environment) == 23 - 4
    page = admin.get(PAGE).text
    assert "dev@localhost" in page
    assert ": The Daily Test." in page


def test_lines_of_a_browser_are_lines(admin):
    send(admin, footer="One\r\nTwo")
    assert service.view().publication.footer == "One\nTwo"
    assert send(admin).status == 303
    assert service.view().publication.version == 1


def test_a_field_goes_back_to_its_default(admin):
    send(admin, name="Der Garten", tagline="Was wächst")
    assert send(admin, reset="name").status == 303
    site = service.view()
    assert (site.publication.name, site.publication.tagline) == ("The Daily Test", "Was wächst")


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("name", "", "Name must not be empty"),
        ("feed.hold", "soon", "The hold must be"),
        ("contact_email", "x", "not valid"),
    ],
)
def test_what_is_refused_stays_in_the_form(admin, field, value, said):
    answer = send(admin, tagline="Kept &amp; shown", **{field: value})
    assert answer.status == 400
    assert said in answer.text
    assert "Kept &amp;amp; shown" in answer.text
    assert service.view().publication.version == 0


def test_two_editors_see_both_and_the_second_decides(admin):
    mine = form_of(admin.get(PAGE)) | {"name": "Mine", "tagline": "My tagline"}
    service.change({"name": "Theirs", "footer": "Their footer"}, "other@example.org")
    answer = post(admin, mine)
    assert answer.status == 409
    assert service.view().publication.name == "Theirs"
    shown = form_of(answer)
    assert (shown["name"], shown["tagline"], shown["footer"]) == ("Mine", "My tagline", "Their footer")
    table = answer.text.partition('id="both"')[2].partition("</table>")[0]
    assert "Theirs" in table
    assert "Mine" in table
    assert post(admin, shown).status == 303
    after = service.view().publication
    assert (after.name, after.tagline, after.footer) == ("Mine", "My tagline", "Their footer")


@pytest.mark.parametrize(
    ("view", "shown"),
    [
        ("campaign", "Your next campaign"),
        ("confirmation", "Bitte ja."),
        ("welcome", "Welcome to Der Garten"),
        ("page", "Get Der Garten by email"),
        ("afterwards", "Danke sehr."),
    ],
)
def test_the_preview_shows_what_is_not_saved(admin, view, shown):
    words = {"confirmation.sentence": "Bitte ja.", "confirmation.afterwards": "Danke sehr."}
    answer = send(
        admin, name="Der Garten", action="preview", view=view, look="dark", **words, **{"colours.accent": "#aa0000"}
    )
    assert answer.status == 200
    assert shown in answer.text
    assert "Der Garten" in answer.text
    assert "#aa0000" in answer.text
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    assert "prefers-color-scheme" not in answer.text
    assert service.view().publication.version == 0
    assert "Der Garten" not in admin.get("/subscribe").text


MARKS = {"plain": 'class="dot"', "letter": "Georgia", "magazine": 'class="masthead"'}


def test_the_design_is_chosen_and_a_campaign_has_it(admin):
    page = admin.get(PAGE).text
    assert re.findall(r'name="design" value="(\w+)"( checked)?', page) == [
        ("plain", " checked"), ("letter", ""), ("magazine", ""),
    ]  # fmt: skip
    assert send(admin, design="letter").status == 303
    assert service.view().publication.design == "letter"
    made = admin.post("/admin/api/campaigns", json={"subject": "s", "body": "<p>x</p>"}).json
    assert made["design"] is None
    assert MARKS["letter"] in admin.get(f"/admin/api/campaigns/{made['id']}/preview").text
    assert send(admin, design="loud").status == 400


@pytest.mark.parametrize("design", MARKS)
def test_each_design_is_shown_with_the_last_campaign_that_was_sent(admin, design):
    example = send(admin, action="preview", view="campaign", design=design).text
    assert "Your next campaign" in example
    assert MARKS[design] in example
    for subject in ("An older one", "The real last one"):
        made = campaigns.create(campaigns.Draft(subject, "<p>Mostly nothing</p>", design="magazine"))
        deliveries.finish(campaigns.send_now(made.campaign.id).deliveries[0], Counts(1, 1))
    campaigns.create(campaigns.Draft("Not sent", "<p>x</p>"))
    for look in ("light", "phone", "dark"):
        shown = send(admin, action="preview", view="campaign", design=design, look=look).text
        assert "The real last one" in shown
        assert [name for name, mark in MARKS.items() if mark in shown] == [design]
        assert ("@media not all" in shown) == (look != "dark")
    assert service.view().publication.version == 0


def test_a_last_campaign_that_cannot_be_rendered_is_no_obstacle(admin, monkeypatch):
    made = campaigns.create(campaigns.Draft("Broken", "<p>x</p>"))
    deliveries.finish(campaigns.send_now(made.campaign.id).deliveries[0], Counts(1, 1))
    render = renderer.render

    def refuse(detail, *given):
        if detail.campaign.subject == "Broken":
            raise Invalid("Body cannot be read")
        return render(detail, *given)

    monkeypatch.setattr(renderer, "render", refuse)
    assert "Your next campaign" in send(admin, action="preview", view="campaign").text


def test_where_a_deployment_has_its_own_template_the_page_says_so(admin, monkeypatch):
    assert "takes the place of all designs" not in admin.get(PAGE).text + admin.get("/admin/campaigns/new").text
    monkeypatch.setattr(templates, "has_own", lambda name: name == "campaign.html")
    for page in (PAGE, "/admin/campaigns/new"):
        assert "takes the place of all designs" in admin.get(page).text


@pytest.mark.parametrize("field", ["welcome.subject", "welcome.body"])
def test_a_welcome_email_that_readers_would_see_as_typed_is_refused_and_kept_in_the_form(admin, field):
    answer = send(admin, tagline="Kept", **{field: "Hello {{first_name}}"})
    assert answer.status == 400
    assert "The welcome email:" in answer.text
    assert form_of(answer)[field] == "Hello {{first_name}}"
    assert service.view().publication.version == 0
    assert send(admin, **{field: r"{{greeting|Hello}} \{{first_name}}"}).status == 303


def test_a_preview_of_what_cannot_be_says_why(admin):
    answer = send(admin, name="", action="preview", view="page")
    assert answer.status == 200
    assert "Name must not be empty" in answer.text


def upload(admin, content, **fields):
    boundary = "x-boundary"
    body = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n' for k, v in fields.items()
    ).encode()
    body += (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="l.png"\r\n\r\n'.encode() + content
    )
    body += f"\r\n--{boundary}--\r\n".encode()
    return admin.post(PAGE, body=body, Content_Type=f"multipart/form-data; boundary={boundary}", **ORIGIN)


def test_a_logo_is_uploaded_shown_and_removed(admin, media_bucket):
    answer = upload(admin, encode(Image.new("RGB", (800, 200), "navy"), PNG), action="logo")
    assert answer.status == 303
    logo = service.view().publication.logo
    assert logo in admin.get(PAGE).text
    assert logo in admin.get("/subscribe").text
    assert post(admin, {"action": "logo", "remove": "yes"}).status == 303
    assert service.view().publication.logo == ""


def test_what_is_no_picture_is_refused(admin, media_bucket):
    assert upload(admin, b"<svg onload='x'/>", action="logo").status == 400
    assert upload(admin, b"", action="logo").status == 400
    assert service.view().publication.version == 0


def test_a_change_is_undone_on_the_page(admin):
    send(admin, name="One")
    send(admin, name="Two")
    assert post(admin, {"action": "restore", "restore": "1", "version": "2"}).status == 303
    assert service.view().publication.name == "One"
    stale = post(admin, {"action": "restore", "restore": "0", "version": "2"})
    assert stale.status == 409


def test_another_site_cannot_change_it(admin):
    fields = form_of(admin.get(PAGE)) | {"name": "Stolen"}
    assert admin.post(PAGE, form=fields, Origin="https://evil.example").status == 403
    assert service.view().publication.version == 0


def test_the_page_stays_small_whatever_is_in_it(admin):
    for number in range(12):
        service.change(
            {
                "name": f"{number}" + "ä" * 254,
                "tagline": "ä" * 250,
                "footer": "ä" * 1000,
                "postal_address": "ä" * 1000,
                "confirmation.sentence": "ä" * 1000,
                "confirmation.afterwards": "ä" * 1000,
                "welcome.subject": "ä" * 250,
                "welcome.body": f"{number}" + "ä" * 4900,
            },
            "somebody-with-a-long-address@example.org",
        )
    size = len(admin.get(PAGE).text.encode())
    assert size < 60_000, size
