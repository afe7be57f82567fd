"""Pages that editors and members both have: the same content in another frame, at another address."""

from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import urlencode

from msgspec import Struct

from chalicelib.kernel.plurals import count_of
from chalicelib.members import shell as member_shell
from chalicelib.web import responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


class Notice(Struct, frozen=True):
    """What was just done. `{items}` in it is how many are new, and `{entries}` how many it was done with, which the
    URL may say."""

    text: str
    tone: str = "good"


Notices = Mapping[str, Notice]


class Shell(Protocol):
    def page(self, request: Request, template: str, status: int = 200, **values: Any) -> Response: ...


class Frame(Struct, frozen=True):
    """`prefix` is what the paths of its pages begin with, and `folder` where its templates are."""

    shell: Shell
    prefix: str
    folder: str

    @property
    def is_desk(self) -> bool:
        return bool(self.prefix)

    def page(
        self, request: Request, body: str, title: str, notices: Notices, status: int = 200, **values: Any
    ) -> Response:
        """`body` is the template of what is within the frame."""
        given = {"shape": "broad", "prefix": self.prefix, "is_desk": self.is_desk, **values}
        said = _find_notice(request, notices)
        return self.shell.page(
            request, f"{self.folder}/within.html", status, body=body, title=title, said=said, **given
        )


MEMBER = Frame(member_shell, "", "member")


def back(path: str, notice: str = "", **query: str | int | None) -> Response:
    """Redirect after a change, so that reloading the page does not repeat it."""
    asked = {name: value for name, value in (query | {"notice": notice}).items() if value not in ("", None)}
    return responses.redirect(f"{path}?{urlencode(asked)}" if asked else path)


def _find_notice(request: Request, notices: Notices) -> tuple[str, str] | None:
    """The URL carries the key of a notice, never its text, so that a crafted link cannot put words on our page."""
    notice = notices.get(request.query.get("notice", "")) if request.method == "GET" else None
    if not notice:
        return None
    count = request.query.get("items", "")
    known = int(count) if count.isascii() and count.isdigit() and len(count) <= 4 else 0
    counts = {"{items}": count_of(known, "new item"), "{entries}": count_of(known, "item")}
    text = notice.text
    for name, count_text in counts.items():
        text = text.replace(name, count_text)
    return text, notice.tone
