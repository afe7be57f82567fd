"""The editors' list, search, removal, export and do-not-contact."""

import csv
import io
from itertools import repeat
from urllib.parse import parse_qsl, urlsplit

import pytest

from chalicelib.audience import listing
from chalicelib.audience.listing import Entry, Filter
from chalicelib.kernel import spreadsheets
from chalicelib.kernel.aws import raw
from chalicelib.web import downloads


@pytest.fixture
def some(reader, http, deliver, later):
    """Twelve active, three pending, one after the other."""

    def make(active: int = 12, pending: int = 3) -> None:
        for number in range(active + pending):
            http.source_ip = f"192.0.2.{number}"
            person = reader(f"r{number:02}@example.net")
            person.subscribe(nickname=f"Nick {number}")
            if number < active:
                person.confirm()
            later(seconds=1)

    return make


def test_the_list_is_newest_first_with_labels_and_a_total(some, admin):
    some()
    answer = admin.get("/admin/api/subscribers?per_page=5")
    assert answer.status == 200
    body = answer.json
    assert (body["page"], body["per_page"], body["total"]) == (1, 5, 15)
    assert [item["email"] for item in body["items"]] == [f"r{n:02}@example.net" for n in (14, 13, 12, 11, 10)]
    assert [item["status"] for item in body["items"]] == ["Pending"] * 3 + ["Activated"] * 2
    paused = {"paused_at", "paused_because"}
    assert set(body["items"][0]) == {"id", "email", "nickname", "status", "created_at", "activated_at"} | paused


def test_pages_together_are_the_whole_list_once(some, admin):
    some()
    seen = []
    for number in range(1, 6):
        seen += [
            item["email"] for item in admin.get(f"/admin/api/subscribers?page={number}&per_page=4").json["items"]
        ]
    assert seen == [f"r{n:02}@example.net" for n in range(14, -1, -1)]


def test_pending_ones_between_active_ones_keep_their_place(reader, http, deliver, later, admin):
    for number in range(9):
        person = reader(f"r{number}@example.net")
        http.source_ip = f"192.0.2.{number}"
        person.subscribe()
        if number % 3:
            person.confirm()
        later(seconds=1)
    for per_page in (1, 2, 4):
        seen = []
        for number in range(1, 9 // per_page + 2):
            page = admin.get(f"/admin/api/subscribers?page={number}&per_page={per_page}").json
            seen += [item["email"] for item in page["items"]]
        assert seen == [f"r{n}@example.net" for n in range(8, -1, -1)]


def test_default_and_largest_page_size(admin):
    assert admin.get("/admin/api/subscribers").json["per_page"] == 20
    assert admin.get("/admin/api/subscribers?per_page=100").status == 200
    for query in ("per_page=101", "per_page=0", "page=0", "page=-1", "page=x", "per_page=1e3", "page=９"):
        assert admin.get(f"/admin/api/subscribers?{query}").status == 400


def test_an_empty_list_is_a_list(admin):
    assert admin.get("/admin/api/subscribers").json == {"items": [], "page": 1, "per_page": 20, "total": 0}
    assert admin.get("/admin/api/subscribers?page=7").json["items"] == []


def test_search_finds_parts_of_address_and_nickname_whatever_the_case(some, admin):
    some()
    assert admin.get("/admin/api/subscribers?q=R07@").json["total"] == 1
    assert [item["nickname"] for item in admin.get("/admin/api/subscribers?q=nick%201").json["items"]] == [
        "Nick 14", "Nick 13", "Nick 12", "Nick 11", "Nick 10", "Nick 1",
    ]  # fmt: skip
    assert admin.get("/admin/api/subscribers?q=nobody").json["total"] == 0
    assert admin.get("/admin/api/subscribers?status=pending").json["total"] == 3
    assert admin.get("/admin/api/subscribers?status=activated").json["total"] == 12


def test_filter_by_source_and_tag(reader, admin):
    reader("a@example.net").join(source="blog", tags=["x", "y"])
    reader("b@example.net").join(source="podcast", tags=["x"])
    assert [e["email"] for e in admin.get("/admin/api/subscribers?source=Blog").json["items"]] == ["a@example.net"]
    assert admin.get("/admin/api/subscribers?tag=x").json["total"] == 2
    assert admin.get("/admin/api/subscribers?tag=x&source=podcast").json["total"] == 1


def test_known_sources_and_tags_are_named_by_one_request_the_most_frequent_first(reader, admin, monkeypatch):
    for name, source, tags in (("a", "blog", ["frost"]), ("b", "blog", ["frost", "beans"]), ("c", "footer", [])):
        reader(f"{name}@example.net").join(source=source, tags=tags)
    reader("d@example.net").subscribe(source="not confirmed")
    requests = []
    monkeypatch.setattr(raw, "dynamodb", lambda *call, ask=raw.dynamodb: requests.append(call) or ask(*call))
    known = admin.get("/admin/api/subscribers/words").json
    assert known == {"sources": ["blog", "footer"], "tags": ["frost", "beans"]}
    assert len(requests) == 1


def test_an_expired_sign_up_is_not_listed_even_before_the_clean_up(reader, admin, later):
    reader().subscribe()
    later(hours=25)
    assert admin.get("/admin/api/subscribers").json["total"] == 0


def test_remove_deletes_at_once_and_a_second_time_is_not_found(reader, admin, rows):
    reader().join()
    id = admin.get("/admin/api/subscribers").json["items"][0]["id"]
    assert admin.delete(f"/admin/api/subscribers/{id}").status == 204
    assert rows("subscribers") == rows("emails") == []
    assert admin.get("/admin/api/subscribers").json["total"] == 0
    assert admin.delete(f"/admin/api/subscribers/{id}").status == 404
    assert admin.delete("/admin/api/subscribers/nonsense").status == 404


def test_export_is_csv_with_bom_and_the_columns_asked_for(reader, admin):
    reader("a@example.net").join(nickname="Zoë, the 2nd")
    reader("b@example.net").subscribe()
    answer = admin.get("/admin/api/subscribers/export")
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/csv")
    assert answer.body.startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(io.StringIO(answer.body.decode("utf-8-sig"))))
    assert rows[0] == ["email", "nickname", "status", "activated_at"]
    assert rows[1] == ["b@example.net", "", "Pending", ""]
    assert rows[2][:3] == ["a@example.net", "Zoë, the 2nd", "Activated"]
    assert rows[2][3].endswith("Z")


def test_export_obeys_the_filter(reader, admin):
    reader("a@example.net").join()
    reader("b@example.net").join()
    text = admin.get("/admin/api/subscribers/export?q=b@").body.decode("utf-8-sig")
    assert "b@example.net" in text
    assert "a@example.net" not in text


@pytest.mark.parametrize("nickname", ["=1+1", "+1", "-1", "@SUM(A1)", "=cmd|' /C calc'!A0", "＝1+1"])
def test_a_formula_in_a_nickname_or_address_is_only_text_in_the_export(reader, admin, nickname):
    reader("=1+1@example.net").join(nickname=nickname)
    rows = list(csv.reader(io.StringIO(admin.get("/admin/api/subscribers/export").body.decode("utf-8-sig"))))
    assert rows[1][:2] == ["'=1+1@example.net", "'" + nickname]


@pytest.mark.parametrize(
    ("typed", "exported"),
    [
        ("Ada;=1+1", "Ada;'=1+1"),
        ("Ada; @SUM(A1);-1", "Ada;' @SUM(A1);'-1"),
        ('Ada;"=1+1"', 'Ada;\'"=1+1"'),
        ("Ada\t+1", "Ada\t'+1"),
        ("Ada\n=1", "Ada\n'=1"),
        ("\tAda", "'\tAda"),
        ('"=1+1"', '\'"=1+1"'),
        ("Jean-Luc; (2+2=4)", "Jean-Luc; (2+2=4)"),
        ("a+b@example.net", "a+b@example.net"),
    ],
)
def test_a_formula_after_another_separator_is_only_text_as_well(typed, exported):
    """Excel splits at semicolons in much of Europe, whatever stands between quotes in the middle of a line."""
    assert spreadsheets.escape(typed) == exported


@pytest.fixture
def bucket(aws, configure):
    import boto3

    s3 = boto3.client("s3")
    s3.create_bucket(Bucket="gna-downloads", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    configure(DOWNLOADS_BUCKET="gna-downloads", DISABLE_AUTH="true")
    yield s3
    for item in s3.list_objects_v2(Bucket="gna-downloads").get("Contents", []):
        s3.delete_object(Bucket="gna-downloads", Key=item["Key"])
    s3.delete_bucket(Bucket="gna-downloads")


def test_an_export_larger_than_an_answer_comes_by_a_signed_link_that_ends(admin, bucket, monkeypatch):
    """Over 6 MB, of the kind that grows most: an accent of two bytes is six in Lambda's answer."""
    entry = Entry("id", "ada@example.net", "é" * 50, "activated", "", "2026-11-16T08:00:00.000Z", (), ())
    monkeypatch.setattr(listing, "iterate", lambda wanted: repeat(entry, 40_000))
    answer = admin.get("/admin/api/subscribers/export")
    assert answer.status == 303
    link = urlsplit(answer.headers["Location"])
    # By itself botocore signs such links in a way that buckets made since 2020 refuse, and for the wrong host.
    assert link.hostname == "gna-downloads.s3.eu-west-1.amazonaws.com"
    signed = dict(parse_qsl(link.query))
    assert signed["response-content-disposition"] == 'attachment; filename="subscribers.csv"'
    assert (signed["X-Amz-Algorithm"], signed["X-Amz-Expires"]) == ("AWS4-HMAC-SHA256", "300")
    body = bucket.get_object(Bucket="gna-downloads", Key=link.path[1:])["Body"].read()
    assert body.startswith(b"\xef\xbb\xbfemail,nickname,status,activated_at\r\n")
    assert body.count(b"\r\n") == 40_001


def test_what_is_too_large_is_decided_by_what_lambda_counts(reader, admin, bucket, monkeypatch):
    reader("a@example.net").join(nickname="é" * 50)
    monkeypatch.setattr(downloads, "LARGEST_ANSWER", 300)
    assert admin.get("/admin/api/subscribers/export").status == 303
    reader("b@example.net").join(nickname="e" * 50)
    assert "b@example.net" in admin.get("/admin/api/subscribers/export?q=b@").text


def test_do_not_contact_set_by_the_operator_erases_and_holds_until_lifted(reader, admin, rows, ses):
    ada = reader().join()
    assert admin.post("/admin/api/do-not-contact", json={"email": "Ada@example.net"}).status == 200
    assert rows("subscribers") == []
    ses.clear()
    assert ada.subscribe().status == 201
    assert ses.mails() == []
    assert admin.post("/admin/api/do-not-contact/lift", json={"email": "ada@example.net"}).status == 200
    ada.subscribe()
    assert len(ada.mails()) == 1


def test_do_not_contact_also_stops_a_sign_up_that_waits(reader, admin, rows):
    admin.post("/api/subscribe", json={"email": "ada@example.net"})
    assert admin.post("/admin/api/do-not-contact", json={"email": "ada@example.net"}).status == 200
    assert rows("tokens") == []
    reader().deliver()
    assert rows("subscribers") == []
    assert reader().mails() == []


def test_listing_reads_in_few_requests(some, monkeypatch):
    some(active=6, pending=1)
    from chalicelib.kernel.aws import raw

    requests = []
    real = raw.dynamodb
    monkeypatch.setattr(
        raw, "dynamodb", lambda operation, parameters: requests.append(operation) or real(operation, parameters)
    )
    listing.page(Filter(), 1, 20)
    assert len(requests) == 3  # the last for who is paused; and one for the count


def test_an_expired_sign_up_is_removed_although_its_owner_has_signed_up_again(admin, reader, later, rows):
    ada = reader()
    ada.subscribe()
    (old,) = [row["id"]["S"] for row in rows("subscribers")]
    later(hours=24, seconds=1)
    ada.subscribe()
    assert admin.delete(f"/admin/api/subscribers/{old}").status == 204
    (left,) = rows("subscribers")
    assert left["id"]["S"] != old
    assert [row["subscriber_id"] for row in rows("emails")] == [left["id"]]
    assert ada.confirm().status == 303
