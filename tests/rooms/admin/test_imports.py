import io
import re
import zipfile

import pytest

from chalicelib.admin import import_form, import_words
from chalicelib.audience import erasure, listing
from chalicelib.audience.imports import jobs, service
from chalicelib.audience.imports.model import Columns, Import, Result, State
from chalicelib.audience.listing import Filter
from chalicelib.kernel import clock
from chalicelib.kernel.errors import Invalid
from tests.conftest import received
from tests.rooms.admin.conftest import ORIGIN, text
from tests.rooms.admin.test_page_size import LARGEST

LIST = """Email,First Name,Status
ada@example.net,Ada,active
bo@example.net,Bo,active
cy@example.net,Cy,unsubscribed
no address,,
"""
CONSENT = {"joined": "double", "statement": "They confirmed on my old site."}


def _upload(dashboard, content, name="list.csv"):
    content = content if isinstance(content, bytes) else content.encode()
    head = f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\nContent-Type: text/csv\r\n\r\n'
    body = head.encode() + content + b"\r\n--x--\r\n"
    content_type = "multipart/form-data; boundary=x"
    return dashboard.http.post("/admin/imports", body=body, Content_Type=content_type, Origin=ORIGIN)


@pytest.fixture
def bring(dashboard, media_bucket):
    """`bring(text)`: the path of the page of an import that was read."""

    def send(content=LIST, name="list.csv"):
        answer = _upload(dashboard, content, name)
        assert answer.status == 303, text(answer)
        return answer.headers["Location"]

    return send


def _work():
    while messages := received("feed"):
        for message in messages:
            jobs.work(message["import_id"], lambda: True)


def _found(path):
    return service.view(path.rpartition("/")[2]).found


def _people():
    return {entry.email: entry for entry in listing.page(Filter(), 1, 50).items}


def test_a_file_is_read_and_nothing_of_anybody_is_kept(dashboard, bring):
    seen = dashboard.see(bring())
    assert "Of 4 rows, 2 people would be imported and 2 rows would not." in seen
    assert "2 Would be imported" in seen
    assert "1 Left or bounced" in seen
    assert "1 No address" in seen
    assert "4 Rows" in seen
    assert "ada@example.net" in seen
    assert _people() == {}


def test_a_list_is_imported_from_the_page(dashboard, bring):
    path = bring()
    seen = dashboard.follow(path, action="start", source="old list", tags="garden, seeds", **CONSENT)
    assert "The import has started." in seen
    assert "Cancel import" in seen
    assert '<meta http-equiv="refresh"' in dashboard.get(path).text
    _work()
    seen = dashboard.see(path)
    assert "2 people imported" in seen
    assert "They confirmed on my old site." in seen
    assert "Rows that were not imported" in seen
    assert '<meta http-equiv="refresh"' not in dashboard.get(path).text
    assert {(entry.email, entry.nickname, tuple(sorted(entry.tags))) for entry in _people().values()} == {
        ("ada@example.net", "Ada", ("garden", "seeds")),
        ("bo@example.net", "Bo", ("garden", "seeds")),
    }


def test_pasted_lines_are_a_list(dashboard, media_bucket):
    answer = dashboard.post("/admin/imports", pasted="ada@example.net\nBo <bo@example.net>\n")
    assert answer.status == 303
    seen = dashboard.see(answer.headers["Location"])
    assert "All of the 2 rows would be imported." in seen
    assert "Recognised as a list of addresses" in seen
    assert "1 address was repaired" in seen


def test_a_whole_zip_of_mailchimp_is_recognised(dashboard, bring):
    packed = io.BytesIO()
    header = "Email Address,First Name,Last Name,MEMBER_RATING,OPTIN_TIME,CONFIRM_TIME,LEID,EUID,NOTES,TAGS\n"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(
            "subscribed_1.csv", header + "ada@example.net,Ada,L,2,2020-01-02 03:04:05,2020-01-02 03:05:00,1,2,,\n"
        )
        archive.writestr(
            "unsubscribed_1.csv", header + "bo@example.net,Bo,M,2,2020-01-02 03:04:05,2020-01-02 03:05:00,1,2,,\n"
        )
    seen = dashboard.see(bring(packed.getvalue(), "mailchimp.zip"))
    assert "Recognised as Mailchimp" in seen
    assert "Of 2 rows, 1 person would be imported" in seen


def test_the_name_of_a_file_says_who_is_in_it(dashboard, bring):
    header = "Email Address,First Name,Last Name,MEMBER_RATING,OPTIN_TIME,CONFIRM_TIME,LEID,EUID,NOTES,TAGS\n"
    path = bring(header + "ada@example.net,Ada,L,2,,,1,2,,\n", "unsubscribed_segment_export_1.csv")
    seen = dashboard.see(path)
    assert "unsubscribed_segment_export_1.csv" in seen
    assert "0 Would be imported" in seen


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "Choose a file, or paste some addresses"),
        (b"PK\x03\x04broken", "zip"),
        (b"\x89PNG\x00\x01\x02" * 50, "text"),
    ],
)
def test_what_is_no_list_is_refused_on_the_page(dashboard, media_bucket, content, reason):
    answer = _upload(dashboard, content)
    assert answer.status == 400
    assert reason in text(answer)
    assert "From a file" in text(answer)


def test_a_file_that_is_too_large_for_a_form_is_refused_with_what_to_do(dashboard, media_bucket):
    answer = _upload(dashboard, b"a@example.net\n" * 320_000)
    assert answer.status == 413
    assert "4 MB" in text(answer)
    assert _upload(dashboard, b"x" * 6_000_001).status == 413


def test_columns_can_be_mapped_by_hand(dashboard, bring):
    path = bring("Wer,Wo\nAda,ada@example.net\n")
    seen = dashboard.follow(path, action="read", column_0="name", column_1="email", header="yes", delimiter="comma")
    assert "Read again." in seen
    assert _found(path).wanted.mapping["name"] == 0
    dashboard.post(path, action="start", **CONSENT)
    _work()
    assert _people()["ada@example.net"].nickname == "Ada"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"column_0": "email", "column_1": "email"}, "Two columns are both “Email address”"),
        ({"column_0": "name"}, "Choose the column with the email address"),
        ({"column_9": "email"}, "load the page again"),
        ({"column_x": "email"}, "load the page again"),
        ({"column_0": "password"}, "load the page again"),
        ({"encoding": "ebcdic"}, "encoding must be one of"),
    ],
)
def test_a_mapping_that_makes_no_sense_is_refused(dashboard, bring, fields, reason):
    answer = dashboard.post(bring(), action="read", **fields)
    assert answer.status == 400
    assert reason in text(answer)


def test_a_file_of_bounces_is_imported_as_that(dashboard, bring):
    path = bring()
    dashboard.follow(path, action="read", status="bounced", header="yes", column_0="email")
    assert _found(path).counts["imported"] == 0
    assert 'value="bounced" selected' in dashboard.get(path).text


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "Say how they joined"),
        ({"joined": "perhaps"}, "Say how they joined"),
        ({"joined": "double"}, "Say in your own words how they joined"),
        ({"joined": "double", "statement": "x" * 501}, "at most 500 characters"),
        ({"joined": "single", "statement": "x", "last_mailed": "yesterday"}, "must be a date"),
        ({"joined": "double", "statement": "x", "tags": "y" * 65}, "Each tag must be"),
    ],
)
def test_nothing_starts_without_an_answer_to_how_they_joined(dashboard, bring, fields, reason):
    path = bring()
    answer = dashboard.post(path, action="start", **fields)
    assert answer.status == 400
    assert reason in text(answer)
    assert _found(path).state is State.READ
    if fields.get("statement") == "x":
        assert ">x</textarea>" in answer.text


def test_who_is_unsure_is_offered_the_link_to_share_instead(dashboard, bring):
    path = bring()
    answer = dashboard.post(path, action="start", joined="unsure")
    assert answer.status == 200
    assert "Nobody was imported." in text(answer)
    assert "https://news.example.org/subscribe" in text(answer)
    assert _found(path).state is State.READ
    assert 'value="unsure" checked' in answer.text


def test_the_page_says_how_many_left_since_the_export(dashboard, bring, person):
    erasure.remove(person("gone@example.net", days_ago=9))
    path = bring()
    answer = dashboard.post(
        path, action="left", exported_on="2020-01-01", statement="Half a sentence", joined="double"
    )
    assert "1 person left here since then." in text(answer)
    assert "Half a sentence" in answer.text
    assert 'value="double" required checked' in answer.text
    assert "1 person left here since then." in dashboard.see(path), "and it is kept"


def test_an_import_is_cancelled_and_undone(dashboard, bring):
    path = bring()
    dashboard.post(path, action="start", **CONSENT)
    seen = dashboard.follow(path, action="cancel")
    assert "Cancelled." in seen
    _work()
    assert "Cancelled after 0 rows" in dashboard.see(path)


def test_a_finished_import_is_undone_after_a_question(dashboard, bring):
    path = bring()
    dashboard.post(path, action="start", **CONSENT)
    _work()
    asked = dashboard.see(f"{path}?undo=yes")
    assert "Of the 2 people it added, those are removed who have done nothing since." in asked
    assert len(_people()) == 2
    assert "Undone." in dashboard.follow(path, action="undo")
    assert "Undone: 2 people removed" in dashboard.see(path)
    assert _people() == {}
    assert "Undo this import" not in dashboard.see(path)


def test_what_was_discarded_cannot_be_started(dashboard, bring):
    path = bring()
    assert "It was discarded before it started" in dashboard.follow(path, action="cancel")
    answer = dashboard.post(path, action="start", **CONSENT)
    assert answer.status == 409


def test_a_second_click_on_start_changes_nothing(dashboard, bring):
    path = bring()
    dashboard.post(path, action="start", **CONSENT)
    answer = dashboard.post(path, action="start", **CONSENT)
    assert answer.status == 409
    assert "Importing" in text(answer)


def test_an_upload_that_has_not_arrived_can_be_read_or_discarded(dashboard, media_bucket):
    found = service.announce(5_000_000, "text/csv", "big.csv").found
    path = f"/admin/imports/{found.id}"
    assert "Has the file arrived?" in dashboard.see(path)
    answer = dashboard.post(path, action="read")
    assert answer.status == 409
    assert "has not been uploaded" in text(answer)
    assert "discarded" in dashboard.follow(path, action="cancel")


def test_an_unknown_import_or_action_is_refused(dashboard, bring):
    assert dashboard.get("/admin/imports/none").status == 404
    assert dashboard.post(bring(), action="explode").status == 400


def test_earlier_imports_are_listed(dashboard, bring):
    path = bring(name="first.csv")
    bring(name="second.csv")
    dashboard.post(path, action="start", **CONSENT)
    _work()
    seen = dashboard.see("/admin/imports")
    assert "second.csv Ready to start 4" in seen
    assert "first.csv Done 4 2" in seen


def test_the_page_may_upload_to_the_bucket(dashboard, media_bucket):
    policy = dashboard.get("/admin/imports").headers["Content-Security-Policy"]
    assert re.search(r"connect-src 'self' https://\S*amazonaws\.com;", policy)
    assert "img-src 'self' data: https:" in policy


def test_hundreds_of_columns_are_shown_a_few_at_a_time(dashboard, bring):
    names = [f"{number:03}{'&' * 60}" for number in range(400)]
    cells = ["&" * 200] * 399 + ["ada@example.net"]
    lines = "\n".join(",".join(line) for line in (names, *[cells] * 10))
    path = bring(lines)
    answer = dashboard.get(path)
    assert len(answer.body) <= LARGEST
    assert 'name="column_399"' in answer.text, "the one that is used"
    assert 'name="column_30"' not in answer.text
    more = re.search(r'href="([^"]*columns=\d+)#', answer.text)[1]
    assert 'name="column_30"' in dashboard.get(more).text
    assert 'name="column_399"' in dashboard.get(more).text
    assert len(dashboard.get(more).body) <= LARGEST


def test_the_columns_of_a_page_fit_into_one_form():
    columns = Columns("generic", ",", "utf-8", True, tuple(map(str, range(500))), {"email": 499, "name": 3})
    shown, more = import_form.choose_columns(columns, 0)
    assert {column.field for column in shown} == {"email", "name", ""}
    assert len(shown) == 24
    assert more == 22
    assert import_form.choose_columns(columns, 490)[1] is None


def test_the_results_have_the_names_of_the_engine():
    assert [result.name for result in import_words.RESULTS] == [str(result) for result in Result]
    assert set(import_words.STATES) == set(State)


def test_one_subscriber_is_added_by_hand(dashboard, ses):
    assert "How did this person join?" in dashboard.see("/admin/subscribers/add")
    given = {
        "email": "Ada@example.net",
        "nickname": "Ada",
        "tags": "garden",
        "statement": "She asked me.",
        "joined": "double",
    }
    seen = dashboard.follow("/admin/subscribers/add", **given)
    assert "Added." in seen
    assert "Activated" in seen
    assert "by-hand" in seen
    again = dashboard.post("/admin/subscribers/add", **given)
    assert again.status == 409
    assert "Already subscribed" in text(again)
    assert 'value="Ada@example.net"' in again.text


def test_whoever_only_signed_up_long_ago_is_asked_first(dashboard, ses):
    given = {"email": "bo@example.net", "statement": "Years ago.", "joined": "single", "last_mailed": "2020-01-01"}
    assert "Pending" in dashboard.follow("/admin/subscribers/add", **given)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"email": "nobody"}, "Email address is not valid"),
        ({"email": "ada@example.net"}, "Say how they joined"),
        ({"email": "ada@example.net", "joined": "single"}, "Say in your own words"),
        ({"email": "ada@example.net", "joined": "double", "statement": "x", "nickname": "n" * 51}, "1–50"),
    ],
)
def test_what_is_missing_is_said_and_what_was_typed_is_kept(dashboard, fields, reason):
    answer = dashboard.post("/admin/subscribers/add", **fields)
    assert answer.status == 400
    assert reason in text(answer)
    assert f'value="{fields["email"]}"' in answer.text


def test_nobody_is_added_by_who_is_unsure(dashboard):
    answer = dashboard.post("/admin/subscribers/add", email="ada@example.net", joined="unsure")
    assert "Nobody was added." in text(answer)
    assert _people() == {}


def test_refused_input_is_not_shown_again_by_the_megabyte(dashboard, bring):
    path, long = bring(), "&" * 200_000
    for place, fields in (
        (path, {"action": "start", "statement": long, "source": long, "tags": long}),
        ("/admin/subscribers/add", {"email": long, "statement": long, "nickname": long}),
        ("/admin/imports", {"pasted": " " * 200_000}),
    ):
        answer = dashboard.post(place, **fields)
        assert answer.status == 400
        assert len(answer.body) <= LARGEST, place


def test_the_words_of_a_dry_run():
    def said(rows, imported):
        found = Import("x", State.READ, "text/csv", clock.now(), rows=rows, counts={"imported": imported})
        return import_words.summarise(found)

    assert said(0, 0) == "There is nobody in this file."
    assert said(3, 3) == "All of the 3 rows would be imported."
    assert said(1200, 1) == "Of 1,200 rows, 1 person would be imported and 1,199 rows would not."


def test_consent_of_the_unsure_needs_no_words():
    assert import_form.read_consent({"joined": "unsure"}).statement == ""
    with pytest.raises(Invalid):
        import_form.read_consent({"joined": "single"})


def test_an_import_that_failed_says_why(dashboard, bring):
    path = bring()
    dashboard.post(path, action="start", **CONSENT)
    jobs.fail(_found(path), "The file is deleted after a day. Upload it again")
    seen = dashboard.see(path)
    assert "Failed" in seen
    assert "The file is deleted after a day." in seen
    assert "0 people imported" in seen


def test_a_file_that_failed_before_its_start_leads_to_another_try(dashboard, bring):
    path = bring()
    jobs.fail(_found(path), "Something went wrong on our side")
    assert "Nobody was imported. Import another file" in dashboard.see(path)


def test_the_pages_of_imports_are_small_whatever_they_show(dashboard, bring):
    statement, tags = "&" * 500, ",".join(f"{number:02}{'&' * 62}" for number in range(20))
    for number in range(50):
        path = bring(f"email\nada{number}@example.net\n", "&" * 250)
    dashboard.post(path, action="start", joined="double", statement=statement, tags=tags, source="&" * 64)
    sizes = {place: len(dashboard.get(place).body) for place in ("/admin/imports", path)}
    _work()
    sizes |= {place: len(dashboard.get(place).body) for place in (f"{path}?undo=yes", f"{path}?done")}
    assert max(sizes.values()) <= LARGEST, sizes


def test_numbers_of_columns_that_no_file_has_are_no_failure(dashboard, bring):
    path, long = bring(), "9" * 5_000
    assert dashboard.get(f"{path}?columns={long}").status == 200
    assert dashboard.post(path, action="read", **{f"column_{long}": "email"}).status == 400


def test_asking_who_left_does_not_read_a_large_file_again(dashboard, bring, monkeypatch):
    path = bring()
    monkeypatch.setattr("chalicelib.audience.imports.opened._LARGE", 10)
    answer = dashboard.post(
        path, action="left", exported_on="2020-01-01", statement="Half a sentence", joined="double"
    )
    assert "Nobody has left here since then." in text(answer)
    assert "Half a sentence" in answer.text
    assert _found(path).state is State.READ


def test_columns_are_guessed_again_when_another_delimiter_is_chosen(dashboard, bring):
    path = bring("Name;Mail\nAda, the first;ada@example.net\nBo, too;bo@example.net\n")
    given = {"action": "read", "encoding": "utf-8", "header": "no"}
    assert "0 Would be imported" in dashboard.follow(path, column_0="email", delimiter="comma", **given)
    seen = dashboard.follow(path, column_0="", column_1="", delimiter="semicolon", **given)
    assert "2 Would be imported" in seen
    assert service.view(path.rpartition("/")[2]).columns.mapping == {"name": 0, "email": 1}


def test_the_page_does_not_say_that_leavers_come_back_where_they_are_remembered(dashboard, bring, person, configure):
    configure(REMEMBER_LEAVERS="true")
    erasure.remove(person("gone@example.net", days_ago=9))
    path = bring()
    assert "an old file would bring them back" not in dashboard.see(path)
    seen = text(dashboard.post(path, action="left", exported_on="2020-01-01", **CONSENT))
    assert "1 person left here since then." in seen
    assert "Nothing is kept of them" not in seen
    assert "REMEMBER_LEAVERS" in seen
