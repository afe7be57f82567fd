"""What must hold of campaigns, posts and events when everything has come to rest."""

import json
import zlib
from collections import Counter
from collections.abc import Iterator

from local.trial import mails, truth
from local.trial.editor import Editor, Letter
from local.trial.receiver import Receiver
from local.trial.stack import Stack

_SILENT = ("cancelled", "draft")


def broken(stack: Stack, found: truth.Truth, editor: Editor, receiver: Receiver, crowd: list[str]) -> list[str]:
    mailed = mails.by_delivery(stack.folder / "mailbox")
    checks = (sums(found), once(found, mailed, crowd), promises(found, mailed, editor.letters))
    return [line for lines in (*checks, posts(found, editor.posts), events(found, receiver)) for line in lines]


def sums(found: truth.Truth) -> Iterator[str]:
    for row in found.tables["deliveries"]:
        counts = {name: int(row.get(name, 0)) for name in truth.COUNTS}
        if counts["recipients"] != counts["sent_count"] + counts["failure_count"] + counts["unknown_count"]:
            yield f"counts of a delivery do not add up: {counts}"
    [counted] = [row for row in found.tables["campaigns"] if row["shelf"] == "count"] or [{}]
    states = Counter(row["state"] for row in found.tables["campaigns"] if row["shelf"] != "count")
    for state in ("draft", "scheduled", "publishing", "published"):
        if int(counted.get(state, 0)) != states[state]:
            yield f"{counted.get(state, 0)} campaigns are counted as {state}, and {states[state]} are"


def once(found: truth.Truth, mailed: mails.Mailed, crowd: list[str]) -> Iterator[str]:
    """Everybody gets what was published, and nobody twice beyond what was told as *unknown* and retried."""
    told = Counter[str]()
    for row in found.tables["events"]:
        if row["type"] == "DELIVERY_FINISHED":
            payload = json.loads(row["payload"])
            told[payload["delivery_id"]] += payload["unknown"]
    sent = twice = 0
    for row in found.tables["deliveries"]:
        got = mailed.get(row["id"], Counter())
        if row["state"] == "pending":
            continue
        owed = int(row["unknown_count"]) + int(row["failure_count"])
        missing = sum(not got[address] for address in crowd)
        again = sum(got.values()) - len(got)
        sent, twice = sent + 1, twice + again
        if missing > owed:
            yield f"{missing} of the crowd did not get campaign {row['campaign_id']}, and {owed} are told"
        if again > told[row["id"]]:
            yield f"{again} mails of campaign {row['campaign_id']} came twice, and {told[row['id']]} are told"
    print(
        f"{sent} campaigns to {len(crowd)} and more: {sum(told.values())} mails told as unknown, {twice} came twice"
    )


def promises(found: truth.Truth, mailed: mails.Mailed, letters: list[Letter]) -> Iterator[str]:
    deliveries = {row["campaign_id"]: row for row in found.tables["deliveries"]}
    if len(deliveries) != len(found.tables["deliveries"]):
        yield "a campaign has two deliveries"
    for letter in letters:
        row = deliveries.get(letter.id)
        if letter.told and not row:
            yield f"{letter.subject} was {letter.told} and is not there"
        elif row and letter.told in _SILENT and (row["state"] != "pending" or row["id"] in mailed):
            yield f"{letter.subject} was told to be {letter.told} and is {row['state']}"
        elif row and letter.told in ("sent", "scheduled") and row["state"] != "sent":
            yield f"{letter.subject} was told to be {letter.told} and is {row['state']}: {row.get('error_detail')}"


def posts(found: truth.Truth, titles: list[str]) -> Iterator[str]:
    bodies = [zlib.decompress(row["body"]).decode() for row in found.tables["campaign-contents"]]
    for title in titles:
        times = sum(f"{title}<" in body for body in bodies)
        if times != 1:
            yield f"{title} is in {times} campaigns"
    print(f"{len(titles)} posts published")


def events(found: truth.Truth, receiver: Receiver) -> Iterator[str]:
    told = [row["id"] for row in found.tables["events"]]
    missing = [id for id in told if id not in receiver.seen]
    again = sum(count - 1 for count in receiver.seen.values())
    print(
        f"{len(told)} events, {len(receiver.seen)} received, {again} more than once; {receiver.failed} tries failed"
    )
    if missing:
        yield f"{len(missing)} events were never received, the first is {missing[0]}"
