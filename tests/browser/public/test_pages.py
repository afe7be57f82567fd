"""The pages a reader meets, in a real browser: they do what they say, for everybody, on any screen."""

import json
from pathlib import Path

import pytest

from chalicelib.kernel.errors import Unavailable
from tests.browser.page_checks import shoot, violations

ADA = "ada@example.net"


def heading(page, text):
    page.get_by_role("heading", level=1, name=text).wait_for()


def test_confirming_ends_on_the_welcome_page_however_often_it_is_clicked(house, look):
    page, link = look(), house.subscribe(ADA)
    for _ in range(2):
        page.goto(link)
        heading(page, "Welcome! Your subscription is confirmed")
        assert page.url == f"{house.url}/confirmed"


def test_a_reader_changes_the_name(house, look):
    house.join(ADA, nickname="Ada")
    page = look()
    page.goto(house.profile(ADA))
    page.get_by_label("Name").fill("Countess")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved.").wait_for()
    page.goto(house.profile(ADA))
    assert page.get_by_label("Name").input_value() == "Countess"


def test_one_mail_is_enough_to_rename_download_and_leave(house, look):
    house.join(ADA, nickname="Ada")
    page = look()
    page.goto(house.profile(ADA))
    for name in ("Countess", "Lovelace"):
        page.get_by_label("Name").fill(name)
        page.get_by_role("button", name="Save").click()
        page.get_by_text("Saved.").wait_for()
        assert page.get_by_label("Name").input_value() == name
    page.reload()
    page.get_by_text("Saved.").wait_for()
    assert violations(page) == []
    shoot(page, "public/saved")
    with page.expect_download() as started:
        page.get_by_role("link", name="Download my data").click()
    assert json.loads(Path(started.value.path()).read_text())["nickname"] == "Lovelace"
    page.go_back()
    page.get_by_role("alert").filter(has_text="What you saved with it is kept").wait_for()
    page.go_forward()
    page.get_by_role("button", name="Unsubscribe and delete my data").click()
    heading(page, "You are unsubscribed")
    assert not house.subscribed(ADA)


def test_a_name_that_is_too_long_is_said_above_the_form(house, look):
    house.join(ADA)
    page = look()
    page.goto(house.profile(ADA))
    page.get_by_label("Name").evaluate("(element) => { element.maxLength = 999; element.value = 'x'.repeat(51) }")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("alert").filter(has_text="Nickname must be 1–50 characters").wait_for()
    assert violations(page) == []


def test_a_new_address_is_shown_as_waiting_until_it_is_confirmed_there(house, look):
    house.join(ADA)
    page = look()
    page.goto(house.profile(ADA))
    page.get_by_label("Email address").fill("countess@example.net")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved.").wait_for()
    page.get_by_role("status").filter(has_text="open the link we sent there").wait_for()
    shoot(page, "public/address-saved")
    change = house.link("countess@example.net")
    page.goto(house.profile(ADA))
    page.get_by_role("status").filter(has_text="countess@example.net").wait_for()
    assert page.get_by_label("Email address").input_value() == ADA
    assert violations(page) == []
    shoot(page, "public/address-waits")
    page.goto(change)
    page.get_by_text("Your new address is confirmed").wait_for()
    page.goto(house.profile("countess@example.net"))
    assert page.get_by_label("Email address").input_value() == "countess@example.net"


def test_a_reader_takes_everything_stored_away(house, look):
    house.join(ADA, nickname="Ada", source="blog")
    page = look()
    page.goto(house.profile(ADA))
    with page.expect_download() as started:
        page.get_by_role("link", name="Download my data").click()
    assert started.value.suggested_filename == "my-data.json"
    stored = json.loads(Path(started.value.path()).read_text())
    assert (stored["email"], stored["nickname"]) == (ADA, "Ada")


def test_a_reader_leaves_from_the_profile(house, look):
    house.join(ADA)
    page = look()
    page.goto(house.profile(ADA))
    page.get_by_role("button", name="Unsubscribe and delete my data").click()
    heading(page, "You are unsubscribed")
    assert not house.subscribed(ADA)


def test_never_again_is_kept_until_its_owner_takes_it_back(house, look):
    house.join(ADA)
    page = look()
    page.goto(house.profile(ADA))
    page.locator("summary").click()
    shoot(page, "public/never")
    page.get_by_role("button", name="Never email me again").click()
    heading(page, "We will not email you again")
    assert not house.subscribed(ADA)
    page.goto("/profile")
    page.locator("summary").click()
    page.locator("#resume-email").fill(ADA)
    page.locator("details button").click()
    page.get_by_text("a link to allow it again is on its way").wait_for()
    page.goto(house.link(ADA))
    heading(page, "May we email you again?")
    shoot(page, "public/resume")
    page.get_by_role("button", name="Yes, allow emails again").click()
    heading(page, "Done. We may email you again")


def test_a_link_to_the_profile_is_asked_for_without_saying_who_is_subscribed(house, look):
    page = look()
    for address in (ADA, "nobody@example.net"):
        page.goto("/profile")
        page.get_by_label("Your email address").first.fill(address)
        page.get_by_role("button", name="Email me a link").click()
        page.get_by_text("If that address is subscribed, a link is on its way").wait_for()
        house.join(ADA) if address == "nobody@example.net" else None


def test_the_link_in_a_mail_unsubscribes_at_once(house, look):
    house.join(ADA)
    page = look()
    page.goto(house.goodbye(ADA))
    heading(page, "You are unsubscribed")
    assert not house.subscribed(ADA)


@pytest.mark.parametrize("script", [True, False])
def test_with_safe_links_one_button_acts_and_opening_the_link_does_not(house, look, configure, script):
    configure(SAFE_LINKS="true")
    page, link = look(script=script), house.subscribe(ADA)
    page.goto(link)
    heading(page, "Please confirm")
    page.get_by_role("button", name="Yes, confirm").click()
    heading(page, "Welcome! Your subscription is confirmed")
    page.goto(house.goodbye(ADA))
    heading(page, "Do you want to unsubscribe?")
    assert house.subscribed(ADA)
    page.get_by_role("button", name="Unsubscribe").click()
    heading(page, "You are unsubscribed")
    assert not house.subscribed(ADA)


def test_without_a_script_a_form_elsewhere_subscribes(house, elsewhere, look):
    page = look(script=False)
    page.goto(elsewhere.show(plain_form(house)))
    page.get_by_label("Email address").fill(ADA)
    page.get_by_role("button").click()
    heading(page, "One more step: check your inbox")
    page.goto(house.link(ADA))
    heading(page, "Welcome! Your subscription is confirmed")
    page.goto(house.profile(ADA))
    page.get_by_label("Name").fill("Ada")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved.").wait_for()


def test_without_a_script_a_mistake_and_the_limit_are_pages_one_can_go_back_from(house, elsewhere, look, still):
    page = look(script=False)
    page.goto(elsewhere.show(plain_form(house)))
    page.get_by_label("Email address").fill("ada@nowhere")
    page.get_by_role("button").click()
    heading(page, "Email address is not valid")
    shoot(page, "public/error-400")
    page.go_back()
    assert page.get_by_label("Email address").input_value() == "ada@nowhere"
    for number in range(5):
        house.http.post("/api/subscribe", json={"email": f"n{number}@example.net"}, source_ip="127.0.0.1")
    page.get_by_label("Email address").fill(ADA)
    page.get_by_role("button").click()
    page.get_by_text("Please try again later.").wait_for()
    shoot(page, "public/error-429")


def plain_form(house):
    return (
        f'<form method="post" action="{house.url}/api/subscribe">'
        '<label>Email address <input type="email" name="email" required></label> <button>Subscribe</button></form>'
    )


def test_the_subscribe_page_can_be_shown_in_a_frame_where_the_form_is_allowed(house, elsewhere, look):
    page = look()
    page.goto(elsewhere.show(f'<iframe title="Subscribe" src="{house.url}/subscribe?source=frame"></iframe>'))
    frame = page.frame_locator("iframe")
    frame.get_by_label("Email address").fill("ada@nowhere")
    frame.get_by_role("button", name="Subscribe").click()
    frame.get_by_role("heading", name="Email address is not valid").wait_for()
    page.reload()
    frame.get_by_label("Email address").fill(ADA)
    frame.get_by_role("button", name="Subscribe").click()
    frame.get_by_role("heading", name="One more step").wait_for()
    assert house.subscribed(ADA)


def test_when_the_database_is_away_the_page_says_so_and_loses_nothing(house, look, monkeypatch):
    from chalicelib.audience import service

    def away(*ignored):
        raise Unavailable("The service is not available", 5)

    page = look()
    page.goto("/subscribe")
    page.get_by_label("Email address").fill(ADA)
    monkeypatch.setattr(service, "subscribe", away)
    page.get_by_role("button", name="Subscribe").click()
    page.get_by_text("Nothing was lost; please try again in a minute.").wait_for()
    assert violations(page) == []
    shoot(page, "public/error-503")
