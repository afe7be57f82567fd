"""Connecting accounts, following and reading what arrived, in a real browser."""

import re

from playwright.sync_api import expect

from chalicelib.following import notifications
from chalicelib.inbox.model import DESK, Provider
from local.providers.catalogue import CHANNELS, SHOWS
from tests.browser.following.conftest import PASSWORD

ALLOTMENT = CHANNELS[0]


def connect(page, home, label, decision="Allow"):
    """From the page of what is followed, through the provider's consent page, and back."""
    page.goto(home)
    page.get_by_role("link", name=f"Connect {label}", exact=True).click()
    page.get_by_role("button", name=f"Continue to {label}").click()
    page.get_by_role("button", name=decision).click()


def kept(page):
    """What the tab still keeps of connecting."""
    return page.evaluate("Object.keys(sessionStorage).filter((key) => key.startsWith('connect'))")


def test_an_editor_connects_youtube_follows_and_receives_what_is_published(house, look):
    page = look()
    connect(page, "/admin/following", "YouTube", "Decline")
    expect(page.get_by_role("alert")).to_have_text(re.compile("Access was declined"))
    expect(page).to_have_url(f"{house.url}/admin/following/callback")
    assert kept(page) == []

    connect(page, "/admin/following", "YouTube")
    expect(page.get_by_role("status")).to_have_text(re.compile("Connected"))
    expect(page).to_have_url(f"{house.url}/admin/following")
    assert kept(page) == []
    expect(page.locator(".connections")).to_contain_text("Since")

    page.get_by_role("link", name="From your subscriptions").click()
    page.get_by_role("button", name=f"Follow {ALLOTMENT.title}").click()
    expect(page.get_by_role("status").first).to_have_text(re.compile("Followed"))
    expect(page.get_by_role("button", name=f"Follow {ALLOTMENT.title}")).to_have_count(0)

    house.publish(ALLOTMENT.id, "The pond has frozen")
    page.get_by_role("link", name="Inbox", exact=True).click()
    titles = page.locator(".arrived h2 a")
    expect(titles).to_have_count(2)
    expect(titles.first).to_contain_text("The pond has frozen")
    page.get_by_role("button", name="Save The pond has frozen").click()
    expect(page.get_by_role("status")).to_have_text(re.compile("Saved"))
    expect(titles).to_have_count(1)
    page.get_by_role("link", name="Bookmarked").click()
    expect(titles).to_have_text(re.compile("The pond has frozen"))


def test_an_editor_connects_spotify_and_pastes_a_feed(house, look, blog):
    blog.publish("A bench, finally")
    page = look()
    connect(page, "/admin/following", "Spotify")
    expect(page.locator(".connections")).to_contain_text("Spotify ends it on")
    page.get_by_role("link", name="From your saved shows").click()
    page.get_by_role("button", name=f"Follow {SHOWS[0].name}").click()
    expect(page.get_by_role("status").first).to_have_text(re.compile("Followed"))

    page.goto("/admin/following")
    page.get_by_label("Paste a link").fill("a garden")
    page.get_by_role("button", name="Follow", exact=True).click()
    expect(page.locator("#url-why")).to_have_text(re.compile("Enter the address"))
    expect(page.get_by_label("Paste a link")).to_have_value("a garden")
    expect(page.get_by_label("Paste a link")).to_be_focused()
    page.get_by_label("Paste a link").fill(blog.url)
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text(re.compile("Followed"))
    expect(page.locator(".follows h3")).to_have_count(2)
    page.goto("/admin/inbox")
    expect(page.locator(".arrived")).to_contain_text("A bench, finally")


def test_a_member_follows_on_a_phone(house, look):
    page = look(house.member(), width=390)
    connect(page, "/following", "YouTube")
    expect(page.get_by_role("status")).to_have_text(re.compile("Connected"))
    page.get_by_role("link", name="From your subscriptions").click()
    page.get_by_role("button", name=f"Follow {ALLOTMENT.title}").click()
    expect(page.get_by_role("status").first).to_have_text(re.compile("Followed"))
    page.goto("/following")
    page.get_by_role("button", name=f"Pause {ALLOTMENT.title}").click()
    expect(page.get_by_role("status")).to_have_text(re.compile("Paused"))
    page.get_by_role("button", name=f"Resume {ALLOTMENT.title}").click()
    expect(page.get_by_role("status")).to_have_text(re.compile("Resumed"))
    page.get_by_role("link", name=ALLOTMENT.title).click()
    page.get_by_label("Only the newest").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_have_text(re.compile("Saved"))
    house.publish(ALLOTMENT.id, "The pond has frozen")
    page.get_by_role("link", name="Inbox", exact=True).click()
    expect(page.locator(".arrived h2")).to_have_text(re.compile("The pond has frozen"))


def test_a_session_that_ends_at_the_consent_page_loses_nothing(house, look):
    ada = house.member()
    page = look(ada)
    page.goto("/following/connect")
    page.get_by_role("button", name="Continue to YouTube").click()
    page.get_by_role("button", name="Allow").wait_for()
    ada.end_session()
    page.get_by_role("button", name="Allow").click()
    page.get_by_label("Email address").fill(ada.email)
    assert "code" not in page.url
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("status")).to_have_text(re.compile("Connected"))
    expect(page).to_have_url(f"{house.url}/following")
    assert kept(page) == []


def test_a_connection_is_completed_in_the_tab_that_began_it_and_once(house, look):
    page, other = look(), look()
    page.goto("/admin/following/connect")
    page.get_by_role("button", name="Continue to YouTube").click()
    page.get_by_role("button", name="Allow").wait_for()
    with page.expect_request("**/admin/following/callback?*") as asked:
        page.get_by_role("button", name="Allow").click()
    page.get_by_role("heading", name="Following", exact=True).wait_for()
    for elsewhere in (other, page):
        elsewhere.goto(asked.value.url)
        expect(elsewhere.get_by_role("alert")).to_have_text(re.compile("was not begun in this tab"))
        expect(elsewhere).to_have_url(f"{house.url}/admin/following/callback")
    page.get_by_role("link", name="Back to Following").click()
    expect(page.locator(".connections")).to_contain_text("Connected")


def test_what_goes_wrong_while_connecting_is_said_in_words(house, look):
    page = look()
    page.goto("/admin/following/connect")
    page.get_by_role("button", name="Continue to YouTube").click()
    page.get_by_role("button", name="Allow").wait_for()
    house.providers.set_fault("youtube", outage=True)
    page.get_by_role("button", name="Allow").click()
    expect(page.get_by_role("heading", name="Not connected")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_text(re.compile("Google answered 503"))
    page.goto("/admin/following/connect")
    page.route("**/connections/state", lambda route: route.abort())
    page.get_by_role("button", name="Continue to YouTube").click()
    expect(page.get_by_role("status")).to_have_text(re.compile("There is no connection to the server"))
    page.unroute("**/connections/state")
    page.get_by_role("button", name="Continue to YouTube").click()
    page.get_by_role("button", name="Allow").wait_for()


def test_an_answer_that_never_came_can_be_asked_for_again(house, look):
    page = look()
    page.route("**/connections/callback", lambda route: route.abort())
    connect(page, "/admin/following", "YouTube")
    expect(page.get_by_role("alert")).to_have_text(re.compile("There is no connection to the server"))
    page.unroute("**/connections/callback")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("status")).to_have_text(re.compile("Connected"))


def test_localhost_becomes_the_address_the_provider_sends_people_back_to(house, look):
    page = look(at=f"http://localhost:{house.port}")
    connect(page, "/admin/following", "YouTube")
    expect(page).to_have_url(f"{house.url}/admin/following")
    expect(page.get_by_role("status")).to_have_text(re.compile("Connected"))


def test_without_scripts_links_are_followed_and_connecting_says_what_it_needs(house, look, blog):
    blog.publish("A bench, finally")
    page = look(script=False)
    page.goto("/admin/following")
    page.get_by_label("Paste a link").fill(blog.url)
    page.get_by_role("button", name="Follow", exact=True).click()
    expect(page.locator(".notice.good")).to_have_text(re.compile("Followed"))
    page.goto("/admin/inbox")
    page.get_by_role("button", name="Archive A bench, finally").click()
    expect(page.locator(".notice.good")).to_have_text(re.compile("Archived"))
    page.goto("/admin/following/connect")
    expect(page.get_by_text("Connecting an account needs JavaScript")).to_be_visible()
    expect(page.get_by_role("button", name="Continue to YouTube")).to_have_count(0)


def test_every_page_leads_to_what_needs_attention(house, look):
    page = look()
    connect(page, "/admin/following", "Spotify")
    expect(page.get_by_role("status")).to_have_text(re.compile("Connected"))
    notifications.tell_expired(DESK, Provider.SPOTIFY)
    page.goto("/admin/subscribers")
    page.get_by_role("complementary", name="Notifications").get_by_role("link").click()
    page.get_by_role("button", name="Mark as read").click()
    expect(page.get_by_role("status")).to_have_text(re.compile("Marked as read"))
    page.goto("/admin/subscribers")
    expect(page.get_by_role("complementary", name="Notifications")).to_have_count(0)
