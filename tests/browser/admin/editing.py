"""What the tests of the editor have in common: the text with its selection, and what the page says about saving."""

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence

from playwright.sync_api import Locator, Page

from chalicelib.campaigns import service

_GIVE = """(target, { kind, files, texts }) => {
  const data = new DataTransfer();
  for (const [type, text] of Object.entries(texts)) data.setData(type, text);
  for (const { name, type, content } of files) {
    data.items.add(new File([Uint8Array.from(atob(content), (char) => char.charCodeAt(0))], name, { type }));
  }
  const options = { bubbles: true, cancelable: true };
  return target.dispatchEvent(kind === "paste"
    ? new ClipboardEvent("paste", { ...options, clipboardData: data })
    : new DragEvent(kind, { ...options, dataTransfer: data }));
}"""
SELECTED = "(area) => [area.selectionStart, area.selectionEnd]"


def body(page: Page) -> Locator:
    return page.locator("#body")


def put(page: Page, text: str) -> None:
    """Set the text; one or two `|` in it are the caret or the selection."""
    first, last = text.find("|"), text.rfind("|")
    body(page).fill(text.replace("|", ""))
    body(page).evaluate("(area, at) => area.setSelectionRange(...at)", [first, last if last == first else last - 1])


def seen(page: Page) -> str:
    """The text with its caret or selection."""
    text = body(page).input_value()
    start, end = body(page).evaluate(SELECTED)
    marked = text[:start] + "|" + text[start:end]
    return marked + ("|" if end > start else "") + text[end:]


def wait_for(page: Page, state: str) -> None:
    page.wait_for_selector(f"[data-saving][data-state={state}]:not(.busy)")


def status(page: Page) -> str:
    return page.locator("[data-saved]").inner_text()


def open_draft(page: Page, campaign_id: str) -> None:
    page.goto(f"/admin/campaigns/{campaign_id}")
    page.wait_for_selector(".tools")
    page.wait_for_selector("iframe.loading", state="detached")


def stored(campaign_id: str) -> tuple[str, str]:
    detail = service.view(campaign_id)
    return detail.campaign.subject, detail.content.body


def kept(page: Page) -> int:
    """How many texts this browser keeps."""
    return int(page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('gna-draft:')).length"))


def until(page: Page, condition: Callable[[], bool]) -> None:
    """Wait for something that no selector tells: the pages forbid what playwright's own function needs."""
    for _ in range(200):
        if condition():
            return
        page.wait_for_timeout(50)
    raise AssertionError("It did not happen within ten seconds")


def give(
    page: Page,
    kind: str,
    files: Sequence[tuple[str, str, bytes]] = (),
    texts: Mapping[str, str] | None = None,
    where: str = "#body",
) -> bool:
    """Paste or drop something. True: the browser goes on as it always does."""
    given = [{"name": name, "type": kind, "content": b64encode(file).decode()} for name, kind, file in files]
    sent = {"kind": kind, "files": given, "texts": texts or {}}
    return bool(page.locator(where).evaluate(_GIVE, sent))
