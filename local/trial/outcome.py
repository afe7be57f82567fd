"""What must be true of campaigns, posts and events once everything has finished."""

import json
import zlib
from collections import Counter
from collections.abc import Iterator

from local.trial import mails, truth
from local.trial.editor import Editor, TrialCampaign
from local.trial.receiver import Receiver
from local.trial.stack import Stack

_SILENT = ("cancelled", "draft")


def broken(stack: Stack, found: truth.Truth, editor: Editor, receiver: Receiver, crowd: list[str]) -> list[str]:
    mailed = mails.by_delivery(stack.folder / "mailbox")
    checks = (sums(found), once(found, mailed, crowd), promises(found, mailed, editor.campaigns))
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
    """Everybody gets what was published, and nobody twice beyond what was reported as *unknown* and retried."""
    unknown = Counter[str]()
    for row in found.tables["events"]:
        if row["type"] == "DELIVERY_FINISHED":
            payload = json.loads(row["payload"])
            unknown[payload["delivery_id"]] += payload["unknown"]
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
            yield f"{missing} of the crowd did not get campaign {row['campaign_id']}, and {owed} are reported"
        if again > unknown[row["id"]]:
            yield f"{again} mails of campaign {row['campaign_id']} came twice, and {unknown[row['id']]} are reported"
    print(
        f"{sent} campaigns to {len(crowd)} and more: "
        f"{sum(unknown.values())} mails reported as unknown, {twice} came twice"
    )


def promises(found: truth.Truth, mailed: mails.Mailed, campaigns: list[TrialCampaign]) -> Iterator[str]:
    deliveries = {row["campaign_id"]: row for row in found.tables["deliveries"]}
    if len(deliveries) != len(found.tables["deliveries"]):
        yield "a campaign has two deliveries"
    for campaign in campaigns:
        row = deliveries.get(campaign.id)
        if campaign.promise and not row:
            yield f"{campaign.subject} was {campaign.promise} and is not there"
        elif row and campaign.promise in _SILENT and (row["state"] != "pending" or row["id"] in mailed):
            yield f"{campaign.subject} was promised to be {campaign.promise} and is {row['state']}"
        elif row and campaign.promise in ("sent", "scheduled") and row["state"] != "sent":
            detail = f"{row['state']}: {row.get('error_detail')}"
            yield f"{campaign.subject} was promised to be {campaign.promise} and is {detail}"


def posts(found: truth.Truth, titles: list[str]) -> Iterator[str]:
    rows = [row for row in found.tables["campaign-contents"] if "expires_at" not in row]  # not the older versions
    bodies = [zlib.decompress(row["body"]).decode() for row in rows]
    for title in titles:
        times = sum(f"title: {title}\n" in body for body in bodies)
        if times != 1:
            yield f"{title} is in {times} campaigns"
    print(f"{len(titles)} posts published")


def events(found: truth.Truth, receiver: Receiver) -> Iterator[str]:
    written = [row["id"] for row in found.tables["events"]]
    missing = [id for id in written if id not in receiver.seen]
    again = sum(count - 1 for count in receiver.seen.values())
    print(f"{len(written)} events, {len(receiver.seen)} received, {again} more than once; {receiver.failed} failed")
    if missing:
        yield f"{len(missing)} events were never received, the first is {missing[0]}"
