"""The embeddable form on a page of another origin, with its script."""

import pytest

from tests.browser.page_checks import fits, shoot, violations
from tests.docs.pages import blocks

TEXTS = {
    "email": "E-Mail-Adresse",
    "name": "Name, wenn du magst",
    "button": "Abonnieren",
    "success": "Fast geschafft: schau in dein Postfach.",
    "invalid": "Bitte prüfe die Adresse.",
    "limit": "Zu viele Versuche.",
    "failure": "Das hat nicht geklappt.",
}


@pytest.fixture
def snippet(house):
    """`snippet(data_source="blog", data_name="")`: what somebody pastes into their site."""

    def write(**attributes):
        given = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
        return f'<script src="{house.url}/embed.js"{given} async></script>'

    return write


def sign_up(page, address, label="Email address", button="Subscribe"):
    page.get_by_label(label).fill(address)
    page.get_by_role("button", name=button).click()


def status(page, text):
    page.get_by_role("status").filter(has_text=text).wait_for()


def test_a_visitor_signs_up_from_another_origin(house, elsewhere, snippet, look):
    page = look()
    page.goto(elsewhere.show(snippet(data_source="blog", data_name="", data_tags="garden,seeds")))
    page.get_by_label("Name").fill("Ada")
    sign_up(page, "ada@example.net")
    status(page, "check your inbox")
    shoot(page, "form/success")
    assert page.get_by_label("Email address").input_value() == ""
    page.goto(house.link("ada@example.net"))
    page.get_by_role("heading", name="Welcome").wait_for()
    page.goto(house.profile("ada@example.net"))
    assert page.get_by_label("Name").input_value() == "Ada"


@pytest.mark.parametrize("load", ["", " async", " defer"])
def test_the_form_goes_where_it_is_told_however_the_script_is_loaded(house, elsewhere, look, load):
    page = look()
    script = f'<script src="{house.url}/embed.js" data-into="#here"{load}></script>'
    page.goto(elsewhere.show(f'{script}<p>Before</p><div id="here"></div>'))
    page.locator("#here form.gna-form").wait_for()
    assert page.locator("form.gna-form").count() == 1


@pytest.mark.parametrize("address", ["", "not an address", "ada@nowhere"])
def test_a_mistake_is_said_and_the_address_is_where_one_goes_on_typing(house, elsewhere, snippet, look, address):
    page = look()
    page.goto(elsewhere.show(snippet()))
    sign_up(page, address)
    status(page, "Please check the email address.")
    field = page.get_by_label("Email address")
    assert field.evaluate("element => element === document.activeElement")
    assert field.get_attribute("aria-invalid") == "true"
    assert field.input_value() == address
    shoot(page, "form/invalid")
    sign_up(page, "ada@example.net")
    status(page, "check your inbox")
    assert field.get_attribute("aria-invalid") is None


def test_the_limit_is_said_too(house, elsewhere, snippet, look, still):
    for number in range(5):
        house.http.post("/api/subscribe", json={"email": f"n{number}@example.net"}, source_ip="127.0.0.1")
    page = look()
    page.goto(elsewhere.show(snippet()))
    sign_up(page, "ada@example.net")
    status(page, "Too many attempts. Please wait a minute.")
    assert page.get_by_label("Email address").input_value() == "ada@example.net"


def test_a_site_that_may_not_use_this_deployment_gets_a_failure(house, elsewhere, snippet, look, configure):
    configure(ALLOWED_ORIGINS="https://another.example.org")
    page = look(refused=True)
    page.goto(elsewhere.show(snippet()))
    sign_up(page, "ada@example.net")
    status(page, "Something went wrong.")


def test_every_text_can_be_said_in_another_language(house, elsewhere, snippet, look, still):
    page = look()
    page.goto(elsewhere.show(snippet(data_name="", **{f"data_text_{key}": text for key, text in TEXTS.items()})))
    page.get_by_label(TEXTS["name"]).fill("Ada")
    sign_up(page, "falsch", TEXTS["email"], TEXTS["button"])
    status(page, TEXTS["invalid"])
    sign_up(page, "ada@example.net", TEXTS["email"], TEXTS["button"])
    status(page, TEXTS["success"])
    for number in range(5):
        house.http.post("/api/subscribe", json={"email": f"n{number}@example.net"}, source_ip="127.0.0.1")
    sign_up(page, "bob@example.net", TEXTS["email"], TEXTS["button"])
    status(page, TEXTS["limit"])
    page.route("**/api/subscribe", lambda route: route.fulfill(status=503))
    sign_up(page, "bob@example.net", TEXTS["email"], TEXTS["button"])
    status(page, TEXTS["failure"])
    assert not any(word in page.inner_text("main") for word in ("Email address", "Subscribe", "Please", "went wrong"))


def test_the_keyboard_is_enough_and_never_meets_the_hidden_field(house, elsewhere, snippet, look):
    page = look()
    page.goto(elsewhere.show(snippet(data_name="")))
    page.get_by_role("button", name="Subscribe").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.type("ada@example.net")
    page.keyboard.press("Tab")
    page.keyboard.type("Ada")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Subscribe"
    page.keyboard.press("Enter")
    status(page, "check your inbox")
    assert house.mails("ada@example.net")


def test_a_screen_reader_is_told_because_the_live_region_is_there_from_the_start(elsewhere, snippet, look):
    page = look()
    page.goto(elsewhere.show(snippet(data_name="")))
    region = page.get_by_role("status")
    region.wait_for(state="attached")
    assert region.get_attribute("aria-live") == "polite"
    assert region.inner_text() == ""
    assert violations(page) == []


def test_somebody_quicker_than_the_time_trap_is_waited_for_and_not_refused(house, elsewhere, snippet, look):
    page = look()
    page.goto(elsewhere.show(snippet()))
    page.get_by_role("button", name="Subscribe").wait_for()
    page.evaluate("""() => {
        document.querySelector('[name=email]').value = 'quick@example.net';
        document.querySelector('.gna-form').requestSubmit();
    }""")
    status(page, "check your inbox")
    assert house.subscribed("quick@example.net")


def test_a_robot_that_fills_in_everything_learns_nothing_and_subscribes_nobody(house, elsewhere, snippet, look):
    page = look()
    page.goto(elsewhere.show(snippet()))
    page.get_by_role("button", name="Subscribe").wait_for()
    page.evaluate("document.querySelector('[name=website]').value = 'https://spam.example'")
    sign_up(page, "victim@example.net")
    status(page, "check your inbox")
    assert not house.subscribed("victim@example.net")


def test_two_forms_on_one_page_do_not_disturb_each_other(house, elsewhere, snippet, look):
    page = look()
    page.goto(elsewhere.show(snippet(data_source="top") + "<hr>" + snippet(data_source="foot")))
    forms = page.locator(".gna-form")
    forms.nth(1).wait_for()
    assert page.evaluate("new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size") == 4
    for number, address in enumerate(("ada@example.net", "bob@example.net")):
        forms.nth(number).get_by_label("Email address").fill(address)
        forms.nth(number).get_by_role("button").click()
        forms.nth(number).get_by_text("check your inbox").wait_for()
    assert violations(page) == []
    for address, source in (("ada@example.net", "top"), ("bob@example.net", "foot")):
        house.http.get(house.link(address).removeprefix(house.url))
        token = house.profile(address).partition("token=")[2]
        stored = house.http.get(f"/profile/data?token={token}").json
        assert [capture["source"] for capture in stored["captures"]] == [source]


def test_two_quick_presses_send_once(house, elsewhere, snippet, look):
    page = look()
    page.goto(elsewhere.show(snippet()))
    sent = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.get_by_label("Email address").fill("ada@example.net")
    page.get_by_role("button", name="Subscribe").dblclick()
    status(page, "check your inbox")
    assert len(sent) == 1


def test_it_works_under_a_strict_content_security_policy(house, elsewhere, snippet, look):
    policy = (
        f"default-src 'none'; script-src {house.url}; connect-src {house.url}; base-uri 'none'; form-action 'none'"
    )
    page = look()
    page.goto(elsewhere.show(snippet(), policy))
    sign_up(page, "ada@example.net")
    status(page, "check your inbox")


def test_it_fits_a_phone(elsewhere, snippet, look):
    page = look(phone=True)
    page.goto(elsewhere.show(snippet(data_name="")))
    page.get_by_role("button", name="Subscribe").wait_for()
    assert fits(page)
    shoot(page, "form/phone")


def test_the_script_is_small_and_may_be_kept(house):
    answer = house.http.get("/embed.js")
    assert len(answer.body) < 9 * 1024
    assert answer.headers["Cache-Control"] == "public, max-age=30"  # it says the publication's language
    assert house.http.get("/embed.js?v=1").headers["Cache-Control"] == "public, max-age=31536000"


@pytest.mark.parametrize("number", [0, 1], ids=["script", "plain"])
def test_the_snippets_of_the_readme_work_as_they_stand(house, elsewhere, look, number):
    snippet = blocks("html")[number].text.replace("https://news.example.org", house.url)
    page = look(script=number == 0)
    page.goto(elsewhere.show(snippet))
    sign_up(page, "ada@example.net")
    page.get_by_text("check your inbox").wait_for()
    house.http.get(house.link("ada@example.net").removeprefix(house.url))
    token = house.profile("ada@example.net").partition("token=")[2]
    stored = house.http.get(f"/profile/data?token={token}").json
    assert [capture["source"] for capture in stored["captures"]] == ["blog"]
