"""Pictures from elsewhere are copied in: their addresses change, and nothing else of a body does."""

import io
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from chalicelib.campaigns import service
from chalicelib.campaigns.gallery import addresses, copying
from chalicelib.campaigns.model import CampaignDetail, Format
from chalicelib.campaigns.service import Draft
from chalicelib.media import jobs, remote
from chalicelib.media import model as media_model
from chalicelib.media import service as media
from tests.rooms.campaigns.api import API, UNKNOWN, created, in_state
from tests.rooms.inbox.test_pictures import Host
from tests.rooms.media.pictures import encode, grid

A, B = "https://pics.example/a.png", "https://pics.example/b.jpg?w=1&h=2"
NEW = {
    A: "https://news.example.org/media/" + "a" * 32 + ".png",
    B: "https://news.example.org/media/" + "b" * 32 + ".jpg",
}


def detail(body: str, format: Format = Format.MARKDOWN) -> CampaignDetail:
    return service.preview_detail(Draft("Subject", body, format=format))


def rewritten(body: str, format: Format = Format.MARKDOWN, seconds: float = 20) -> str:
    return addresses.rewrite(detail(body, format), NEW, time.monotonic() + seconds)


# What is changed


@pytest.mark.parametrize(
    "body",
    [
        f"![A]({A})",
        f'![A](<{A}> "title")',
        f"Text ![A [b]]({A}) and [![A]({A}) words](https://x.example/)",
        f'<img src="{A}" alt="">',
        f"<IMG alt='a > b' SRC='{A}'>",
        f"<p><img width=20 src={A}></p>",
        f"![A][one] and ![B][one]\n\n[one]: {A}",
        f":::item\ntitle: T\nlink: https://x.example/\npicture: {A}\n:::",
        f":::item\ntitle: T\nlink: https://x.example/\npicture: {A}\nnote: See\n  ![A]({A})\n:::",
        f"![A]({B.replace('&', '&amp;')})",
        f"![A]({B})",
        f'<img src="{B.replace("&", "&amp;")}">',
        f"![A]({A})\r\n\r\n![B]({B})\r\n",
        f"> ![A]({A})\n\n- ![B]({B})\n\n| a | b |\n|---|---|\n| ![A]({A}) | b |",
    ],
)
def test_every_way_to_write_a_picture_is_found(body: str) -> None:
    after = rewritten(body)
    assert addresses.find_remote(detail(body))
    assert addresses.find_remote(detail(after)) == []
    for old, new in NEW.items():
        after = after.replace(new, "*").replace(old, "*")
        body = body.replace(old.replace("&", "&amp;"), "*").replace(old, "*")
    assert after == body


@pytest.mark.parametrize(
    "body",
    [
        f"[A]({A})",
        f"See {A} or <{A}>.",
        f"`![A]({A})`",
        f"```\n![A]({A})\n```",
        f"    ![A]({A})",
        f"\\![A]({A})",
        f'<a href="{A}">A</a>',
        f"<!-- <img src='{A}'> -->",
        f'<p title="{A}">A</p>',
        f"![A]({A}.webp)",
        f"![A]({A}?size=2)",
        f"![{A}](/media/x.png)",
        f":::item\ntitle: {A}\nlink: {A}\nexcerpt: {A}\n:::",
    ],
)
def test_what_is_no_picture_of_this_address_stays(body: str) -> None:
    assert rewritten(body) == body


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"[![A]({A})]({A})", f"[![A]({NEW[A]})]({A})"),
        (f"`{A}` {A}\n\n![{A}]({A})", f"`{A}` {A}\n\n![{A}]({NEW[A]})"),
        (f"![A]({A}) [A]({A}) ![A]({A})", f"![A]({NEW[A]}) [A]({A}) ![A]({NEW[A]})"),
        (f"![A][one] [A][one]\n\n[one]: {A}", f"![A][one] [A][one]\n\n[one]: {A}"),
        (f"![A]({A})<!-- {A} -->", f"![A]({NEW[A]})<!-- {A} -->"),
        ("![A](//pics.example/a.png)", f"![A]({NEW[A]})"),
    ],
)
def test_a_link_beside_it_leads_where_it_led(body: str, expected: str) -> None:
    assert rewritten(body) == expected


def test_html_is_read_as_html() -> None:
    body = f"<p><a href='{A}'><img src='{A}'></a> ![A]({A}) <code>&lt;img src={A}&gt;</code></p>"
    expected = body.replace(f"<img src='{A}'>", f"<img src='{NEW[A]}'>")
    assert rewritten(body, Format.HTML) == expected


def test_without_time_nothing_changes() -> None:
    assert rewritten(f"![A]({A})", seconds=-1) == f"![A]({A})"


def test_many_pictures_that_link_to_themselves_are_done_in_seconds() -> None:
    words = "Some **words** about it. " * 80
    one = f"{words}\n\n[![A]({A})]({A})\n\n![B]({B})\n\n"
    started = time.monotonic()
    after = rewritten(one * 20)
    assert time.monotonic() - started < 15
    assert after == one.replace(f"![A]({A})", f"![A]({NEW[A]})").replace(f"![B]({B})", f"![B]({NEW[B]})") * 20


PIECES = st.sampled_from([
    A, B, "![", "](", ")", "[", "]", "<img src=", "'", '"', ">", "`", "\n", "\n\n", "    ", "a", " ", "<a href=",
    "<!--", "-->", "\\", ":::item\n", "picture: ", "title: x\n", ":::\n", "[a]: ", "```\n", "{{nickname}}",
])  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join), st.sampled_from(list(Format)))
def test_whatever_is_written_readers_see_the_same_but_for_the_pictures(body: str, format: Format) -> None:
    if not body.strip():
        return
    try:
        before = addresses._show(detail(body, format), body)
    except Exception:
        return
    after = addresses._show(detail(body, format), rewritten(body, format))
    assert before.rest == after.rest
    assert [
        NEW.get(old, old) if new in NEW.values() else old
        for old, new in zip(before.pictures, after.pictures, strict=True)
    ] == after.pictures


# Copying


@pytest.fixture
def host(admin: Any, configure: Any, media_bucket: str) -> Iterator[Host]:
    configure(GNA_LOCAL="true", DISABLE_AUTH="true")
    host = Host()
    yield host
    host.stop()


def markdown(admin: Any, *urls: str) -> dict[str, Any]:
    return created(admin, format="markdown", body="\n\n".join(f"Words\n\n![One]({url})" for url in urls))


def copy_in(admin: Any, campaign: dict[str, Any]) -> Any:
    answer = admin.post(f"{API}/{campaign['id']}/pictures", json={})
    assert answer.status == 200, answer.text
    return answer.json


def picture(side: int = 60) -> bytes:
    return encode(Image.new("RGB", (side, side), "teal"))


def test_pictures_from_elsewhere_become_copies(admin: Any, host: Host) -> None:
    big = host.put(encode(grid(cell=900)), "/big.jpg")
    campaign = markdown(admin, host.put(picture(), "/a.jpg"), big, host.put(b"gone", "/gone.jpg", 404))
    found = copy_in(admin, campaign)
    assert found["copied"] == 2
    assert found["left"] == [{"url": f"{host.url}/gone.jpg", "reason": "it answers with status 404"}]
    body = found["campaign"]["body"]
    assert (body.count("/media/"), body.count(host.url)) == (2, 1)
    assert found["campaign"]["version"] == campaign["version"] + 1
    names = service.view(campaign["id"]).content.pictures
    assert len(names) == 2
    assert not any(media.unpublish(name) for name in names), "they are in use"
    copies = [media.find_copy(name) for name in names]
    assert sorted(copy.width for copy in copies if copy) == [60, 1200]


@pytest.mark.parametrize(
    ("content", "reason"), [(b"hello", media_model.NO_PICTURE), (encode(grid())[:300], media_model.UNREADABLE)]
)
def test_what_is_no_picture_stays_and_is_named(admin: Any, host: Host, content: bytes, reason: str) -> None:
    campaign = markdown(admin, host.put(content))
    found = copy_in(admin, campaign)
    assert (found["copied"], found["left"][0]["reason"]) == (0, reason)
    assert (found["campaign"]["body"], found["campaign"]["version"]) == (campaign["body"], campaign["version"])


def test_a_private_address_is_never_asked(admin: Any, configure: Any, media_bucket: str) -> None:
    campaign = markdown(admin, "http://169.254.169.254/a.png")
    found = copy_in(admin, campaign)
    assert (found["copied"], len(found["left"])) == (0, 1)


def test_thirty_are_copied_at_once_and_the_rest_the_next_time(
    admin: Any, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "MOST", 2)
    campaign = markdown(admin, *(host.put(picture(50 + side), f"/{side}.jpg") for side in range(3)))
    first = copy_in(admin, campaign)
    assert (first["copied"], [left["url"] for left in first["left"]]) == (2, [f"{host.url}/2.jpg"])
    assert "at once" in first["left"][0]["reason"]
    second = copy_in(admin, campaign)
    assert (second["copied"], second["left"]) == (1, [])


def test_nothing_to_copy_changes_nothing(admin: Any, media_bucket: str) -> None:
    campaign = created(admin)
    found = copy_in(admin, campaign)
    assert (found["copied"], found["left"], found["campaign"]["version"]) == (0, [], campaign["version"])


def test_what_somebody_else_saves_meanwhile_is_not_lost(
    admin: Any, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = host.put(picture())
    campaign = markdown(admin, url)
    real = remote.copy_many

    def slow(*given: Any) -> Any:
        admin.patch(f"{API}/{campaign['id']}", json={"body": f"{campaign['body']}\n\nNew words", "subject": "New"})
        return real(*given)

    monkeypatch.setattr(remote, "copy_many", slow)
    found = copy_in(admin, campaign)["campaign"]
    assert found["subject"] == "New"
    assert "New words" in found["body"]
    assert url not in found["body"]


@pytest.mark.parametrize(("state", "status"), [("scheduled", 200), ("publishing", 409), ("published", 409)])
def test_only_what_can_be_edited_is_changed(admin: Any, media_bucket: str, state: str, status: int) -> None:
    campaign = in_state(admin, state)
    assert admin.post(f"{API}/{campaign['id']}/pictures", json={}).status == status


def test_an_unknown_campaign_is_not_found(admin: Any) -> None:
    assert admin.post(f"{API}/{UNKNOWN}/pictures", json={}).status == 404


def test_a_slow_host_does_not_keep_the_others_waiting(
    admin: Any, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "SECONDS", 0.5)
    campaign = markdown(admin, host.put(picture()))
    host.delay = 3
    started = time.monotonic()
    found = copy_in(admin, campaign)
    assert (found["copied"], len(found["left"])) == (0, 1)
    assert time.monotonic() - started < 3
    jobs.clean_up(lambda: True)


def test_a_defect_of_the_bucket_costs_one_picture(admin: Any, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    real = media.publish

    def broken(content: bytes, *given: Any) -> Any:
        if Image.open(io.BytesIO(content)).width == 70:
            raise RuntimeError
        return real(content, *given)

    monkeypatch.setattr(media, "publish", broken)
    campaign = markdown(admin, host.put(picture(70), "/a.jpg"), host.put(picture(80), "/b.jpg"))
    found = copy_in(admin, campaign)
    assert found["copied"] == 1
    assert found["left"] == [{"url": f"{host.url}/a.jpg", "reason": "it could not be stored"}]


def test_a_body_that_takes_long_to_read_leaves_less_time_to_copy(
    admin: Any, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within the 29 seconds of API Gateway, with a clock that only readings and hosts move."""
    now, real = [1_000.0], addresses._show
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def read(detail: CampaignDetail, body: str) -> Any:
        now[0] += 3
        return real(detail, body)

    def copy_many(urls: Any, seconds: float, *size: int) -> Any:
        now[0] += seconds
        return {url: media.publish(picture()) for url in urls}

    monkeypatch.setattr(addresses, "_show", read)
    monkeypatch.setattr(remote, "copy_many", copy_many)
    campaign = markdown(admin, "https://pics.example/a.jpg")
    found = copy_in(admin, campaign)
    assert (found["copied"], found["left"]) == (1, [])
    assert now[0] - 1_000 + 3 < 29, "saving reads it once more"
