"""Work that does not fit into one call, and what the answers say meanwhile."""

import io
import zipfile

import pytest

from chalicelib.audience.imports import jobs, opened, running, service, store
from tests.conftest import received
from tests.rooms.audience.imports.conftest import DOUBLE, PATH
from tests.rooms.audience.imports.reading.reading import zipped

MANY = "email\n" + "".join(f"a{number}@example.net\n" for number in range(10))


@pytest.fixture
def small_steps(monkeypatch):
    monkeypatch.setattr(running, "_JUDGED", 3)


def test_a_dry_run_that_takes_long_is_finished_by_the_worker(editor, monkeypatch, small_steps):
    monkeypatch.setattr(service, "_SECONDS", 0.0)
    answer = editor.bring(MANY)
    assert (answer.status, answer.json["state"], answer.json["rows"], answer.json["done"]) == (202, "waiting", 10, 3)
    id = answer.json["id"]
    assert editor.start(id).status == 409, "not before it is read"
    (message,) = received("feed")
    jobs.work(message["import_id"], lambda: False)
    assert editor.see(id)["done"] == 6
    editor.work()
    found = editor.see(id)
    assert (found["state"], found["done"], found["counts"]["imported"]) == ("read", 10, 10)
    assert len(found["preview"]) == 10


def test_an_import_goes_on_slice_by_slice_with_one_report(editor, small_steps):
    id = editor.bring(MANY + "not an address\nnor this\n").json["id"]
    editor.start(id)
    slices = 0
    while messages := received("feed"):
        assert messages == [{"kind": "import", "import_id": id}]
        jobs.work(id, lambda: False)
        slices += 1
        found = editor.see(id)
        assert found["done"] == min(3 * slices, 12)
    assert slices == 4
    assert found["state"] == "done"
    assert [line.split(",")[6] for line in editor.report(id).text.splitlines()[1:]] == ["12", "13"]


def test_a_report_whose_part_was_lost_is_judged_again(editor, small_steps, monkeypatch):
    id = editor.bring("not an address\n" + MANY).json["id"]
    editor.read(id, header=False)
    editor.start(id)

    def die(*_):
        raise RuntimeError

    with monkeypatch.context() as broken:
        broken.setattr("chalicelib.audience.imports.uploads.keep_part", die)
        with pytest.raises(RuntimeError):
            jobs.work(id, lambda: False)
    assert editor.see(id)["done"] == 3
    editor.work()
    lines = editor.report(id).text.splitlines()
    assert [line.split(",")[6] for line in lines[1:]] == ["1", "2"], "the address that is none, and the header"


def test_an_import_that_fails_again_and_again_says_so(editor, monkeypatch):
    id = editor.bring(MANY).json["id"]
    editor.start(id)

    def die(*_):
        raise RuntimeError

    monkeypatch.setattr(running.Run, "_settle", die)
    for _ in range(jobs._MOST_TRIES):
        with pytest.raises(RuntimeError):
            jobs.work(id, lambda: True)
    jobs.work(id, lambda: True)
    found = editor.see(id)
    assert found["state"] == "failed"
    assert found["error"]
    assert store.find(id).task is None


def test_a_whole_zip_counts_people_across_its_files(editor):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("subscribed_members_1.csv", "Email Address,Name\nada@example.net,A\neve@example.net,E\n")
        archive.writestr("unsubscribed_members_1.csv", "Email Address,UNSUB_TIME\nEVE@example.net,2024-01-01\n")
        archive.writestr("cleaned_members_1.csv", "Email Address,CLEAN_TIME\nbob@example.net,2024-01-01\n")
    answer = editor.bring(stream.getvalue(), "application/zip")
    assert (answer.status, answer.json["rows"]) == (201, 4)
    counts = answer.json["counts"]
    assert (counts["imported"], counts["left_elsewhere"], counts["duplicate"]) == (1, 2, 1)
    editor.start(answer.json["id"])
    editor.work()
    assert set(editor.subscribers()) == {"ada@example.net"}


def test_case_and_punycode_are_one_person(editor):
    found = editor.run("email\nada@bücher.example\nADA@xn--bcher-kva.example\n")
    assert (found["counts"]["imported"], found["counts"]["duplicate"]) == (1, 1)


def test_repaired_addresses_are_told(editor):
    found = editor.run(
        'email\n"Ada <ada@example.net>"\nmailto:eve@example.net\nbob%40example.net\n cy@example.net \n'
    )
    assert (found["counts"]["imported"], found["repaired"]) == (4, 4)


def test_choices_about_reading_can_be_made_with_the_start(editor):
    id = editor.bring("a;b\nAda;ada@example.net\n").json["id"]
    assert editor.start(id, mapping={"email": 9}).status == 400
    assert editor.start(id, mapping={"name": 0, "email": 1}, delimiter=";", header=True).status == 202
    editor.work()
    found = editor.see(id)
    assert (found["rows"], found["counts"]["imported"], found["mapping"]) == (1, 1, {"name": 0, "email": 1})
    assert editor.subscribers()["ada@example.net"]["nickname"] == "Ada"


@pytest.mark.parametrize(
    "body",
    [
        {"mapping": "email"},
        {"mapping": {"email": "0"}},
        {"mapping": {"shoe size": 0}},
        {"delimiter": "::"},
        {"encoding": "ebcdic"},
        {"header": "yes"},
        {"status": "asleep"},
        {"exported_on": "yesterday"},
        {"exported_on": 5},
    ],
)
def test_reading_refuses_what_makes_no_sense(editor, body):
    id = editor.bring(MANY).json["id"]
    assert editor.read(id, **body).status == 400
    assert editor.see(id)["state"] == "read"


def test_an_unknown_import_is_not_found(editor):
    for id in ("nothing", "0193a5c4-11f0-7a6b-8c01-2d3e4f506172"):
        assert editor.http.get(f"{PATH}/{id}").status == 404
        assert editor.report(id).status == 404
        assert all(editor.act(id, verb).status == 404 for verb in ("read", "cancel", "undo"))
        assert editor.start(id).status == 404


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_no_other_site_can_bring_a_list(editor, site):
    answer = editor.http.post(PATH, body=MANY, Content_Type="text/csv", Sec_Fetch_Site=site)
    assert answer.status == 403


def test_the_limits_of_tags_hold(editor):
    tags = [f"t{number}" for number in range(20)]
    id = editor.bring(MANY).json["id"]
    assert editor.start(id, tags=[*tags, "one more"]).status == 400
    assert editor.start(id, DOUBLE, tags=tags).status == 202
    editor.work()
    assert len(editor.subscribers()["a1@example.net"]["tags"]) == 20


def test_metadata_too_large_for_a_capture_does_not_stop_the_row(editor):
    attributes = '{""text"": ""' + "x" * 12_000 + '""}'
    text = (
        f'uuid,email,name,attributes,status,created_at,updated_at\n1,ada@example.net,Ada,"{attributes}",enabled,,\n'
    )
    assert editor.run(text)["counts"]["imported"] == 1
    (capture,) = editor.subscribers()["ada@example.net"]["captures"]
    assert set(capture["metadata"]) == {"import"}


def test_addresses_taken_for_a_header_are_not_kept_as_names_of_columns(editor, rows):
    id = editor.bring("ada@example.net;Ada\neve@example.net;Eve\n").json["id"]
    assert editor.read(id, header=True).json["columns"] == ["Column 1", "Column 2"]
    assert "example.net" not in str(rows("imports"))


def test_an_address_whose_owner_cannot_be_found_does_not_stop_the_import(editor):
    from chalicelib.audience.stores.emails import EmailRow
    from chalicelib.kernel.aws import tables

    tables.put(EmailRow("a1@example.net", subscriber_id="somebody half restored"))
    found = editor.run(MANY)
    assert (found["state"], found["counts"]["imported"], found["counts"]["already"]) == ("done", 9, 1)


def test_a_large_file_is_tried_by_the_worker_alone(editor, monkeypatch):
    monkeypatch.setattr(opened, "_LARGE", 10)
    answer = editor.bring(MANY)
    assert (answer.status, answer.json["state"], answer.json["rows"], answer.json["done"]) == (202, "waiting", 0, 0)
    assert answer.json["columns"] == ["email"]
    id = answer.json["id"]
    editor.work()
    found = editor.see(id)
    assert (found["state"], found["done"], found["counts"]["imported"]) == ("read", 10, 10)
    assert editor.report(id).status == 409
    editor.start(id)
    editor.work()
    assert editor.see(id)["state"] == "done"
    assert editor.report(id).status == 200


def test_a_small_zip_of_a_large_file_is_tried_by_the_worker_alone(editor):
    packed = zipped({"list.csv": "email\nada@example.net\n" + f"{' ' * 99}\n" * 90_000})
    assert len(packed) < 50_000
    answer = editor.bring(packed, "application/zip")
    assert (answer.status, answer.json["state"], answer.json["rows"]) == (202, "waiting", 0)
    editor.work()
    assert editor.see(answer.json["id"])["counts"]["imported"] == 1


def test_a_file_of_empty_lines_is_refused_before_it_takes_long(editor):
    packed = zipped({"list.csv": "email\nada@example.net\n" + "\n" * 6_000_000})
    answer = editor.bring(packed, "application/zip")
    assert (answer.status, answer.json["error"]) == (400, "The file has more than 5,000,000 lines")
