"""How often each campaign was mailed to each address, read from the file of the mailbox."""

import json
import sqlite3
from collections import Counter
from pathlib import Path

Mailed = dict[str, Counter[str]]


def by_delivery(folder: Path) -> Mailed:
    found: Mailed = {}
    with sqlite3.connect(folder / "mailbox.sqlite") as db:
        calls = {id: _delivery(body) for id, body in db.execute("SELECT id, body FROM calls")}
        for call, recipients in db.execute("SELECT call, recipients FROM mails"):
            if delivery := calls.get(call):
                found.setdefault(delivery, Counter()).update(recipients.split())
    db.close()
    return found


def _delivery(body: bytes) -> str:
    """The delivery of a campaign mail; other mails have no such tag."""
    tags = json.loads(body).get("DefaultEmailTags", [])
    return next((tag["Value"] for tag in tags if tag["Name"] == "delivery"), "")
