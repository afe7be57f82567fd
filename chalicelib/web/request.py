"""A request as the rooms see it: read once, checked, independent of Chalice."""

import json
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, unquote

from msgspec import Struct

from chalicelib.kernel.errors import Invalid
from chalicelib.kernel.wording import for_readers
from chalicelib.web import multipart, schemas

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"

_MOST_FIELDS = 50
_UNREADABLE_FORM = for_readers("The form could not be read")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class Request(Struct, frozen=True, dict=True):
    method: str
    path: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    source_ip: str
    request_id: str
    authorizer: Mapping[str, str]
    repeated: frozenset[str] = frozenset()
    member: Any = None  # who is signed in, on routes that require it
    resource: str = ""  # the path as the route table has it, with the names of its parameters
    kept: Mapping[str, str] = {}  # what a member had written in this page's form before the session ended

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_form(self) -> bool:
        return self.content_type in (FORM, MULTIPART)

    @property
    def wants_page(self) -> bool:
        """A form sent by the browser itself. A script that sends one asks for JSON."""
        return self.is_form and JSON not in self.headers.get("accept", "")

    @property
    def lang(self) -> str | None:
        """The language that a link or a form of ours asks for, as it was sent."""
        if "lang" in self.query or not self.is_form:
            return self.query.get("lang")
        try:
            found = self.fields.get("lang")
        except Invalid:
            return None
        return found if isinstance(found, str) else None

    @property
    def from_browser(self) -> bool:
        """Whether a person reads the answer: browsers ask for pages by name, programs for JSON or for anything."""
        return "text/html" in self.headers.get("accept", "")

    @property
    def identity(self) -> str:
        """Whom the authorizer let in: an email address, or the name of a service token."""
        return self.authorizer.get("identity", "")

    @property
    def own_path(self) -> str:
        """The path that was asked for, without its query."""
        path = self.resource
        for name, value in self.path.items():
            path = path.replace(f"{{{name}}}", value)
        return path

    @property
    def only_looks(self) -> bool:
        """HEAD requests and prefetches must never change anything."""
        purpose = " ".join(self.headers.get(name, "") for name in ("purpose", "sec-purpose", "x-purpose", "x-moz"))
        return self.method == "HEAD" or "prefetch" in purpose.lower() or "preview" in purpose.lower()

    @cached_property
    def fields(self) -> dict[str, Any]:
        """The body's fields, whether it is JSON, a form or multipart."""
        if self.content_type == FORM:
            return self._form()
        if self.content_type == MULTIPART:
            return multipart.read(self.headers["content-type"], self.body, _MOST_FIELDS)
        return self._json()

    @cached_property
    def form(self) -> multipart.Form:
        """Fields and files of a form that may have files."""
        if self.content_type == MULTIPART:
            return multipart.read_form(self.headers["content-type"], self.body, _MOST_FIELDS)
        return multipart.Form(self.fields, {})

    def cookie(self, name: str) -> str:
        """Empty if there is none, or more than one: then a neighbouring site has set one, too. Only the spaces of the
        header are removed: browsers would accept a name with another kind of space from such a neighbour."""
        pairs = [part.partition("=") for part in self.headers.get("cookie", "").split(";")]
        found = [value.strip(" \t") for key, _, value in pairs if key.strip(" \t") == name]
        return found[0] if len(found) == 1 else ""

    def text(self, name: str) -> str | None:
        """A field that is text, or None if it is missing or null."""
        found: str | None = schemas.text(name).check(self.fields.get(name))
        return found

    def texts(self, name: str, most: int) -> list[str]:
        """Every value of a field that a form repeats, as checkboxes of one name do."""
        try:
            pairs = parse_qsl(self.body.decode(), keep_blank_values=True, max_num_fields=most + _MOST_FIELDS)
        except ValueError:
            raise Invalid(_UNREADABLE_FORM) from None
        return [value for field, value in pairs if field == name]

    def _json(self) -> dict[str, Any]:
        try:
            # Decoded first, because json would let half a surrogate pair through that is written as bytes.
            value = json.loads(self.body.decode() or "{}")
        except (ValueError, RecursionError):
            raise Invalid("The body is not valid JSON") from None
        if not isinstance(value, dict):
            raise Invalid("The body must be a JSON object")
        # JSON can hold half a surrogate pair, which can be neither stored nor sent back.
        if _SURROGATE.search(self.body) and not _is_text(value):
            raise Invalid("The body is not valid Unicode")
        return value

    def _form(self) -> dict[str, Any]:
        try:
            pairs = parse_qsl(self.body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
        except ValueError:
            raise Invalid(_UNREADABLE_FORM) from None
        return dict(pairs)


def read(chalice_request: Any, path: Mapping[str, str]) -> Request:
    query = chalice_request.query_params
    context = chalice_request.context
    return Request(
        method=chalice_request.method,
        path={name: unquote(value) for name, value in path.items()},
        query={name: query[name] for name in query} if query else {},
        headers={name.lower(): value for name, value in chalice_request.headers.items()},
        body=chalice_request.raw_body,
        source_ip=context.get("identity", {}).get("sourceIp", ""),
        request_id=context.get("requestId", ""),
        authorizer=context.get("authorizer") or {},
        repeated=_repeated(chalice_request.to_original_event().get("multiValueHeaders") or {}),
        resource=context.get("resourcePath", ""),
    )


def _is_text(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


def _repeated(headers: Mapping[str, list[str]]) -> frozenset[str]:
    """Names of headers that were sent more than once, in any case; `headers` has only one value of each."""
    names = [name.lower() for name, values in headers.items() for _ in values]
    return frozenset(name for name in names if names.count(name) > 1)
