"""The mailbox's page in a real browser."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest

from local.ses.main import Client

pytestmark = pytest.mark.browser

_HOSTILE = (
    "<html><head></head><body><p id=hi>Hello</p><script>parent.stolen = 1; document.body.innerHTML = ''</script>"
)


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    page = browser.new_page(viewport={"width": 390, "height": 760})
    page.set_default_timeout(5_000)
    yield page
    page.close()


def _send(ses: Client, to: str, subject: str, html: str = "<p>Hi") -> None:
    boto3.client("sesv2", endpoint_url=ses.url).send_email(
        FromEmailAddress="news@example.org",
        Destination={"ToAddresses": [to]},
        Content={
            "Simple": {
                "Subject": {"Data": subject},
                "Body": {"Html": {"Data": html}, "Text": {"Data": "In plain words"}},
                "Headers": [{"Name": "List-Id", "Value": "<news>"}],
            }
        },
    )


def test_a_mail_appears_by_itself_and_can_be_read_in_all_its_forms(ses: Client, page: Any) -> None:
    page.goto(ses.url)
    page.get_by_text("No emails yet").wait_for()
    _send(ses, "ada@example.org", "<b>News</b>", _HOSTILE)
    page.get_by_role("button", name="<b>News</b>").click()
    page.frame_locator("iframe").locator("#hi").wait_for()
    assert page.evaluate("window.stolen") is None
    page.get_by_role("button", name="Text").click()
    page.get_by_text("In plain words").wait_for()
    page.get_by_role("button", name="Headers").click()
    page.get_by_text("<news>").wait_for()
    page.get_by_role("button", name="Back").click()
    page.get_by_role("button", name="<b>News</b>").wait_for()


def test_mails_are_found_by_recipient_and_nothing_is_wider_than_a_phone(ses: Client, page: Any) -> None:
    _send(ses, f"{'long' * 15}@example.org", "A very long subject " * 8)
    _send(ses, "zoe@example.org", "For Zoe")
    page.goto(ses.url)
    page.get_by_role("button", name="For Zoe").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.get_by_label("Search recipients").fill("zoe")
    page.get_by_role("button", name="A very long").wait_for(state="detached")
    page.get_by_role("button", name="For Zoe").wait_for()
