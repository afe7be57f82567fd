"""What SES would have sent, stored on disk: the newest mails, rendered only when somebody looks at them."""

import base64
import email
import email.policy
import json
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from email.header import decode_header, make_header
from email.message import EmailMessage
from functools import lru_cache
from pathlib import Path
from typing import Any

KEPT = 50_000
MOST_LISTED = 10_000
_LARGEST_LIST = 256_000_000
_TRIM_EVERY = 1_000

HOLE = re.compile(r"\{\{\s*([\w.\-]+)\s*\}\}")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (id INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS mails (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, call INTEGER NOT NULL, position INTEGER NOT NULL,
  recipients TEXT NOT NULL, at TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS mails_by_id ON mails (id);
CREATE INDEX IF NOT EXISTS mails_by_call ON mails (call);
CREATE INDEX IF NOT EXISTS mails_by_recipients ON mails (recipients);
"""


@dataclass(frozen=True)
class Kept:
    """One mail of a call: which entry (-1 for a call with a single mail) and its recipients."""

    id: str
    position: int
    recipients: str


class Mailbox:
    """One row per call and a small one per mail: the body of a campaign is stored once for fifty recipients."""

    def __init__(self, directory: Path | None, kept: int = KEPT) -> None:
        if directory:
            directory.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(directory / "mailbox.sqlite" if directory else ":memory:", isolation_level=None)
        # What the operating system has accepted survives the end of this process, which is all a mailbox needs.
        self._db.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;" + _SCHEMA)
        self._kept = kept
        self._since_trim = 0

    def keep(self, body: bytes, mails: list[Kept], at: str) -> None:
        self._db.execute("BEGIN")
        call = self._db.execute("INSERT INTO calls (body) VALUES (?)", (body,)).lastrowid
        self._db.executemany(
            "INSERT INTO mails (id, call, position, recipients, at) VALUES (?, ?, ?, ?, ?)",
            [(mail.id, call, mail.position, mail.recipients, at) for mail in mails],
        )
        self._db.execute("COMMIT")
        self._since_trim += len(mails)
        if self._since_trim >= _TRIM_EVERY:
            self._trim()

    def _trim(self) -> None:
        self._since_trim = 0
        self._db.execute("DELETE FROM mails WHERE seq <= (SELECT max(seq) FROM mails) - ?", (self._kept,))
        self._db.execute("DELETE FROM calls WHERE id < (SELECT coalesce(min(call), 0) FROM mails)")

    def clear(self) -> None:
        self._db.executescript("DELETE FROM mails; DELETE FROM calls;")
        _parsed.cache_clear()

    def count(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM mails").fetchone()[0])

    def list(self, to: str = "", search: str = "", limit: int = MOST_LISTED) -> Iterator[dict[str, Any]]:
        """Newest first: to exactly this address, or with this text anywhere in a recipient."""
        where, values = "1", list[Any]()
        if to:
            where, values = "(' ' || recipients || ' ') LIKE ? ESCAPE '!'", [f"% {_literal(to)} %"]
        if search:
            where, values = f"{where} AND recipients LIKE ? ESCAPE '!'", [*values, f"%{_literal(search)}%"]
        query = f"SELECT id, call, position, at FROM mails WHERE {where} ORDER BY seq DESC LIMIT ?"
        size = 0
        for row in self._db.execute(query, [*values, min(limit, MOST_LISTED)]).fetchall():
            mail = self._render(*row)
            size += len(mail["html"]) + len(mail["text"])
            if size > _LARGEST_LIST:
                return
            yield mail

    def get(self, mail_id: str) -> dict[str, Any] | None:
        row = self._db.execute("SELECT id, call, position, at FROM mails WHERE id = ?", (mail_id,)).fetchone()
        return self._render(*row) if row else None

    def _render(self, mail_id: str, call: int, position: int, at: str) -> dict[str, Any]:
        (body,) = self._db.execute("SELECT body FROM calls WHERE id = ?", (call,)).fetchone()
        return {"id": mail_id, "at": at} | rendered(_parsed(body), position)

    def close(self) -> None:
        self._db.close()


@lru_cache(maxsize=4)
def _parsed(body: bytes) -> dict[str, Any]:
    return dict(json.loads(body))


def _literal(text: str) -> str:
    return re.sub(r"([%_!])", r"!\1", text.strip().lower())


def rendered(call: dict[str, Any], position: int) -> dict[str, Any]:
    """The mail as its recipient would get it."""
    if position >= 0:
        return _bulk(call, call["BulkEmailEntries"][position])
    content = call["Content"]
    if "Raw" in content:
        return _raw(call, base64.b64decode(content["Raw"]["Data"]))
    if "Template" in content:
        return _bulk(call | {"DefaultContent": content}, {"Destination": call["Destination"]})
    simple = content["Simple"]
    body = {kind: part["Data"] for kind, part in simple.get("Body", {}).items()}
    return _mail(call, call["Destination"], simple["Subject"]["Data"], body, simple.get("Headers", []))


def _bulk(call: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    template = call["DefaultContent"]["Template"]
    data = template_data(template, entry)
    parts = {kind: fill(text, data) for kind, text in template["TemplateContent"].items()}
    headers = {header["Name"].lower(): header for header in template.get("Headers") or []}
    headers |= {header["Name"].lower(): header for header in entry.get("ReplacementHeaders") or []}
    return _mail(call, entry["Destination"], parts.get("Subject", ""), parts, list(headers.values()))


def template_data(template: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    """The default values, overridden by those of the entry; `ValueError` if they are not a JSON object."""
    replacement = (entry.get("ReplacementEmailContent") or {}).get("ReplacementTemplate") or {}
    values = dict[str, Any]()
    for text in (template.get("TemplateData"), replacement.get("ReplacementTemplateData")):
        given = json.loads(text) if text else {}
        if not isinstance(given, dict):
            raise ValueError("not an object")
        values |= given
    return values


def fill(text: str, data: dict[str, Any]) -> str:
    return HOLE.sub(lambda hole: str(data.get(hole[1], "")), text)


def _mail(
    call: dict[str, Any],
    destination: dict[str, Any],
    subject: str,
    body: dict[str, str],
    headers: list[dict[str, str]],
) -> dict[str, Any]:
    to = [address for kind in ("To", "Cc", "Bcc") for address in destination.get(f"{kind}Addresses") or []]
    sender = call.get("FromEmailAddress", "")
    shown = {"From": sender, "To": ", ".join(destination.get("ToAddresses") or []), "Subject": subject}
    if reply_to := call.get("ReplyToAddresses"):
        shown["Reply-To"] = ", ".join(reply_to)
    if configuration_set := call.get("ConfigurationSetName"):
        shown["X-SES-Configuration-Set"] = configuration_set
    shown |= {header["Name"]: header["Value"] for header in headers}
    return {
        "to": to,
        "from": _decoded(sender),
        "subject": subject,
        "html": body.get("Html", ""),
        "text": body.get("Text", ""),
        "headers": shown,
    }


def _raw(call: dict[str, Any], data: bytes) -> dict[str, Any]:
    message = email.message_from_bytes(data, policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    parts = {kind: message.get_body((kind,)) for kind in ("html", "plain")}
    texts = {kind: str(part.get_content()) if part else "" for kind, part in parts.items()}
    to = (call.get("Destination") or {}).get("ToAddresses") or [str(message["To"])]
    return {
        "to": to,
        "from": str(message["From"]),
        "subject": str(message["Subject"]),
        "html": texts["html"],
        "text": texts["plain"],
        "headers": {name: str(value) for name, value in message.items()},
    }


def _decoded(header: str) -> str:
    return str(make_header(decode_header(header)))
