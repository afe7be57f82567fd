"""What the real SES refuses: the shape of a call, its addresses, headers and inline templates."""

import json
import re
from functools import lru_cache
from typing import Any

from local.ses.mailbox import HOLE
from local.ses.wire import json_reply

MOST_RECIPIENTS = 50
MOST_HEADERS = 15
LARGEST_CALL = 1_000_000

_HEADER_NAME = re.compile(r"[!-9;-~]{1,126}\Z")
_HEADER_VALUE = re.compile(r"[ -~]{1,995}\Z")
_ADDRESS = re.compile(r"[!-?A-~]{1,64}@[A-Za-z0-9.\-]{1,255}\Z")
# SES writes these itself, and refuses a message that has them.
_RESERVED = frozenset(
    {
        *("bcc", "cc", "content-disposition", "content-type", "date", "from"),
        *("message-id", "mime-version", "reply-to", "return-path", "subject", "to"),
    }
)
_STATUSES = {"NotFoundException": 404, "TooManyRequestsException": 429, "InternalServiceErrorException": 500}


class Refusal(Exception):
    def __init__(self, code: str, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.reply = json_reply({"message": message}, status or _STATUSES.get(code, 400), x_amzn_ErrorType=code)


def parsed(body: bytes) -> dict[str, Any]:
    try:
        call = json.loads(body)
    except ValueError:
        call = None
    if not isinstance(call, dict):
        raise Refusal("BadRequestException", "The request is not a JSON object.")
    return call


def recipients(destination: dict[str, Any]) -> list[str]:
    lists = (destination.get(f"{kind}Addresses") or [] for kind in ("To", "Cc", "Bcc"))
    return [address for addresses in lists for address in addresses]


def check_recipients(to: list[str]) -> None:
    if not 0 < len(to) <= MOST_RECIPIENTS:
        raise Refusal("BadRequestException", f"A mail goes to 1 to {MOST_RECIPIENTS} addresses.")
    if not all(_ADDRESS.match(address.rpartition("<")[2].rstrip(">")) for address in to):
        raise Refusal("BadRequestException", "Illegal address.")


def check_headers(headers: list[dict[str, str]] | None) -> None:
    if not headers:
        return
    if len(headers) > MOST_HEADERS:
        raise Refusal("BadRequestException", f"A mail takes {MOST_HEADERS} headers.")
    for header in headers:
        name, value = header.get("Name", ""), header.get("Value", "")
        if not _HEADER_NAME.match(name) or name.lower() in _RESERVED:
            raise Refusal("BadRequestException", "Invalid header name.")
        if not _HEADER_VALUE.match(value) or len(name) + len(value) > 996:
            raise Refusal("BadRequestException", "Invalid header value.")


def template_names(content: Any) -> frozenset[str]:
    if (
        not isinstance(content, dict)
        or not content.get("Subject")
        or not (content.get("Html") or content.get("Text"))
    ):
        raise Refusal("BadRequestException", "An inline template needs a subject and a body.")
    return _names("\0".join(content.get(part) or "" for part in ("Subject", "Html", "Text")))


@lru_cache(maxsize=8)
def _names(template: str) -> frozenset[str]:
    """The names a template uses. Inline templates support only `{{name}}`."""
    if "{{{" in template or "{{" in HOLE.sub("", template):
        raise Refusal("BadRequestException", "Inline templates take simple substitutions only.")
    return frozenset(HOLE.findall(template))
