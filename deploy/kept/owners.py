"""Tables of what members, and the publication's desk, follow, receive and write."""

from chalicelib.following import tokens
from chalicelib.following.stores import connections, counters, polls
from chalicelib.following.stores import notifications as following_notifications
from chalicelib.media import model as media
from chalicelib.media import store as media_store
from chalicelib.members import model as members
from chalicelib.sightings import model as sightings
from deploy.kept.model import Kept, in_words

# From the permission to upload until the row is looked for.
UNUSED_UPLOADS = media.UPLOAD_LIFE + media_store.GRACE

TABLES = (
    Kept(
        "creators",
        "channels, shows and feeds that are followed, as their providers describe them; who follows them, by id; "
        "when they are polled, and which items are known; how much of a provider's quota was used; answers to "
        "searches, under a keyed hash of the words",
        "names of creators, as they publish them",
        f"while somebody follows them, and {in_words(polls.KEPT_UNFOLLOWED)} longer; "
        f"searches {in_words(counters.SEARCHES_KEPT)}, counts {in_words(counters.KEPT)}",
    ),
    Kept(
        "follows",
        "what the publication and each member follow, since when and how; notifications about it, such as an account "
        "that has to be connected again",
        "what a member follows",
        "as long as the account, also after unfollowing, so that nothing arrives twice; notifications: until they "
        f"are resolved, and {in_words(following_notifications.KEPT_RESOLVED)} longer",
    ),
    Kept(
        "connections",
        "accounts at YouTube and Spotify that the publication or a member has connected: their id there, and tokens, "
        "encrypted with AES-256-GCM; the keys are in the parameter store. Sign-ins there that have begun, as a hash",
        "id of the account there",
        "until disconnected or the account here is deleted: then gone at once, and revoked there where that is "
        f"possible; tokens that the provider refuses, {in_words(tokens.KEPT_REFUSED)}; sign-ins that have begun "
        f"{in_words(connections.STATE_LIFE)}. Not in the backups",
    ),
    Kept(
        "items",
        "videos, episodes and articles that were found, and pages that somebody saved: title, link, creator, "
        "excerpt, as they were published; not who has them. Of sightings that members share, the animal and what "
        "they chose to show; not whose they are",
        "names of creators, as they publish them; place and name that a member chose to show",
        "indefinitely; what YouTube told is refreshed or deleted within 30 days; a sighting is deleted at once when "
        "it is withdrawn or deleted",
    ),
    Kept(
        "inbox",
        "which of these the publication and each member received and kept, and their notes; of what was dismissed "
        "or has expired, only that it was there, and title and creator in lower case, by which its owner finds it "
        "again; which campaigns used what, and under a hash that a sighting was withdrawn",
        "notes; what a member received",
        "until dismissed, or for `INBOX_DAYS` in the inbox; that it was there as long as the account, so that it "
        "does not come back; title and creator as long as the item itself",
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
        "the state of each picture: whose it is, format, size and dimensions; and public copies of pictures, "
        "which are nobody's, except a photo that was shared and put into a campaign: how large each is, and which "
        "campaigns show it",
        "",
        f"as long as the picture; uploads that are not used, up to {in_words(UNUSED_UPLOADS)}, then deleted within "
        "the hour; public copies until a day after the last item or draft that shows them is gone; those of what was "
        "sent stay, and those that editors uploaded until they delete them",
    ),
)
