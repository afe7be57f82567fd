"""Test emails from the review page: several addresses, as somebody chosen, and the addresses stay in the form."""

from tests.browser import page_checks
from tests.browser.admin.test_pages import LOOKS


def test_a_test_is_sent_to_several_as_a_subscriber_and_the_addresses_stay(dashboard, look, ses, person):
    person("bea.tester@example.net", "Bea")
    page = look()
    page.goto(f"/admin/campaigns/{dashboard.draft}/review")
    assert page.get_by_label("Name", exact=True).is_hidden()
    page.get_by_label("To", exact=True).fill("one.tester@example.org, two.tester@example.org")
    page.get_by_label("The subscriber with the address").check()
    page.get_by_label("Address of the subscriber").fill("bea.tester@example.net")
    for name, (colours, size) in {**LOOKS, "narrow": ("dark", {"width": 320, "height": 700})}.items():
        page.emulate_media(color_scheme=colours)
        page.set_viewport_size(size)
        page_checks.shoot(page, f"admin/testing.{name}")
        assert page_checks.violations(page) == []
        assert page_checks.fits(page)
    page.get_by_role("button", name="Send test email").click()
    page.get_by_text("Test emails sent.").wait_for()
    for address in ("one.tester@example.org", "two.tester@example.org"):
        (mail,) = ses.mails(to=address)
        assert mail["subject"].startswith("[Test] ")
    assert page.get_by_label("To", exact=True).input_value() == "one.tester@example.org, two.tester@example.org"
    assert "tester" not in page.url
    page.goto(f"/admin/campaigns/{dashboard.scheduled}/review")
    assert "two.tester" in page.get_by_label("To", exact=True).input_value()


def test_without_script_it_works_and_refused_input_is_still_there(dashboard, look, ses):
    page = look(script=False)
    page.goto(f"/admin/campaigns/{dashboard.draft}/review")
    page.get_by_label("To", exact=True).fill("six@example.org " * 6)
    page.get_by_role("button", name="Send test email").click()
    page.get_by_text("Type 1 to 5 addresses").wait_for()
    assert page.get_by_label("To", exact=True).input_value().startswith("six@example.org six@example.org")
    page.get_by_label("To", exact=True).fill("without.script@example.org")
    page.get_by_label("Somebody called").check()
    page.get_by_label("Name", exact=True).fill("Ada")
    page.get_by_role("button", name="Send test email").click()
    page.get_by_text("Test email sent.").wait_for()
    assert len(ses.mails(to="without.script@example.org")) == 1
