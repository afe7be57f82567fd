"""Searching by part of an address or nickname, over the shards of the index, also where a search takes long."""

import unicodedata
from datetime import timedelta
from urllib.parse import quote

import pytest

from chalicelib.audience import filling, folding, listing, searching
from chalicelib.audience.listing import Filter
from chalicelib.audience.stores import search as store
from chalicelib.audience.stores.search import Position
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import raw
from chalicelib.kernel.errors import Invalid, Unavailable
from tests.rooms.campaigns import crowd


@pytest.fixture
def ready(aws):
    filling.fill(lambda: True)
    assert filling.is_finished()


@pytest.fixture
def person(ready):
    """`person("ada@example.net", "Ada")`: an activated subscriber, or a pending one."""
    made = []

    def make(email, nickname=None, **more):
        id = ids.new()
        at = clock.text(clock.now() - timedelta(days=900) + timedelta(minutes=len(made)))
        row = {"id": id, "email": email, "status": "activated", "unsubscribe_secret": "s" * 32, "created_at": at}
        row |= {"shard": folding.shard_of(id), "folded": folding.fold_person(email, nickname)}
        row |= {"nickname": nickname} if nickname else {}
        crowd.write("subscribers", [row | {"activated_at": at} | more])
        made.append(id)
        return id

    return make


@pytest.fixture
def asked(monkeypatch):
    calls = []
    monkeypatch.setattr(raw, "dynamodb", lambda *call, ask=raw.dynamodb: calls.append(call) or ask(*call))
    return calls


def found(text="", **more):
    return [entry.email for entry in listing.page(Filter(text=text, **more), 1, 100).items]


@pytest.mark.parametrize(
    ("nickname", "text"),
    [
        ("Straße", "STRASSE"),
        ("STRASSE", "straße"),
        ("İstanbul", "İST"),
        ("İstanbul", "i"),
        ("Zoë", "zOË"),
        ("Zoë", unicodedata.normalize("NFD", "zoë")),
        ("ΟΔΥΣΣΕΥΣ", "οδυσσευς"),
        ("ǅ" * 50, "ǆ" * 50),
        ('50% off_\\ "it\'s"', '% OFF_\\ "IT'),
        ("#0 :a {{7}}", ":A {{"),
        ("\U00010400", "\U00010428"),
    ],
)
def test_any_case_and_any_sign_is_found_in_a_nickname(person, nickname, text):
    person("ada@example.net", nickname)
    person("bo@example.net", "Bo")
    assert found(text) == ["ada@example.net"]


@pytest.mark.parametrize("text", ["zoe", "strase", "zoë\nx", "net\nzo", "\x00", "%", "*", "ada@example.netzoë"])
def test_what_neither_address_nor_nickname_contains_is_not_found(person, text):
    person("ada@example.net", "Zoë")
    assert found(text) == []


@pytest.mark.parametrize(
    "text", ["%", "\\", "'", '"', "\x00\x1b", "\x7f", "a" * 254, "é" * 254, "\U00010330" * 254, "\ud800"]
)
@pytest.mark.parametrize("path", ["/admin/api/subscribers", "/admin/subscribers", "/admin/api/subscribers/export"])
def test_any_search_is_answered(person, admin, text, path):
    person("ada@example.net", "Ada")
    typed = quote(text.encode(errors="surrogatepass"))
    assert admin.get(f"{path}?q={typed}").status == 200
    assert admin.get(f"{path}?q={typed}&source={typed[:60]}&tag={typed[:60]}").status in (200, 400)


def test_a_search_that_is_too_long_is_refused(person, admin):
    assert admin.get(f"/admin/api/subscribers?q={'a' * 255}").status == 400


def test_longest_address_and_nickname_are_found_by_their_ends(person):
    address = f"{'l' * 64}@{'d' * 60}.{'e' * 60}.{'f' * 50}.example.net"
    person(address, "ŉ" * 50)
    assert found("f.EXAMPLE.net") == found("ʼN" * 50) == found(address.upper()) == [address]


def test_text_source_tag_and_status_combine(person):
    person("ada@example.net", "Ada", sources={"blog"}, tags={"maths", "frost"})
    person("ada2@example.net", "Ada", sources={"footer"}, tags={"maths"})
    person(
        "ada3@example.net", "Ada", status="pending", confirmation_expires_at=clock.text(clock.now() + timedelta(1))
    )
    person(
        "ada4@example.net", "Ada", status="pending", confirmation_expires_at=clock.text(clock.now() - timedelta(1))
    )
    assert found("ada") == ["ada3@example.net", "ada2@example.net", "ada@example.net"]
    assert found("ada", tag="maths") == ["ada2@example.net", "ada@example.net"]
    assert found("ada", tag="maths", source="blog") == found(tag="frost") == ["ada@example.net"]
    assert found("ada", status="pending") == ["ada3@example.net"]
    assert found("ada", status="activated", source="blog") == ["ada@example.net"]
    assert found("ada", tag="math") == found("bo") == []


def test_pages_of_a_search_are_the_whole_of_it_once_and_newest_first(person, asked):
    for number in range(45):
        person(f"r{number:02}@example.net")
    person("other@example.org")
    pages = [listing.page(Filter(text="example.net"), number, 10) for number in range(1, 7)]
    assert [page.total for page in pages] == [45] * 6
    emails = [entry.email for page in pages for entry in page.items]
    assert emails == [f"r{number:02}@example.net" for number in range(44, -1, -1)]
    queries = [parameters for operation, parameters in asked if operation == "Query"]
    assert len(queries) == 6 * len(folding.SHARDS)


def test_somebody_paused_is_shown_as_such(person):
    person("ada@example.net", paused_at=clock.text(clock.now()), paused_because="editor")
    (entry,) = listing.page(Filter(text="ada"), 1, 20).items
    assert entry.paused_because == "editor"
    assert found("ada", status="paused") == ["ada@example.net"]


def test_only_matches_are_sent(person, asked):
    for number in range(20):
        person(f"r{number}@example.net")
    found("r7@")
    assert all(parameters["FilterExpression"] for operation, parameters in asked if operation == "Query")


def test_whoever_signs_up_is_found_at_every_step(ready, reader, admin, later):
    def total(text):
        return admin.get(f"/admin/api/subscribers?q={text}").json["total"]

    ada = reader("Ada@Example.net")
    ada.subscribe(nickname="Countess")
    assert total("ada@example") == total("countESS") == 1
    ada.confirm()
    assert total("ada@example") == total("countESS") == 1

    def change(**fields):
        body = {"token": ada.magic_token(), **fields}
        assert admin.post("/api/profile/update", json=body).status in (200, 202)

    change(nickname="Byron")
    assert (total("countess"), total("byron")) == (0, 1)
    change(email="ADA@example.net")
    assert (total("byron"), total("ada@")) == (1, 1)
    change(email="augusta@example.net")
    ada.deliver()
    ada.email = "augusta@example.net"
    assert ada.confirm().status == 303
    assert (total("ada@"), total("augusta@"), total("byron")) == (0, 1, 1)
    id = admin.get("/admin/api/subscribers?q=augusta").json["items"][0]["id"]
    admin.patch(f"/admin/api/subscribers/{id}", json={"nickname": "Lovelace"})
    assert (total("byron"), total("LOVELACE"), total("augusta")) == (0, 1, 1)
    admin.patch(f"/admin/api/subscribers/{id}", json={"nickname": None})
    assert (total("lovelace"), total("augusta")) == (0, 1)
    assert admin.delete(f"/admin/api/subscribers/{id}").status == 204
    assert total("augusta") == 0


def test_an_exact_address_is_one_request_more_than_its_row(person, admin, dashboard_page, asked):
    id = person("ada@example.net", "Ada")
    person("nada@example.net")
    crowd.write("emails", [{"address": "ada@example.net", "subscriber_id": id}])
    asked.clear()
    page = dashboard_page("q=Ada@Example.net")
    assert "ada@example.net" in page
    assert "nada@example.net" not in page
    assert "Search all subscribers for it" in page
    assert "Query" not in [operation for operation, _ in asked]
    assert found("ada@example.net") == ["nada@example.net", "ada@example.net"]


@pytest.fixture
def dashboard_page(admin):
    def see(query):
        answer = admin.get(f"/admin/subscribers?{query}")
        assert answer.status == 200
        return answer.text

    return see


def test_a_long_search_shows_what_it_has_found_and_goes_on_to_the_end(person, admin, monkeypatch):
    monkeypatch.setattr(listing, "_PATIENCE", 0.0)
    monkeypatch.setattr(store, "_query", lambda *given, ask=store._query: ask(*given) | {"Limit": 2})
    everybody = [f"r{number:02}@example.net" for number in range(60)]
    for email in everybody:
        person(email)
    url, seen, pieces = "/admin/subscribers?q=example", [], 0
    while url:
        page = admin.get(url)
        assert page.status == 200
        seen += [email for email in everybody if f">{email}</a>" in page.text]
        pieces += 1
        url = page.text.partition('data-rest="')[2].partition('"')[0].replace("&amp;", "&")
        assert pieces < 60
    assert sorted(seen) == everybody
    assert pieces > 2
    assert "60 people found in total." in page.text


def test_the_api_counts_everybody_or_says_that_it_cannot(person, admin, monkeypatch):
    monkeypatch.setattr(store, "_query", lambda *given, ask=store._query: ask(*given) | {"Limit": 1})
    for number in range(40):
        person(f"r{number}@example.net")
    assert admin.get("/admin/api/subscribers?q=example").json["total"] == 40
    monkeypatch.setattr(listing, "_LONGEST", 0.0)
    with pytest.raises(Unavailable):
        listing.page(Filter(text="example"), 1, 20)
    assert admin.get("/admin/api/subscribers?q=example").status == 503


def test_a_piece_leaves_what_it_does_not_show_for_the_next(person):
    for number in range(50):
        person(f"r{number:02}@example.net")
    place, seen = searching.BEGINNING, []
    while place:
        piece = searching.go_on(Filter(text="r").terms, searching.decode(searching.encode(place)), 7, 9.0)
        assert len(piece.ids) <= 7
        seen += piece.ids
        place = piece.rest
    assert len(seen) == len(set(seen)) == 50


def test_a_cursor_belongs_to_its_search_and_cannot_be_made_up(person, admin, monkeypatch):
    monkeypatch.setattr(listing, "_PATIENCE", 0.0)
    monkeypatch.setattr(store, "_query", lambda *given, ask=store._query: ask(*given) | {"Limit": 1})
    for number in range(40):
        person(f"r{number:02}@example.net")
    page = admin.get("/admin/subscribers?q=example").text
    cursor = page.partition("cursor=")[2].partition('"')[0]
    assert admin.get(f"/admin/subscribers?q=example&cursor={cursor}").status == 200
    assert admin.get(f"/admin/subscribers?q=exampl&cursor={cursor}").status == 400
    assert admin.get(f"/admin/subscribers?q=example&cursor=x{cursor[1:]}").status == 400


def test_a_place_is_short_and_survives_the_way():
    at = Position("1969-12-31T23:59:59.999Z", ids.new())
    place = searching.Place(
        {"0": at, "7": None, "f": Position("2026-11-18T10:00:00.001Z", ids.new())}, 3, 5_000_000_000
    )
    back = searching.decode(searching.encode(place))
    assert dict(back.shards) == dict(place.shards)
    assert back.found == 3
    longest = searching.Place(dict.fromkeys(folding.SHARDS, at))
    assert len(searching.encode(longest)) < 600
    for broken in ("", "AAAA", "é", searching.encode(place)[:-8]):
        with pytest.raises(Invalid):
            searching.decode(broken)


def test_a_search_loses_no_more_time_than_the_request_may(person, monkeypatch):
    from chalicelib.kernel import patience

    limited = []
    monkeypatch.setattr(
        raw, "dynamodb", lambda *call, ask=raw.dynamodb: limited.append(patience.is_limited()) or ask(*call)
    )
    with patience.limited():
        found("ada")
    assert limited
    assert all(limited)
