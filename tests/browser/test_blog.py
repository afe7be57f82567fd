"""The demo blog in a browser: from the embedded form to the welcome page."""

import re


def test_a_visitor_subscribes_on_the_blog_and_confirms_by_the_mail(page, gna):
    page.goto("/demo/")
    page.get_by_label("Email address").fill("visitor@example.org")
    page.get_by_label("Name").fill("Vi")
    page.get_by_role("button", name="Subscribe").click()
    page.get_by_text("check your inbox").wait_for()
    mail = gna.wait_for_mail("visitor@example.org")[0]
    answer = page.goto(re.search(rf"{re.escape(gna.url)}\S+", mail["text"])[0])
    assert answer.status == 200


def test_the_blog_fits_a_phone(phone):
    phone.goto("/demo/")
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_blog_has_a_dark_scheme(dark):
    dark.goto("/demo/")
    colour = dark.evaluate("getComputedStyle(document.body).backgroundColor")
    assert sum(int(part) for part in re.findall(r"\d+", colour)) < 200


def test_a_published_post_appears_at_once(page):
    page.goto("/demo/")
    page.get_by_label("Title").fill("First snow")
    page.get_by_label("Text").fill("It came sideways.")
    page.get_by_role("button", name="Publish").click()
    page.get_by_role("link", name="First snow").click()
    page.get_by_role("heading", name="First snow").wait_for()
