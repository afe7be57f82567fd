"""Members' pages in a language with long words, on a small phone."""

from tests.browser.page_checks import fits, shoot, small_targets, violations


def test_pages_in_german_fit_a_small_phone(house, look, configure):
    configure(SITE_LANG="de")
    ada = house.member()
    wrong = {}
    for name, person, path in (
        ("sign-in", None, "/sign-in"),
        ("join", None, "/join"),
        ("account", ada, "/account"),
        ("password", ada, "/account/password"),
        ("delete", ada, "/account/delete"),
        ("sightings", ada, "/sightings"),
        ("new", ada, "/sightings/new"),
    ):
        page = look(person, width=320) if person else look(width=320)
        page.goto(path)
        assert page.locator("html").get_attribute("lang") == "de"
        shoot(page, f"languages/member-{name}")
        wrong[name] = violations(page) + small_targets(page) + ([] if fits(page) else ["does not fit"])
    assert {name: found for name, found in wrong.items() if found} == {}
