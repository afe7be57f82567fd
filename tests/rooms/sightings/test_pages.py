"""The pages of a member's sightings, as a browser without scripts uses them."""

import re
from html import unescape

import pytest

from chalicelib.kernel import ids
from chalicelib.kernel.errors import Unavailable
from chalicelib.media import service as media
from chalicelib.members import sessions
from tests.conftest import received
from tests.rooms.sightings.person import BOUNDARY, HERE, Person, file_part, jpeg, png, prepare_photos, text_part

LARGEST_PAGE = 60 * 1024


def show(person, path):
    return person.ask("GET", f"/sightings{path}")


def send(person, path, photo=None, **fields):
    """The form, as `multipart/form-data`; a field for a file that was left empty is sent, too."""
    parts = [text_part(name, value) for name, value in fields.items()] + [file_part(photo or b"")]
    body = b"".join(b"--" + BOUNDARY.encode() + b"\r\n" + part + b"\r\n" for part in parts)
    kind = f"multipart/form-data; boundary={BOUNDARY}"
    body += f"--{BOUNDARY}--\r\n".encode()
    return person.ask("POST", f"/sightings{path}", body=body, Content_Type=kind, Origin=HERE)


def post(person, path, **fields):
    return person.ask("POST", f"/sightings{path}", form=fields, Origin=HERE)


def hidden(page):
    found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', page.text)
    return {name: unescape(value) for name, value in found}


def problem(page):
    text = re.search(r'<p class="why" id="(\w+)-why" role="alert">(.*?)</p>', page.text)
    return (text[1], unescape(text[2])) if text else None


def names(page):
    return [unescape(name) for name in re.findall(r'<h2><a href="/sightings/\w{32}">(.*?)</a></h2>', page.text)]


def written(answer):
    """What a form has written down, by its id."""
    assert answer.status == 303, answer.text
    return {"id": re.match(r"/sightings/(\w{32})\?notice=", answer.headers["Location"])[1]}


def test_a_new_sighting_with_a_photo(ada):
    form = show(ada, "/new")
    assert form.status == 200
    answer = send(ada, "/new", jpeg(), animal_name=" Red fox ", location="Shed", **hidden(form))
    page = show(ada, f"/{written(answer)['id']}?notice=created")
    assert "Your sighting is saved." in page.text
    assert "Being prepared" in page.text
    prepare_photos()
    seen = ada.read(written(answer))
    assert (seen["animal_name"], seen["photo_format"]) == ("Red fox", "image/jpeg")
    image = re.search(
        r'<img class="photo" src="([^"]+)" width="6" height="4" alt="Photo of Red fox"',
        show(ada, f"/{seen['id']}").text,
    )
    assert unescape(image[1]).startswith("https://gna-test-media")


def test_a_photo_that_cannot_be_used_is_explained(ada):
    sighting = ada.see(upload_id=ada.upload_signed(png()[:30]))
    prepare_photos()
    assert "No photo: The photo could not be read" in show(ada, f"/{sighting['id']}").text
    assert "No photo: The photo could not be read" in show(ada, "").text


@pytest.mark.parametrize(
    ("fields", "status", "field", "text"),
    [
        ({"animal_name": " "}, 400, "animal_name", "Animal name is required"),
        ({"animal_name": "x" * 201}, 400, "animal_name", "Animal name too long (max 200 chars)"),
        ({"location": ""}, 400, "location", "Location is required"),
        ({"location": "x" * 501}, 400, "location", "Location too long (max 500 chars)"),
        ({"upload_id": "x"}, 400, "photo", "Upload not found"),
        ({"photo": b"GIF89a"}, 400, "photo", "Only JPEG, PNG, WebP formats allowed"),
        ({"photo": bytes(5_242_881)}, 400, "photo", "File size must be under 5MB"),
        ({"photo": bytes(4_194_305)}, 413, "photo", "This photo has more than 4 MB"),
    ],
)
def test_a_mistake_is_explained_beside_its_field_and_the_rest_is_kept(ada, fields, status, field, text):
    given = {"animal_name": "Red fox & co", "location": "Shed", **fields}
    page = send(ada, "/new", **given)
    assert page.status == status
    found = problem(page)
    assert (found[0], found[1].startswith(text)) == (field, True)
    values = {
        name: unescape(value) for name, value in re.findall(r'id="(\w+)" name="\w+" value="([^"]*)"', page.text)
    }
    assert values == {name: given[name] for name in ("animal_name", "location")}
    assert ("Please choose the photo again." in page.text) == (field == "photo")
    assert ada.get().json["items"] == []


@pytest.mark.parametrize("character", ["&", " ", "\u0301"])
def test_of_very_long_texts_only_the_beginning_comes_back(ada, character):
    sighting, long = ada.see(), character * 20_000
    for path in ("/new", f"/{sighting['id']}/edit"):
        for name in ("animal_name", "location", "upload_id", "once", "updated_at"):
            page = send(ada, path, **{"animal_name": "", "location": "Shed", name: long})
            assert (page.status, len(page.body) < LARGEST_PAGE) == (400, True), (path, name)
    compared = send(ada, f"/{sighting['id']}/edit", animal_name="Fox", location="Shed", upload_id=long)
    assert (compared.status, len(compared.body) < LARGEST_PAGE) == (409, True)
    refused = post(ada, f"/{sighting['id']}/share", shown_location=long[:10_000] + ".", credit=long[:10_000] + "\0")
    assert (refused.status, len(refused.body) < LARGEST_PAGE) == (400, True)
    assert len(post(ada, "", q=f"{long}x").body) < LARGEST_PAGE


def test_a_photo_outlives_a_mistake_in_another_field(ada):
    page = send(ada, "/new", png(), animal_name="", location="Shed")
    assert "Your photo is uploaded" in page.text
    answer = send(ada, "/new", animal_name="Red fox", **{"location": "Shed", **hidden(page)})
    assert ada.read(written(answer))["photo_state"] == "processing"


def test_when_the_bucket_is_away_everything_typed_is_still_there(ada, monkeypatch):
    def away(*ignored):
        raise Unavailable

    monkeypatch.setattr(media, "receive", away)
    page = send(ada, "/new", png(), animal_name="Red fox", location="Shed")
    assert page.status == 503
    assert 'value="Red fox"' in page.text
    assert "Please choose the photo again." in page.text
    assert page.headers["Retry-After"]


def test_sending_a_form_twice_writes_one_sighting(ada):
    form = hidden(show(ada, "/new"))
    answers = [send(ada, "/new", png(), animal_name="Red fox", location="Shed", **form) for _ in range(2)]
    assert written(answers[0]) == written(answers[1])
    assert len(ada.get().json["items"]) == ada.counts()[0] == 1


def test_going_back_to_the_form_to_write_something_else_makes_another(ada):
    form = hidden(show(ada, "/new"))
    for name in ("Red fox", "Owl", "Owl"):
        send(ada, "/new", animal_name=name, location="Shed", **form)
    assert [item["animal_name"] for item in ada.get().json["items"]] == ["Owl", "Red fox"]
    assert ada.counts()[0] == 2


def test_going_back_to_the_form_to_add_a_photo_adds_it(ada):
    form = hidden(show(ada, "/new"))
    answers = [send(ada, "/new", photo, animal_name="Red fox", location="Shed", **form) for photo in (None, png())]
    assert written(answers[0]) == written(answers[1])
    assert ada.read(written(answers[0]))["photo_state"] == "processing"
    assert ada.counts()[0] == 1


@pytest.mark.parametrize(
    "once", ["x", "", "ffffffff-ffff-7fff-bfff-ffffffffffff", "00000000-0000-7000-8000-000000000000"]
)
def test_an_id_that_no_form_of_today_had_is_not_used(ada, once):
    for _ in range(2):
        written(send(ada, "/new", animal_name="Red fox", location="Shed", once=once))
    assert ada.counts()[0] == 2


def test_the_form_of_one_member_says_nothing_about_those_of_another(ada, bob):
    once = ids.new()
    for person in (ada, bob):
        send(person, "/new", animal_name="Red fox", location="Shed", once=once)
    assert (ada.counts()[0], bob.counts()[0]) == (1, 1)


def test_editing(ada):
    sighting = ada.see(upload_id=ada.upload())
    prepare_photos()
    form = show(ada, f"/{sighting['id']}/edit")
    assert 'value="Red Fox"' in form.text
    answer = send(ada, f"/{sighting['id']}/edit", animal_name="Vixen", location="Shed", **hidden(form))
    assert answer.headers["Location"] == f"/sightings/{sighting['id']}?notice=saved"
    changed = ada.read(sighting)
    assert (changed["animal_name"], changed["photo_state"]) == ("Vixen", "ready")
    form = hidden(show(ada, f"/{sighting['id']}/edit"))
    send(ada, f"/{sighting['id']}/edit", animal_name="Vixen", location="Shed", remove_photo="yes", **form)
    assert ada.read(sighting)["photo_state"] == "none"
    form = hidden(show(ada, f"/{sighting['id']}/edit"))
    send(ada, f"/{sighting['id']}/edit", jpeg(), animal_name="Vixen", location="Shed", remove_photo="yes", **form)
    assert ada.read(sighting)["photo_state"] == "processing"


def test_a_conflict_shows_both_versions_and_lets_choose(ada):
    sighting = ada.see()
    form = hidden(show(ada, f"/{sighting['id']}/edit"))
    ada.change(sighting, animal_name="Vixen")
    page = send(ada, f"/{sighting['id']}/edit", png(), animal_name="Dog fox", location="Central Park", **form)
    assert page.status == 409
    assert "<mark>Vixen</mark>" in page.text
    assert 'value="Dog fox"' in page.text
    assert ada.read(sighting)["animal_name"] == "Vixen"
    kept = hidden(page)
    assert set(kept) == {"updated_at", "upload_id"}
    answer = post(ada, f"/{sighting['id']}/edit", animal_name="Dog fox", location="Central Park", **kept)
    assert answer.status == 303
    saved = ada.read(sighting)
    assert (saved["animal_name"], saved["photo_state"]) == ("Dog fox", "processing")


def test_a_second_click_on_save_is_no_conflict(ada):
    sighting = ada.see()
    form = hidden(show(ada, f"/{sighting['id']}/edit"))
    for _ in range(2):
        answer = send(ada, f"/{sighting['id']}/edit", animal_name="Vixen", location="Shed", **form)
        assert answer.headers["Location"] == f"/sightings/{sighting['id']}?notice=saved"


@pytest.mark.parametrize("version", ["", "x", "-1", "9" * 30, "١"])
def test_a_version_that_was_never_read_is_a_conflict(ada, version):
    sighting = ada.see()
    page = send(ada, f"/{sighting['id']}/edit", animal_name="Vixen", location="Shed", updated_at=version)
    assert page.status == 409


def test_somebody_elses_sighting_is_not_found(ada, bob):
    sighting = ada.see()
    for part in ("", "/edit", "/delete", "/share"):
        assert show(bob, f"/{sighting['id']}{part}").status == 404
    assert send(bob, f"/{sighting['id']}/edit", animal_name="x", location="y").status == 404
    for part in ("/delete", "/share", "/share/withdraw"):
        assert post(bob, f"/{sighting['id']}{part}").status == 404
    assert show(ada, "/x").status == 404
    assert ada.read(sighting)["animal_name"] == "Red Fox"


def test_deleting_asks_first(ada):
    sighting = ada.see()
    assert "Delete this sighting?" in show(ada, f"/{sighting['id']}/delete").text
    assert post(ada, f"/{sighting['id']}/delete").headers["Location"] == "/sightings?notice=deleted"
    assert show(ada, f"/{sighting['id']}").status == 404
    assert post(ada, f"/{sighting['id']}/delete").status == 404


def test_sharing_begins_empty_and_shows_what_was_chosen(ada, desk):
    sighting = ada.see()
    page = show(ada, f"/{sighting['id']}/share").text
    assert page.count('value=""') == 2
    assert "Central Park" not in page
    long = post(ada, f"/{sighting['id']}/share", shown_location="Somerset", credit="x" * 101)
    assert (long.status, problem(long)) == (400, ("credit", "Credit too long (max 100 chars)"))
    assert 'value="Somerset"' in long.text
    answer = post(ada, f"/{sighting['id']}/share", shown_location="Somerset", credit="")
    assert answer.headers["Location"] == f"/sightings/{sighting['id']}?notice=shared"
    assert [item["shown_location"] for item in desk().json["items"]] == ["Somerset"]
    assert "Somerset" in show(ada, f"/{sighting['id']}").text
    assert 'value="Somerset"' in show(ada, f"/{sighting['id']}/share").text
    post(ada, f"/{sighting['id']}/share/withdraw")
    assert desk().json["items"] == []


def test_who_is_not_verified_is_told_what_to_do_before_sharing(http):
    eve = Person(http, "eve", verified=False)
    sighting = eve.see()
    page = show(eve, f"/{sighting['id']}/share")
    assert "please verify your email address" in page.text
    refused = post(eve, f"/{sighting['id']}/share", shown_location="Somerset", credit="Eve")
    assert (refused.status, "Verify your email address first" in refused.text) == (403, True)
    assert 'value="Somerset"' in refused.text


def test_the_list_searches_without_a_trace_in_the_url(ada):
    for name in ("Red fox", "Owl", "Arctic fox"):
        ada.see(name, "Lane" if name == "Owl" else "Shed")
    assert names(show(ada, "")) == ["Arctic fox", "Owl", "Red fox"]
    assert names(post(ada, "", q="FOX")) == ["Arctic fox", "Red fox"]
    assert names(post(ada, "", q=" lane ")) == ["Owl"]
    nothing = post(ada, "", q="yeti <b>")
    assert "Nothing found for “yeti &lt;b&gt;”" in nothing.text
    assert 'method="post" action="/sightings"' in nothing.text
    assert post(ada, "", q="x" * 501).status == 400


def test_a_search_is_marked_as_its_members_own_without_naming_them(ada, bob):
    """The browser keeps it in its history, where the next member must not find it."""
    marks = []
    for person in (ada, bob, ada):
        person.see()
        page = show(person, "").text
        assert person.id not in page
        assert person.id.replace("-", "") not in page
        marks.append(re.search(r'data-search="([0-9a-f]{16})"', page)[1])
    assert marks[0] == marks[2] != marks[1]


def test_pages_follow_one_another(ada, bob):
    for number in range(14):
        ada.see(f"Fox {number}")
    first = show(ada, "")
    cursor = re.search(r'href="/sightings\?cursor=([^"]+)"', first.text)[1]
    second = show(ada, f"?cursor={cursor}")
    assert names(first) + names(second) == [f"Fox {number}" for number in reversed(range(14))]
    assert "cursor=" not in second.text
    found = post(ada, "", q="fox")
    assert names(post(ada, "", **hidden(found))) == ["Fox 1", "Fox 0"]
    assert show(bob, f"?cursor={cursor}").status == 400


def test_an_empty_list_says_how_to_begin(ada):
    page = show(ada, "").text
    assert "Add your first sighting" in page
    assert 'role="search"' not in page


def test_times_are_words_for_people_and_numbers_for_programs(ada):
    sighting = ada.see()
    found = re.search(
        r'<time datetime="(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)" data-local>(.*?)</time>',
        show(ada, f"/{sighting['id']}").text,
    )
    assert re.fullmatch(r"\d{1,2} [A-Z][a-z]+ \d{4}, \d\d:\d\d UTC", found[2])


def test_only_these_pages_may_load_from_the_bucket(ada):
    policy = show(ada, "").headers["Content-Security-Policy"]
    bucket = "https://gna-test-media-000000000000.s3.eu-west-1.amazonaws.com"
    assert f"img-src 'self' data: blob: {bucket};" in policy
    assert f"connect-src 'self' {bucket};" in policy
    assert bucket not in ada.ask("GET", "/account").headers["Content-Security-Policy"]


def test_an_ended_session_brings_the_form_back_filled_in(ada, monkeypatch):
    sighting = ada.see()
    signed_in = ada.cookie
    ada.cookie = "__Host-session=x"
    fields = {"animal_name": "Vixen", "location": "Behind “the” shed", "updated_at": str(sighting["updated_at"])}
    page = send(ada, f"/{sighting['id']}/edit", png(), **fields)
    assert page.status == 401
    kept = hidden(page)
    assert kept["draft_photo_chosen"] == "yes"
    value = signed_in.partition("=")[2]
    monkeypatch.setattr("chalicelib.members.service.sign_in", lambda *_, **__: (None, value))
    form = ada.ask("POST", "/sign-in", form={**kept, "email": "a@b.example", "password": "x"}, Origin=HERE)
    assert (form.status, form.headers["Location"]) == (200, None)
    assert f"session={value}" in form.headers["Set-Cookie"]
    assert 'value="Behind “the” shed"' in form.text
    assert "Please choose the photo again." in form.text
    assert "blob:" in form.headers["Content-Security-Policy"]
    ada.cookie = signed_in
    answer = send(ada, f"/{sighting['id']}/edit", **{**fields, **hidden(form)})
    assert answer.status == 303


def test_a_form_of_something_that_is_gone_still_signs_in(ada, bob, monkeypatch):
    sighting = bob.see()
    value = ada.cookie.partition("=")[2]
    monkeypatch.setattr("chalicelib.members.service.sign_in", lambda *_, **__: (None, value))
    draft = {"draft_path": f"/sightings/{sighting['id']}/edit", "draft_animal_name": "x"}
    answer = ada.ask("POST", "/sign-in", form={**draft, "email": "a", "password": "b"}, Origin=HERE)
    assert (answer.status, f"session={value}" in answer.headers["Set-Cookie"]) == (404, True)


def test_a_search_survives_an_ended_session_too(ada, monkeypatch):
    ada.see("Red fox")
    ada.see("Owl")
    value = ada.cookie.partition("=")[2]
    monkeypatch.setattr("chalicelib.members.service.sign_in", lambda *_, **__: (None, value))
    draft = {"draft_path": "/sightings", "draft_q": "owl", "email": "a", "password": "b"}
    assert names(ada.ask("POST", "/sign-in", form=draft, Origin=HERE)) == ["Owl"]


def test_nothing_written_is_in_a_redirect_or_a_log(ada, capsys):
    ada.cookie = "__Host-session=x"
    answer = send(ada, "/new", animal_name="Secret fox", location="Secret shed")
    assert answer.headers["Location"] is None
    assert "Secret" not in capsys.readouterr().out


def test_no_page_is_larger_than_60_kb(ada, monkeypatch):
    """A link signed with the credentials of a function has a token of more than a thousand characters."""
    sign = media.sign
    monkeypatch.setattr(
        media, "sign", lambda picture, small: f"{sign(picture, small)}&X-Amz-Security-Token={'%2F' * 450}"
    )
    for _ in range(13):
        sighting = ada.see("&" * 200, "&" * 500, upload_id=ada.upload())
        prepare_photos()
        ada.share(sighting, shown_location="&" * 200, credit="&" * 100)
    pages = [show(ada, ""), post(ada, "", q="&" * 200)]
    pages += [show(ada, f"/{sighting['id']}{part}") for part in ("", "/edit", "/delete", "/share")]
    pages.append(send(ada, f"/{sighting['id']}/edit", animal_name="<" * 200, location="<" * 500))
    assert [page.status for page in pages] == [200] * 6 + [409]
    assert max(len(page.body) for page in pages) < LARGEST_PAGE


def test_a_member_who_has_gone_meanwhile_is_signed_out(ada, monkeypatch):
    from chalicelib.members import service as members

    found = sessions.find(ada.cookie.partition("=")[2])
    members.close(ada.id)
    monkeypatch.setattr(sessions, "find", lambda value: found)
    page = send(ada, "/new", animal_name="Red fox", location="Shed")
    assert (page.status, "You are signed out" in page.text) == (401, True)
    received("members")


def test_what_was_written_about_a_sighting_that_is_gone_can_be_saved_as_a_new_one(ada):
    gone = ada.see("Red fox", "Shed")
    ada.delete(gone)
    page = send(ada, f"/{gone['id']}/edit", animal_name="Red fox with cubs", location="Behind the shed")
    assert page.status == 404
    for words in ("does not exist any more", "New sighting", 'value="Red fox with cubs"', 'value="Behind the shed"'):
        assert words in page.text
    assert show(ada, f"/{gone['id']}/edit").status == 404
