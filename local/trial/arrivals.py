"""What must be true of follows, inboxes, quota and connections once everything has finished."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from local.trial.followers import DESK, Followers, find_missing
from local.trial.stack import Stack
from local.trial.truth import Truth

_SHARED = ("status", "action", "newest_only", "hide_shorts")
_MOST_FOR_POLLS = 9_000


def broken(stack: Stack, found: Truth, followers: Followers) -> list[str]:
    items, entries = found.tables["items"], found.tables["inbox"]
    units = followers.sources.count_units()
    checks = (
        find_missing(items, entries, followers.published, followers.owners),
        once(found),
        agreed(found),
        quota(found, units),
        connected(found),
        told(found),
        sealed(found, stack.folder / "providers" / "providers.json", stack.log()),
    )
    print(
        f"{len(followers.published)} videos and episodes published for {len(followers.owners)} inboxes: "
        f"{len(entries)} entries; {units} units of YouTube's quota"
    )
    return [line for lines in checks for line in lines]


def once(found: Truth) -> Iterator[str]:
    """One item for what a provider knows by one id, and one event for each that came to the desk."""
    known = Counter((row["provider"], row["provider_item_id"]) for row in found.tables["items"])
    yield from (f"{count} items of one id ({id})" for (_, id), count in known.items() if count > 1)
    events = Counter(row["aggregate_id"] for row in found.tables["events"] if row["type"] == "ITEM_RECEIVED")
    desks = {row["item_id"] for row in found.tables["inbox"] if row["owner"] == DESK}
    for id in desks | set(events):
        if events[id] != (id in desks):
            yield f"{events[id]} events for {id in desks:d} entries of the desk ({id})"


def agreed(found: Truth) -> Iterator[str]:
    """A follow is in two rows, and both say the same."""
    owners = {
        (row["creator_id"], row["owner"]): (row["part"].removeprefix("follow "), *(row[name] for name in _SHARED))
        for row in found.tables["follows"]
        if row["part"].startswith("follow ")
    }
    creators = {
        (row["id"], row["part"].removeprefix("follower ")): (row["follow_id"], *(row[name] for name in _SHARED))
        for row in found.tables["creators"]
        if row["part"].startswith("follower ")
    }
    for creator, owner in owners.keys() | creators.keys():
        if owners.get((creator, owner)) != creators.get((creator, owner)):
            yield f"two rows of a follow differ ({creator} {owner})"


def quota(found: Truth, counted: int) -> Iterator[str]:
    """Whatever was asked was counted before, and polls leave the last tenth alone."""
    rows = [row for row in found.tables["creators"] if row["id"] == "quota YOUTUBE" and "units" in row["part"]]
    spent = [int(row["spent"]) for row in rows]
    if sum(spent) < counted:
        yield f"YouTube counted {counted} units, and we {sum(spent)}"
    if max(spent, default=0) > _MOST_FOR_POLLS:
        yield f"{max(spent)} units of a day were spent"


def connected(found: Truth) -> Iterator[str]:
    """Nobody has withdrawn anything."""
    for row in found.tables["connections"]:
        if row.get("status", "ACTIVE") != "ACTIVE":
            yield f"a connection is {row['status']} without cause"
    for row in found.tables["follows"]:
        if row.get("status") in ("DISCONNECTED", "PAUSED"):
            yield f"a follow is {row['status']} without cause"


def told(found: Truth) -> Iterator[str]:
    """Nobody is told of failures that are over."""
    failures = {
        row["id"]: int(row.get("failures", 0)) for row in found.tables["creators"] if row["part"] == "creator"
    }
    for row in found.tables["follows"]:
        if row["part"].startswith("active poll_failures"):
            over = [id for id in row.get("causes", ()) if not failures.get(id)]
            yield from (f"{row['owner']} is told of failures that are over ({id})" for id in over)


def sealed(found: Truth, providers: Path, log: str) -> Iterator[str]:
    """No token is in a table or in the log."""
    grants = json.loads(providers.read_text())["grants"]
    tokens = [token for grant in grants for token in (grant["refresh"], *grant["spent"], *grant["access"]) if token]
    if not tokens:
        yield "nobody has connected an account"
    for place, text in (*found.everything.items(), ("the log", log)):
        if any(token in text for token in tokens):
            yield f"a token is in {place}"
