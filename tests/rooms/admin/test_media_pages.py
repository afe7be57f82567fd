"""The page of pictures, and copying pictures in from the review."""

from typing import Any

import pytest
from PIL import Image

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.model import Format
from chalicelib.campaigns.service import Draft
from chalicelib.media import library, model
from chalicelib.media import service as media
from tests.rooms.admin.conftest import ORIGIN, text
from tests.rooms.campaigns.test_gallery import BOUNDARY, large, part, work
from tests.rooms.inbox.test_pictures import Host
from tests.rooms.media.pictures import encode, grid

pytestmark = pytest.mark.usefixtures("media_bucket")

PAGE = "/admin/media"


def upload(dashboard: Any, content: bytes) -> Any:
    body = b"--" + BOUNDARY.encode() + b"\r\n" + part(content) + b"\r\n" + f"--{BOUNDARY}--\r\n".encode()
    kind = f"multipart/form-data; boundary={BOUNDARY}"
    return dashboard.http.post(PAGE, body=body, Content_Type=kind, Origin=ORIGIN)


def added(side: int = 60) -> Any:
    made = library.receive(encode(Image.new("RGB", (side, 40), "teal")))
    assert made.kept
    return made.kept


def test_a_picture_is_added_without_a_script(dashboard: Any) -> None:
    assert "No pictures yet" in dashboard.see(PAGE)
    answer = upload(dashboard, encode(grid()))
    assert answer.status == 303
    page = dashboard.get(answer.headers["Location"])
    assert "Added. Copy its address" in text(page)
    assert "48 × 32" in text(page)
    assert "Not used" in text(page)
    assert page.text.count("/media/") >= 3


def test_a_large_one_appears_a_moment_later(dashboard: Any) -> None:
    answer = upload(dashboard, large())
    assert "takes a few seconds" in dashboard.see(answer.headers["Location"])
    work()
    assert "1200 × 800" in dashboard.see(PAGE)


@pytest.mark.parametrize(
    ("content", "status", "said"),
    [
        (b"", 400, "Choose a picture first"),
        (b"hello", 400, model.NOT_FOR_DESK),
        (encode(grid()) + bytes(model.LARGEST_FORM), 413, "at most 4 MB"),
    ],
)
def test_what_is_refused_is_said(dashboard: Any, content: bytes, status: int, said: str) -> None:
    answer = upload(dashboard, content)
    assert (answer.status, said in text(answer)) == (status, True)


def test_it_shows_where_each_is_used(dashboard: Any) -> None:
    kept = added()
    body = f'<img src="{media.copy_url(kept.copy.name)}" alt="">'
    made = [campaigns.create(Draft(f"Issue {number}", body)).campaign.id for number in range(5)]
    page = dashboard.get(PAGE)
    assert "Issue 4 Issue 3 Issue 2 And 2 more uses" in text(page)
    assert f"/admin/campaigns/{made[4]}" in page.text
    assert "Delete…" not in text(page)


def test_deleting_asks_first(dashboard: Any) -> None:
    kept = added()
    page = dashboard.get(f"{PAGE}?delete={kept.id}")
    assert "Delete this picture?" in text(page)
    assert media.find_copy(kept.copy.name)
    assert "Picture deleted" in dashboard.follow(PAGE, action="delete", id=kept.id)
    assert not media.find_copy(kept.copy.name)
    assert "Nothing to do" in dashboard.follow(PAGE, action="delete", id=kept.id)
    assert dashboard.get(f"{PAGE}?delete={kept.id}").status == 404


def test_one_that_is_used_by_now_is_not_deleted(dashboard: Any) -> None:
    kept = added()
    campaigns.create(Draft("Issue", f'<img src="{media.copy_url(kept.copy.name)}" alt="">'))
    assert "it cannot be deleted" in text(dashboard.get(f"{PAGE}?delete={kept.id}"))
    assert "Not deleted" in dashboard.follow(PAGE, action="delete", id=kept.id)


def test_the_list_has_pages_and_a_filter(dashboard: Any) -> None:
    for side in range(21):
        added(60 + side)
    media.publish(encode(grid()))
    page = dashboard.get(PAGE).text
    assert page.count('class="card"') == 21
    older = page.split('rel="next" href="')[1].partition('"')[0].replace("&amp;", "&")
    page = dashboard.get(older)
    assert page.text.count('class="card"') == 3
    assert "Newest" in text(page)
    assert "48 × 32" not in dashboard.see(f"{PAGE}?uploaded=yes")


def test_the_review_copies_pictures_in(dashboard: Any, configure: Any) -> None:
    configure(GNA_LOCAL="true", DISABLE_AUTH="true")
    host = Host()
    good, bad = host.put(encode(grid()), "/a.jpg"), host.put(b"gone", "/b.jpg", 404)
    draft = campaigns.create(Draft("Issue", f"![A]({good})\n\n![B]({bad})", format=Format.MARKDOWN)).campaign.id
    review = f"/admin/campaigns/{draft}/review"
    page = dashboard.get(review)
    assert "Copy in" in text(page)
    assert f'action="/admin/campaigns/{draft}/pictures"' in page.text
    answer = dashboard.post(f"/admin/campaigns/{draft}/pictures")
    assert "1 picture was copied. Not copied:" in text(answer)
    assert "it answers with status 404" in text(answer)
    host.put(encode(grid(cell=20)), "/b.jpg")
    assert "Copied in." in dashboard.follow(f"/admin/campaigns/{draft}/pictures")
    assert "Copy in" not in text(dashboard.get(review))
    host.stop()


def test_the_list_of_campaigns_leads_to_the_pictures(dashboard: Any) -> None:
    assert 'href="/admin/media"' in dashboard.get("/admin/campaigns").text
