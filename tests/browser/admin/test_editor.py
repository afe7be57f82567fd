"""The editor's toolbar and keys, in Markdown and HTML, on every page that has a text to write."""

import pytest

from tests.browser import page_checks
from tests.browser.admin.editing import body, give, open_draft, put, seen

KEYS = {
    "Bold": "Control+b",
    "Italic": "Control+i",
    "Link": "Control+k",
    "Heading": "Control+Shift+Digit2",
    "List": "Control+Shift+Digit8",
    "Numbered list": "Control+Shift+Digit7",
    "Quote": "Control+Shift+Digit9",
}
# What an action makes of a text; the second time it is undone, unless something else is said.
MARKDOWN = [
    ("Bold", "a |word| b", "a **|word|** b", "a |word| b"),
    ("Bold", "a wo|rd b", "a **wo|rd** b", "a wo|rd b"),
    ("Bold", "a | b", "a **|** b", "a | b"),
    ("Bold", "- |one\n- two\n\n> three|", "- |**one**\n- **two**\n\n> **three**|", "- |one\n- two\n\n> three|"),
    ("Italic", "a **|word|** b", "a ***|word|*** b", "a **|word|** b"),
    ("Link", "a |word| b", "a [word](|https://|) b", "a |word| b"),
    ("Link", "|https://blog.example.org|", "[|](https://blog.example.org)", None),
    ("Heading", "tit|le\nx", "## tit|le\nx", "tit|le\nx"),
    ("List", "|a\nb\n\nc|", "|- a\n- b\n\n- c|", "|a\nb\n\nc|"),
    ("Numbered list", "|- a\n- b|", "|1. a\n2. b|", "|a\nb|"),
    ("Quote", "|a\n- b|", "|> a\n> - b|", "|a\n- b|"),
    ("Divider", "a|b\nc", "ab\n\n---\n\n|c", None),
    ("Divider", "ab\n\n---|\n\nc", "ab\n\n|\nc", None),
]
HTML = [
    ("Bold", "a |word| b", "a <strong>|word|</strong> b", "a |word| b"),
    ("Italic", "a |word| b", "a <em>|word|</em> b", "a |word| b"),
    ("Link", "a |word| b", 'a <a href="|https://|">word</a> b', "a |word| b"),
    ("Heading", "ti|tle", "<h2>|title|</h2>", "|title|"),
    ("List", "|a\nb|", "<ul>\n<li>a</li>\n<li>b|</li>\n</ul>", "|a\nb|"),
    ("Quote", "ab|c", "<blockquote>\nabc|\n</blockquote>", "|abc|"),
    ("Divider", "ab|c\nd", "abc\n\n<hr>\n\n|d", None),
]
ENTER = [
    ("- a|", "- a\n- |"),
    ("- a|b", "- a\n- |b"),
    ("- |", "|"),
    ("- a\n- |", "- a\n\n|"),
    ("> a\n> |", "> a\n\n|"),
    ("- a\n\n- |", "- a\n\n|"),
    ("9. a|", "9. a\n10. |"),
    ("> a|", "> a\n> |"),
    ("> - |", "> |"),
    ("  * a|", "  * a\n  * |"),
    ("text|", "text\n|"),
    ("|- a", "\n|- a"),
    ("---|", "---\n|"),
]


def test_every_button_and_key_formats_and_undoes_itself(dashboard, look):
    page = look()
    open_draft(page, dashboard.draft)
    for html, cases in ((False, MARKDOWN), (True, HTML)):
        page.get_by_label("HTML" if html else "Markdown").check()
        for label, before, after, again in cases:
            for use_key in (False, True) if label in KEYS else (False,):
                put(page, before)

                def act(label=label, use_key=use_key):
                    if use_key:
                        page.keyboard.press(KEYS[label])
                    else:
                        page.get_by_role("button", name=label, exact=True).click()

                act()
                assert seen(page) == after, (label, before, use_key)
                if again is not None:
                    act()
                    assert seen(page) == again, (label, after, use_key)


def test_enter_continues_lists_and_quotes_and_an_empty_item_ends_them(dashboard, look):
    page = look()
    open_draft(page, dashboard.draft)
    for before, after in ENTER:
        put(page, before)
        page.keyboard.press("Enter")
        assert seen(page) == after, before
    put(page, "- a|")
    page.keyboard.press("Shift+Enter")
    assert seen(page) == "- a\n|"
    page.get_by_label("HTML").check()
    put(page, "- a|")
    page.keyboard.press("Enter")
    assert seen(page) == "- a\n|"


def test_what_an_action_did_can_be_undone_and_done_again(dashboard, look):
    page = look()
    open_draft(page, dashboard.draft)
    put(page, "one two|")
    page.keyboard.type(" three")
    page.keyboard.press("Control+Shift+ArrowLeft")
    page.keyboard.press("Control+b")
    assert body(page).input_value() == "one two **three**"
    page.keyboard.press("Control+z")
    assert body(page).input_value() == "one two three"
    page.keyboard.press("Control+Shift+z")
    assert body(page).input_value() == "one two **three**"


def test_the_toolbar_is_one_stop_of_the_keyboard_and_tab_always_moves_on(dashboard, look):
    page = look()
    open_draft(page, dashboard.draft)
    focused = "document.activeElement.getAttribute('aria-label') || document.activeElement.id"
    body(page).focus()
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(focused) == "Bold"
    assert page.evaluate("getComputedStyle(document.activeElement, '::after').display") == "block"
    for key, label in (
        ("ArrowRight", "Italic"),
        ("End", "Wide writing view"),
        ("ArrowRight", "Bold"),
        ("ArrowLeft", "Wide writing view"),
        ("Home", "Bold"),
        ("ArrowRight", "Italic"),
    ):
        page.keyboard.press(key)
        assert page.evaluate(focused) == label
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "body"
    before = body(page).input_value()
    page.keyboard.press("Tab")
    assert page.evaluate(focused) != "body"
    assert body(page).input_value() == before
    body(page).focus()
    page.keyboard.press("Alt+F10")
    assert page.evaluate(focused) == "Italic"
    assert page.get_by_role("toolbar", name="Formatting").get_attribute("aria-controls") == "body"
    assert page.get_by_role("button", name="Bold").get_attribute("aria-keyshortcuts") == "Control+B"


def test_placeholders_are_chosen_from_a_menu_by_keyboard_alone(dashboard, look):
    page = look()
    open_draft(page, dashboard.draft)
    put(page, "Dear |")
    page.keyboard.press("Alt+F10")
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.get_by_role("menu", name="Personalise").wait_for()
    assert not page_checks.violations(page)
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Personalise"
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert seen(page) == "Dear {{nickname|friend}}|"
    assert page.get_by_role("menu").count() == 0


def test_a_link_that_is_pasted_over_words_becomes_their_link(dashboard, look):
    page = look()
    open_draft(page, dashboard.draft)
    put(page, "read |this| now")
    assert not give(page, "paste", texts={"text/plain": "https://blog.example.org/a"})
    assert seen(page) == "read [this](https://blog.example.org/a)| now"
    put(page, "read |this| now")
    assert give(page, "paste", texts={"text/plain": "other words"})  # the browser pastes as usual


@pytest.mark.parametrize("where", ["correct", "settings"])
def test_other_texts_have_the_same_tools(dashboard, look, where):
    page = look()
    page.goto("/admin/settings" if where == "settings" else f"/admin/campaigns/{dashboard.sent}/correct")
    area = page.locator("textarea[data-editor]")
    area.fill("word")
    area.evaluate("(area) => area.setSelectionRange(0, 4)")
    area.press("Control+b")
    assert area.input_value() == ("<strong>word</strong>" if where == "correct" else "**word**")
    assert page.get_by_role("toolbar").count() == 1
    assert not page_checks.violations(page)


def test_without_scripts_there_is_no_toolbar_and_the_form_previews_for_a_name(dashboard, look):
    page = look(script=False)
    page.goto(f"/admin/campaigns/{dashboard.draft}")
    assert page.locator(".tools, [data-saving]:visible").count() == 0
    body(page).fill("Dear {{nickname|friend}}")
    page.get_by_label("Name of the reader in the preview").fill("Zoë")
    page.get_by_role("button", name="Update").click()
    page.frame_locator("iframe").get_by_text("Dear Zoë").wait_for()
    page.get_by_text("Without", exact=True).click()
    page.get_by_role("button", name="Update").click()
    page.frame_locator("iframe").get_by_text("Dear friend").wait_for()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved.").wait_for()
    page.goto(f"/admin/campaigns/{dashboard.draft}/review")
    page.frame_locator("iframe").get_by_text("Dear Ana").wait_for()
    page.get_by_role("link", name="Without").click()
    page.frame_locator("iframe").get_by_text("Dear friend").wait_for()
