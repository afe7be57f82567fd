"""Checks for every page in a browser: accessibility, width, screenshots, and which hosts it contacts."""

from pathlib import Path
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import ConsoleMessage, Error, Page

ARTEFACTS = Path(__file__).parents[2] / "artefacts"

_PAGES_ONLY = ("region", "landmark-one-main")


def violations(page: Page, *, mail: bool = False) -> list[str]:
    """The problems axe-core finds, one line each. A mail is shown inside a mail program's page, so it needs no
    landmarks of its own."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)  # only if it is not there: the package's own `run` sends it with every question
    # Not into frames: they show mails, which have their own tests, and axe would wait half a second for each.
    asked = "axe.run({resultTypes: ['violations'], iframes: false}).then(result => result.violations)"
    found: list[dict[str, Any]] = page.evaluate(asked)
    return [
        f"{problem['id']}: {problem['help']}: {node['html'][:200]}"
        for problem in found
        if not (mail and problem["id"] in _PAGES_ONLY)
        for node in problem["nodes"]
    ]


# What can be pressed: a label belongs to its choice, and a link within a sentence is as high as the sentence.
_SMALL_TARGETS = """() => {
  const inSentence = (link) => getComputedStyle(link).display === 'inline'
    && [...link.parentElement.childNodes].some((node) => node !== link && node.textContent.trim().length > 1);
  const target = (element) => element.matches('[type=radio], [type=checkbox]') && element.closest('label') || element;
  const least = ({ width, height }) => Math.min(width, height);
  const shown = (element) => element.checkVisibility() && !element.closest('[aria-hidden=true], .skip, .trap');
  return [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary')]
    .filter((element) => shown(element) && !inSentence(element)).map(target)
    .filter((element) => least(element.getBoundingClientRect()) < 23.9)
    .map((element) => element.outerHTML.slice(0, 150));
}"""


def small_targets(page: Page) -> list[str]:
    """What is smaller than 24 pixels, and so hard to hit with a finger or a trembling hand."""
    return [f"target smaller than 24 pixels: {element}" for element in page.evaluate(_SMALL_TARGETS)]


def fits(page: Page) -> bool:
    """Whether nothing has to be scrolled sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def shoot(page: Page, name: str) -> Path:
    """Take a screenshot into `artefacts/`, which git ignores."""
    file = ARTEFACTS / f"{name}.png"
    file.parent.mkdir(parents=True, exist_ok=True)
    for tries_left in (2, 1, 0):
        try:
            page.screenshot(path=file, full_page=True)
            break
        except Error as failure:
            # Chromium's compositor gives up on a busy machine; nothing is wrong with the page.
            if "Unable to capture screenshot" not in str(failure) or not tries_left:
                raise
    return file


class Watched:
    """A page that records its errors, warnings and the hosts it contacts."""

    def __init__(self, page: Page, refused: bool = False) -> None:
        self.page, self._refused = page, refused
        self.complaints: list[str] = []
        self.hosts: set[str] = set()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._heard)
        page.on("request", lambda request: self.hosts.add(_host(request.url)))

    def _heard(self, said: ConsoleMessage) -> None:
        # Many tests are about error statuses, and a missing icon is no error.
        expected = "the server responded with a status of" in said.text or said.location["url"].endswith(
            "favicon.ico"
        )
        if self._refused:
            blocked = ("blocked by CORS policy", "net::ERR_FAILED", "ERR_EMPTY_RESPONSE", "ERR_INTERNET_DISCONNECTED")
            expected = expected or any(text in said.text for text in blocked)
        if said.type in ("error", "warning") and not expected:
            self.complaints.append(said.text)


def _host(url: str) -> str:
    return url.split("/")[2] if "://" in url else url.partition(":")[0]
