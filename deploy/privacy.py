"""`python -m deploy.privacy` writes docs/privacy.md: what is stored, where and for how long. The periods are the
constants the code itself uses."""

import sys
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from chalicelib.audience import model as audience
from chalicelib.bounces import model as bounces
from chalicelib.bounces import streak_store
from chalicelib.campaigns.sending import supervisor
from chalicelib.events import model as events
from chalicelib.events.webhooks import model as webhooks
from chalicelib.feeds import store as feeds
from chalicelib.kernel.aws import files
from chalicelib.media import model as media
from chalicelib.media import store as media_store
from chalicelib.members import model as members
from chalicelib.sightings import model as sightings
from deploy.functions import LOG_RETENTION

PAGE = Path("docs/privacy.md")


@dataclass(frozen=True)
class Kept:
    """`table` is the name in the template; `personal` lists personal data, and is empty if there is none."""

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


_UNUSED_UPLOADS = media.UPLOAD_LIFE + media_store.GRACE
_LEAVING = "until the person leaves; then deleted at once, in one transaction"
_PENDING = (
    f"unconfirmed: {in_words(audience.CONFIRMATION_LIFE)} after the confirmation was emailed, then deleted within "
    f"the hour; confirmed: {_LEAVING}"
)

TABLES = (
    Kept(
        "subscribers",
        "who subscribed, since when, from which sources and with which tags; since when and why somebody is paused, "
        "or when they resumed",
        "address, name",
        _PENDING,
    ),
    Kept("emails", "which address belongs to which subscriber, so that nobody is listed twice", "address", _PENDING),
    Kept(
        "tokens",
        "emailed links, as a hash of the secret; what a confirmation link confirms; requests to change an address or "
        "to lift do-not-contact; sign-ups not processed yet, with a keyed hash of the network they came from; "
        "confirmations that are held, by id, with the same hash",
        "address of such a request; name and metadata of what a link confirms; address, name and metadata of a "
        "sign-up",
        f"sign-ups: seconds, at most {in_words(audience.CONFIRMATION_LIFE)}; "
        "what is held: until it is emailed or the person is removed; "
        f"confirmation links {in_words(audience.CONFIRMATION_LIFE)}, "
        f"profile links {in_words(audience.MAGIC_LINK_LIFE)}, or until used or the person leaves",
    ),
    Kept(
        "captures",
        "what was sent with a sign-up: source, tags, metadata; with KEEP_IP_HASH, a keyed hash of the IP address; "
        "apart from what was confirmed, what waits to be",
        "metadata, as the form sent it; the name that came with a sign-up that waits",
        f"confirmed: as long as the subscriber; waiting: {in_words(audience.CONFIRMATION_LIFE)} after "
        f"the confirmation was emailed, then deleted within "
        f"the hour; if a source was never confirmed, its name, ids and times, for "
        + in_words(audience.EXPIRED_CAPTURE_LIFE),
    ),
    Kept(
        "suppressions",
        "addresses that must not be emailed, as keyed hashes, and who requested it",
        "",
        "until the person or an editor lifts it",
    ),
    Kept(
        "limits",
        "request counts for rate limits, under a hash whose key changes daily",
        "",
        "until the window ends, at most a day",
    ),
    Kept("locks", "which jobs are running", "", "minutes"),
    Kept("census", "how many people joined and left per day", "", "indefinitely: only counts"),
    Kept(
        "bounces",
        "subscriber id, reason and time of an email that bounced; the address is looked up for display. If BOUNCES "
        "is pause or remove: how many campaigns in a row could not be delivered to somebody for now, and which was "
        "the last; and which sources and tags each campaign was for",
        "",
        f"bounces: {in_words(bounces.KEPT)}, then no longer shown, and deleted by DynamoDB within a few days; the "
        "count: until the person is paused or leaves, or "
        f"{in_words(streak_store.KEPT)} after the last of these bounces",
    ),
    Kept(
        "campaigns",
        "subject, settings, time sent and total counts of a campaign; the note of a correction",
        "",
        "drafts: until an editor deletes them; what was sent: indefinitely, and an editor can hide it from the "
        "public archive",
    ),
    Kept(
        "campaign-contents",
        "the content of a campaign as it was sent, and its corrected web version",
        "",
        "as long as the campaign; a correction until it is withdrawn",
    ),
    Kept("deliveries", "counts of a delivery: sent, failed, unknown", "", "as long as the campaign"),
    Kept(
        "sending",
        "progress of a delivery; ids of subscribers still owed an email; not who received what",
        "",
        f"owed ids: until sent, or {in_words(supervisor.OWED_FOR)} after the delivery ended",
    ),
    Kept(
        "events",
        "what happened, by id only, for the operator's other systems",
        "",
        f"{in_words(events.KEPT)} after they were passed on; never deleted before",
    ),
    Kept("webhooks", "the operator's endpoints that receive events", "", "until an editor removes them"),
    Kept(
        "dispatches",
        "events being delivered, and the history of attempts",
        "",
        f"events: until delivered, at most {in_words(events.KEPT)}; history: {in_words(webhooks.HISTORY)}",
    ),
    Kept(
        "feeds",
        "the watched feed: known entries and recent checks",
        "",
        f"checks {in_words(feeds.CHECKS_KEPT)}, webhook calls {in_words(feeds.CALLS_KEPT)}, "
        "the rest while it is watched",
    ),
    Kept(
        "members",
        "who has an account, since when, and when they last signed in; the password as a bcrypt hash; how many "
        "sightings they have, and how many of these they share",
        "address",
        "until the account is deleted: then address and password are gone at once, and an id with its times stays. "
        f"An account whose address is not verified is deleted after {in_words(members.UNVERIFIED_LIFE)}",
    ),
    Kept(
        "member-emails",
        "which address belongs to which member, so that nobody has two accounts",
        "address",
        "as long as the account",
    ),
    Kept(
        "sessions",
        "who is signed in, as a hash of what the browser holds",
        "",
        f"until they sign out, at most {in_words(members.SESSION_LIFE)}; one that ended in another way signs nobody "
        "in, and its row is deleted by DynamoDB within a few days after its time",
    ),
    Kept(
        "member-tokens",
        "links emailed to members, as a hash of the secret; open invitations",
        "address of somebody who is invited",
        f"links to verify an address {in_words(members.VERIFY_LIFE)}, to set a new password "
        f"{in_words(members.RESET_LIFE)}, invitations {in_words(members.INVITATION_LIFE)}, or until used",
    ),
    Kept(
        "sightings",
        "which animal a member saw, where and when; if they share it, the place and the name they chose to show",
        "place, chosen name",
        "until deleted by the member or with the account: then it is shown to nobody, and "
        f"{in_words(sightings.TEXT_KEPT)} later its text is removed; ids and times stay",
    ),
    Kept(
        "media",
        "the state of each picture: whose it is, format, size and dimensions",
        "",
        f"as long as the picture; uploads that are not used, up to {in_words(_UNUSED_UPLOADS)}, then deleted within "
        "the hour",
    ),
)

ELSEWHERE = (
    (
        "pictures (bucket)",
        "members' photos, made anew without the data cameras put into them (position, time, device). Read by links "
        f"that work for {in_words(timedelta(seconds=media.LINK_SECONDS))}, made each time they are shown",
        "the photo",
        "until removed, or deleted with its sighting or account: then gone within the hour; uploads that are not "
        f"used, up to {in_words(_UNUSED_UPLOADS)}, then deleted within the hour",
    ),
    (
        "exports (bucket)",
        "exports too large for one response, for an editor to download, and a member's own data if it is too large",
        "addresses, names; with all fields also sources, tags and metadata; of a member, their address and sightings",
        in_words(files.KEPT) + ", then deleted within the hour",
    ),
    (
        "queues",
        "pending work: ids only; for a sign-up, a keyed hash of the address; for an email to a member, one of the "
        "network that asked for it",
        "",
        "until done; in a dead-letter queue (after five failures) 14 days",
    ),
    (
        "queue `mail-events`",
        "SES's reports of bounces and complaints, as received",
        "address",
        f"seconds, until stored by id; in its dead-letter queue {in_words(bounces.KEPT)}",
    ),
    (
        "logs",
        "what ran, by id; never a subscriber's address or name, a token or an IP address. A line for each action of "
        "an editor says who did it",
        "editors' addresses",
        in_words(LOG_RETENTION),
    ),
    (
        "backups",
        "point-in-time recovery of the tables, except `limits` and `sessions`; pictures have no backup",
        "whatever the tables contained",
        "35 days, in DynamoDB; a restored table contains people who have left since: see "
        "[Operating](operating.md#restore-data)",
    ),
    (
        "SES",
        "emails being sent; Amazon's own suppression list after bounces and complaints",
        "address",
        "see Amazon's terms",
    ),
)


def page() -> str:
    rows = [f"| {row.table} | {row.what} | {row.personal or '—'} | {row.how_long} |" for row in TABLES]
    other = [f"| {place} | {what} | {personal or '—'} | {long} |" for place, what, personal, long in ELSEWHERE]
    return "\n".join(
        [
            "# What is stored, where, and for how long",
            "",
            "Generated by `make pages`; the periods are the constants the code uses.",
            "",
            "Gna does not track subscribers: it counts no opens and no clicks, and emails contain no tracking pixel.",
            "It does not store who received which campaign; only for emails that came back does it keep, for a",
            "while, to whom they went. When a subscriber leaves, everything about them is deleted at once, in every",
            "table. What remains are counts, ids that identify nobody and, if the person asked never to be emailed",
            "again, a keyed hash of the address.",
            "",
            "## Tables",
            "",
            "| table | content | personal data | kept |",
            "|---|---|---|---|",
            *rows,
            "",
            "## Elsewhere",
            "",
            "| place | content | personal data | kept |",
            "|---|---|---|---|",
            *other,
            "",
            "Subscribers can view and download all their stored data on their profile page (*Download my data*),",
            "and members on their account page. Being subscribed and having an account are two things, even with the",
            "same address: deleting one does not touch the other.",
            "",
        ]
    )


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.exit(0)
