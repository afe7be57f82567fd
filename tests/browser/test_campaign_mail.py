"""The campaign mail as readers see it: on a desktop, on a phone, in dark colours. Screenshots go to `artefacts/`."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.model import Campaign, CampaignDetail, Content, Format

NOW = datetime(2026, 11, 16, tzinfo=UTC)
ARTEFACTS = Path(__file__).parents[2] / "artefacts"
BODY = """
{{greeting}}!

A *short* mail with **bold** words, `code` and a [link](https://example.org/a-rather-long-address).

## A library in a lighthouse

> The sea is quiet until it is not.

- One thing
- Another, with averylongwordthatnobodywouldeverwritebutsomebodywillpasteanyway

| What | When |
|------|------|
| Walk | Monday |

```
def hello(name): return f"a long line of code that does not fit on a phone, {name}"
```

<p><a class="button" href="https://example.org/join">Join the walk</a></p>
"""


@pytest.fixture(scope="module")
def mail() -> str:
    campaign = Campaign(
        "0193a5c4-11f0-7a6b-8c01-2d3e4f506172", "Seven quiet things", NOW, NOW, format=Format.MARKDOWN
    )
    mailing = renderer.render(CampaignDetail(campaign, Content(BODY), ()))
    return mailing.message("reader@example.org", "Ana", "token").html


def shown(browser: Any, mail: str, name: str, width: int, scheme: str) -> Any:
    page = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme).new_page()
    page.set_content(mail)
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"campaign-{name}.png", full_page=True)
    return page


def colour(page: Any, selector: str, name: str) -> str:
    return str(page.eval_on_selector(selector, f"element => getComputedStyle(element).{name}"))


def test_it_is_at_most_600_wide_on_a_desktop(browser, mail):
    page = shown(browser, mail, "light", 1000, "light")
    assert page.eval_on_selector(".column", "element => element.getBoundingClientRect().width") <= 600
    assert colour(page, ".card", "backgroundColor") == "rgb(255, 255, 255)"


def test_it_fits_a_phone(browser, mail):
    page = shown(browser, mail, "phone", 360, "light")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_it_has_a_dark_scheme(browser, mail):
    page = shown(browser, mail, "dark", 700, "dark")
    assert colour(page, ".card", "backgroundColor") == "rgb(23, 28, 35)"
    assert colour(page, ".body p", "color") == "rgb(208, 215, 224)"


def test_it_loads_nothing(browser, mail):
    asked: list[str] = []
    page = browser.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.set_content(mail)
    assert asked == []
