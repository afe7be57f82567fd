"""The page of pictures and *Copy in*, in a browser: with the script and without."""

import re

import pytest
from PIL import Image

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.model import Format
from chalicelib.campaigns.service import Draft
from chalicelib.media import library
from chalicelib.media import service as media
from tests.browser.admin.test_import_pages import _look_at
from tests.rooms.inbox.test_pictures import Host
from tests.rooms.media.pictures import encode, grid


def _photo(size, colour):
    shade = Image.radial_gradient("L").resize(size)
    return encode(Image.composite(Image.new("RGB", size, colour), Image.new("RGB", size, "#f4e9d8"), shade))


def _fill():
    """Used by many, by one, by the publication's own words, and by nothing."""
    sizes = [((1600, 1067), "#2f6f4f"), ((900, 1350), "#a8482c"), ((1200, 400), "#33507a"), ((320, 320), "#8a6d1f")]
    made = [library.receive(_photo(*one)).kept for one in sizes]
    shown = [f"![A picture]({media.copy_url(kept.copy.name)})" for kept in made]
    for number in range(6):
        subject = f"What to do in the garden in week {number}, when nothing else is to be done"
        campaigns.create(Draft(subject, shown[0], format=Format.MARKDOWN))
    campaigns.create(Draft("S" * 250, shown[1], format=Format.MARKDOWN))
    media.publish(encode(grid(cell=60)))
    return made


def test_every_page_of_pictures_is_accessible_and_fits(dashboard, look):
    page = look()
    page.goto("/admin/media")
    wrong = _look_at(page, "media-empty")
    made = _fill()
    page.goto("/admin/media")
    page.wait_for_load_state("networkidle")
    wrong += _look_at(page, "media")
    page.goto(f"/admin/media?delete={made[3].id}")
    wrong += _look_at(page, "media-delete")
    page.goto("/admin/campaigns")
    wrong += _look_at(page, "campaigns-with-pictures")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("script", [True, False])
def test_a_picture_comes_and_goes(dashboard, look, tmp_path, script):
    page = look(script=script)
    path = tmp_path / "a picture.jpg"
    path.write_bytes(_photo((800, 600), "#2f6f4f"))
    page.goto("/admin/campaigns")
    page.get_by_role("link", name="Pictures").click()
    page.get_by_label("JPEG, PNG, WebP or GIF").set_input_files(path)
    page.get_by_role("button", name="Add picture").click()
    page.get_by_text("Added. Copy its address").wait_for()
    assert page.locator(".pictures img").evaluate("image => image.naturalWidth") == 800
    assert page.get_by_role("button", name=re.compile("Copy the address")).count() == (1 if script else 0)
    page.get_by_role("link", name=re.compile("Delete picture")).click()
    page.get_by_role("button", name="Delete picture").click()
    page.get_by_text("Picture deleted.").wait_for()
    page.get_by_role("heading", name="No pictures yet").wait_for()


def test_what_is_no_picture_is_refused_on_the_page(dashboard, look, tmp_path):
    page = look()
    path = tmp_path / "words.jpg"
    path.write_text("words")
    page.goto("/admin/media")
    page.get_by_label("JPEG, PNG, WebP or GIF").set_input_files(path)
    page.get_by_role("button", name="Add picture").click()
    page.get_by_text("Only JPEG, PNG, WebP and GIF").wait_for()


def test_the_review_copies_pictures_in(dashboard, browser):
    host = Host()
    good, bad = host.put(_photo((800, 600), "#2f6f4f"), "/frost.jpg"), host.put(b"", "/gone.jpg", 404)
    body = f"# Frost\n\n![The frost]({good})\n\n![Gone]({bad})"
    draft = campaigns.create(Draft("What the frost left", body, format=Format.MARKDOWN)).campaign.id
    page = browser.new_context(base_url=dashboard.url).new_page()  # its preview asks another host
    page.goto(f"/admin/campaigns/{draft}/review")
    wrong = _look_at(page, "review-remote")
    page.get_by_role("button", name="Copy in").click()
    page.get_by_text("1 picture was copied").wait_for()
    wrong += _look_at(page, "review-copied")
    assert campaigns.view(draft).content.body.count("/media/") == 1
    page.context.close()
    host.stop()
    assert not wrong, "\n".join(wrong)
