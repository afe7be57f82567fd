"""Tables about subscribers, and of the publication itself."""

from chalicelib.audience import model as audience
from chalicelib.audience.imports import model as imports
from chalicelib.audience.stores import leavers
from chalicelib.audience.tags import model as tags
from chalicelib.bounces import model as bounces
from chalicelib.bounces import sent_store, streak_store, tally_store
from chalicelib.campaigns import history
from chalicelib.campaigns.sending import supervisor
from chalicelib.events import model as events
from chalicelib.events.webhooks import model as webhooks
from chalicelib.feeds import store as feeds
from chalicelib.feeds import websub_store
from chalicelib.site import model as site
from deploy.kept.model import Kept, in_words

_LEAVING = "until the person leaves; then deleted at once, in one transaction"
_PENDING = (
    f"unconfirmed: {in_words(audience.CONFIRMATION_LIFE)} after the confirmation was emailed, then deleted within "
    f"the hour; confirmed: {_LEAVING}"
)

TABLES = (
    Kept(
        "subscribers",
        "who subscribed, since when, from which sources and with which tags; address and name once more in lower "
        "case, for searches; since when and why somebody is paused, or when they resumed",
        "address, name",
        _PENDING,
    ),
    Kept("emails", "which address belongs to which subscriber, so that nobody is listed twice", "address", _PENDING),
    Kept(
        "tokens",
        "emailed links, as a hash of the secret; what a confirmation link confirms; requests to change an address or "
        "to lift do-not-contact; sign-ups not processed yet, with a keyed hash of the network they came from; "
        "welcome emails that are owed, by id; "
        "confirmations that are held, by id, with the same hash; ids of those an import has yet to ask",
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
        "metadata, as the form sent it; the name that came with a sign-up that waits, and the language its form "
        "asked for",
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
        "site",
        "what editors have changed of the publication: name, look, words, feed; and who changed what, when",
        "editors' addresses",
        f"until changed; who changed what: {in_words(site.HISTORY_LIFE)} after the next change, then deleted by "
        "DynamoDB within a few days",
    ),
    Kept(
        "imports",
        "imported lists: when, how many rows of which kind, the names of columns, and the owner's statement on how "
        "people joined; ids of those an import added, and keyed hashes of those its file said had left. Also changes "
        f"of tags on everybody: which tags and how many people, not who, for {in_words(tags.KEPT)}. The file itself, "
        "and the list of rows that were not imported, are in a private bucket",
        "the file, while it is there",
        f"the import: {in_words(imports.KEPT)}; ids and hashes: a day longer than it can be undone, "
        f"{in_words(imports.UNDO_FOR)}; the file: until the import ends, at most {in_words(imports.FILE_KEPT)} "
        f"unless it is running; the list: {in_words(imports.FILE_KEPT)}",
    ),
    Kept(
        "leavers",
        "addresses that left or bounced according to an imported file and, with REMEMBER_LEAVERS, those who left "
        "here, as keyed hashes; only imports read them",
        "",
        in_words(leavers.KEPT),
    ),
    Kept(
        "limits",
        "request counts for rate limits, under a hash whose key changes daily",
        "",
        "until the window ends, at most a day",
    ),
    Kept("locks", "which jobs are running", "", "minutes"),
    Kept(
        "census",
        "how many people joined and left per day; in which seconds those who are subscribed signed up, and how many; "
        "which steps of the first run are done",
        "",
        "indefinitely: only counts and dates",
    ),
    Kept(
        "bounces",
        "subscriber id, reason and time of an email that bounced; the address is looked up for display. If BOUNCES "
        "is pause or remove: how many campaigns in a row could not be delivered to somebody for now, and which was "
        "the last. Of each delivery: which sources and tags it was for, and how many emails bounced, how many people "
        "complained and how many left afterwards. What was counted, as a keyed hash, so that it counts once",
        "",
        f"bounces: {in_words(bounces.KEPT)}, then no longer shown, and deleted by DynamoDB within a few days; the "
        "count of somebody: until they are paused or leave, or "
        f"{in_words(streak_store.KEPT)} after the last of these bounces; whom a delivery was for: "
        f"{in_words(sent_store.KEPT)}; hashes: {in_words(tally_store.COUNTED_KEPT)}; the numbers of a delivery: "
        "indefinitely, they are only counts",
    ),
    Kept(
        "campaigns",
        "subject, settings, time sent and total counts of a campaign; the note of a correction; saved segments: "
        "their names and what they ask for, not who is in them",
        "",
        "drafts: until an editor deletes them; what was sent: indefinitely, and an editor can hide it from the "
        "public archive",
    ),
    Kept(
        "campaign-contents",
        "the content of a campaign as it was sent, its corrected web version, its older versions, with the editor "
        "who saved each, and the excerpt and words by which the archive shows and finds it",
        "address of an editor",
        "as long as the campaign; a correction until it is withdrawn; an older version until "
        f"{in_words(history.KEPT)} after it was replaced, then no longer shown, and deleted by DynamoDB within a few "
        "days, except when and by whom it was saved and its subject, until the campaign is saved again; with the "
        "draft, if an editor deletes it; and at once, if a member withdraws a sighting that is in it",
    ),
    Kept("deliveries", "counts of a delivery: sent, failed, unknown", "", "as long as the campaign"),
    Kept(
        "sending",
        "progress of a delivery; ids of subscribers still owed an email, or in a wave that is not over; not who "
        "received what",
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
        "the watched feed: known entries, posts that wait to be sent, and recent checks; subscriptions with hubs "
        "that announce new entries, also of what is followed",
        "",
        f"checks {in_words(feeds.CHECKS_KEPT)}, webhook calls {in_words(feeds.CALLS_KEPT)}, subscriptions at most "
        f"{in_words(websub_store.LAPSED_KEPT)} after they ended, the rest while it is watched",
    ),
)
