"""An editor looks through the history of a draft, and brings a version back: with a mouse, and by keyboard without
scripts."""

import pytest

from chalicelib.campaigns import service
from chalicelib.campaigns.service import Saver


@pytest.mark.parametrize("script", [True, False])
def test_a_version_is_found_and_brought_back(dashboard, look, script):
    page = look(script=script)
    page.goto(f"/admin/campaigns/{dashboard.draft}")
    page.get_by_role("link", name="History").click()
    rows = page.get_by_role("row")
    assert rows.count() == 4  # with the head
    assert "Current" in rows.nth(1).inner_text()
    rows.nth(3).get_by_role("link").press("Enter")
    page.get_by_role("link", name="Newer").click()
    changed = page.get_by_role("group", name="Changes of the body")
    assert changed.locator("ins").all_inner_texts() == [" any of"]
    page.get_by_role("link", name="Compared with now").click()
    assert changed.locator("del").all_inner_texts() == [" Blue Lake,"]
    assert "Blauhilde" in page.frame_locator("iframe").locator("body").inner_text()
    page.get_by_role("button", name="Bring back").press("Enter")
    page.wait_for_url(f"**/admin/campaigns/{dashboard.draft}?notice=version-restored")
    assert "Brought back." in page.locator(".notice").first.inner_text()
    body = page.get_by_label("Body", exact=True).input_value()
    assert "any of them" in body
    assert "Blauhilde" in body


def test_somebody_who_saved_meanwhile_is_not_overwritten(dashboard, look):
    page = look()
    page.goto(f"/admin/campaigns/{dashboard.draft}/versions?version=1")
    theirs = service.update(dashboard.draft, {}, {"body": "Theirs"}, saver=Saver("ben@example.org"))
    with page.expect_response("**/versions") as answered:
        page.get_by_role("button", name="Bring back").click()
    assert answered.value.status == 409
    assert "Someone else has saved this campaign" in page.get_by_role("alert").inner_text()
    assert "ben@example.org" in page.get_by_role("row").nth(1).inner_text()
    assert service.view(dashboard.draft).content == theirs.content
