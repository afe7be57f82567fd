"""`python -m deploy.privacy`: writes the page on what is stored, where, why and for how long.

Retention times are the constants that the code itself uses.
"""

import sys
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from chalicelib.audience import model as audience
from chalicelib.bounces import model as bounces
from chalicelib.campaigns.sending import supervisor
from chalicelib.events import model as events
from chalicelib.events.webhooks import model as webhooks
from chalicelib.feeds import store as feeds
from chalicelib.kernel.aws import files
from deploy.functions import LOG_RETENTION

PAGE = Path("docs/privacy.md")


@dataclass(frozen=True)
class Kept:
    """`table` as in the template; `personal` is what could identify a person, empty if nothing there can."""

    table: str
    what: str
    personal: str
    how_long: str


def in_words(duration: timedelta) -> str:
    seconds = int(duration.total_seconds())
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds // size} {name}{'s' if seconds != size else ''}"
    return f"{seconds} seconds"


_LEAVING = "until the person leaves; then erased in the same moment, in one transaction"
_PENDING = (
    f"unconfirmed: {in_words(audience.CONFIRMATION_LIFE)}, removed within the hour after; confirmed: {_LEAVING}"
)

TABLES = (
    Kept(
        "subscribers",
        "who subscribed, since when, by which sources and with which tags",
        "address, nickname",
        _PENDING,
    ),
    Kept("emails", "which address belongs to which subscriber, so that nobody is there twice", "address", _PENDING),
    Kept(
        "tokens",
        "links that were mailed: a hash of the secret; for a change of address the new one; sign-ups not yet "
        "taken in",
        "new address (changes and lifts only); address, nickname and metadata of a sign-up",
        f"sign-ups: seconds, at most {in_words(audience.CONFIRMATION_LIFE)}; "
        f"confirming links {in_words(audience.CONFIRMATION_LIFE)}, "
        f"profile links {in_words(audience.MAGIC_LINK_LIFE)}, or until used or the person leaves",
    ),
    Kept(
        "captures",
        "what came along with a sign-up: source, tags, metadata; with KEEP_IP_HASH a keyed hash of the IP address",
        "metadata as the form sent it",
        "as long as the subscriber; of one who never confirmed only the id and source, "
        + in_words(audience.EXPIRED_CAPTURE_LIFE),
    ),
    Kept(
        "suppressions",
        "who must never be written to: a keyed hash of the address, and who asked for it",
        "",
        "until the person, or the admin, lifts it",
    ),
    Kept(
        "limits",
        "how often something was asked, by a hash whose key changes daily",
        "",
        "until the window ends, at most a day",
    ),
    Kept("locks", "which job is running", "", "minutes"),
    Kept("census", "how many joined and left, by day", "", "for ever: they are counts"),
    Kept(
        "bounces",
        "subscriber id, reason and time of a mail that could not be delivered; the address is looked up when shown",
        "",
        in_words(bounces.KEPT),
    ),
    Kept("campaigns", "what was written, when it was sent, and in sum to how many", "", "until the admin deletes it"),
    Kept("campaign-contents", "the text of a campaign", "", "as long as the campaign"),
    Kept("deliveries", "counts of a delivery: sent, failed, unknown", "", "as long as the campaign"),
    Kept(
        "sending",
        "how far a delivery has come; ids of subscribers still owed a mail; nothing about who received what",
        "",
        f"owed ids: until sent, or {in_words(supervisor.OWED_FOR)} after the delivery ended",
    ),
    Kept(
        "events",
        "what happened, by ids only, for the operator's other systems",
        "",
        f"{in_words(events.KEPT)} after it was passed on; never before",
    ),
    Kept("webhooks", "where events go; the operator's own endpoints", "", "until the admin removes it"),
    Kept(
        "dispatches",
        "events on their way, and the history of attempts",
        "",
        f"on their way: until delivered, at most {in_words(events.KEPT)}; history: {in_words(webhooks.HISTORY)}",
    ),
    Kept(
        "feeds",
        "the watched feed: what was seen of it, the last checks",
        "",
        f"checks {in_words(feeds.KEPT)}, calls {in_words(feeds.CALL_KEPT)}, the rest while it is watched",
    ),
)

ELSEWHERE = (
    (
        "exports (bucket)",
        "a list too large for one answer, for the admin to fetch",
        "addresses, nicknames",
        in_words(files.KEPT) + ", removed within the hour after",
    ),
    (
        "queues",
        "work to be done: ids only; of a sign-up a keyed hash of the address",
        "",
        "until done; what failed five times 14 days",
    ),
    (
        "queue `mail-events`",
        "what SES reports of a mail that bounced or was complained about, in its own words",
        "address",
        f"until noted by id, seconds; what failed five times {in_words(bounces.KEPT)}",
    ),
    ("logs", "what ran, by ids; never an address, nickname, token or IP address", "", in_words(LOG_RETENTION)),
    (
        "backups",
        "point-in-time recovery of the tables",
        "what the tables held",
        "35 days, by DynamoDB; restoring one brings back who left since: see the operator's guide",
    ),
    ("SES", "the mail on its way; Amazon's own suppression list after bounces", "address", "by Amazon's terms"),
)


def page() -> str:
    rows = [f"| {row.table} | {row.what} | {row.personal or '—'} | {row.how_long} |" for row in TABLES]
    other = [f"| {place} | {what} | {personal or '—'} | {long} |" for place, what, personal, long in ELSEWHERE]
    return "\n".join(
        [
            "# What is kept, where, and for how long",
            "",
            "Written by `make pages` from the list the code keeps; the times are those it goes by.",
            "",
            "Nothing is measured about readers: no open is counted, no click, no pixel is in any mail. Who received",
            "which campaign is not kept. Who leaves is erased at once, in every table; what stays are counts,",
            "ids that name nobody, and, if they asked for it, a keyed hash that keeps us from writing again.",
            "",
            "## Tables",
            "",
            "| table | what | what could name somebody | how long |",
            "|---|---|---|---|",
            *rows,
            "",
            "## Elsewhere",
            "",
            "| where | what | what could name somebody | how long |",
            "|---|---|---|---|",
            *other,
            "",
            "A reader sees and takes away all that is stored about them on their profile page (*Download my data*).",
            "",
        ]
    )


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.exit(0)
