"""What the pages say after something was done. The URL names them by their key."""

from chalicelib.inbox.frames import Notice

NOTICES = {
    "connected": Notice("Connected. You can follow what the account is subscribed to."),
    "disconnected": Notice("Disconnected. Its tokens are deleted, and its follows wait until you connect again."),
    "followed": Notice("Followed. Its latest item is on its way to the inbox."),
    "followed-already": Notice("You follow this already.", "info"),
    "synced": Notice("Checked: {items} found."),
    "synced-nothing": Notice("Checked: nothing new.", "info"),
    "sync-later": Notice(
        "Not checked: it was checked less than five minutes ago, its provider asked us to wait, or there were too "
        "many checks for now. Try again later.",
        "info",
    ),
    "sync-failed": Notice("It could not be checked. Nothing is lost: try again later.", "bad"),
    "not-possible": Notice("Can't do that yet: see the status below.", "info"),
    "paused": Notice("Paused. Nothing is received until you resume it."),
    "resumed": Notice("Resumed. You also get what was published while it was paused."),
    "options-saved": Notice("Saved. It applies to new items from now on."),
    "unfollowed": Notice("Unfollowed. What it brought leaves the inbox; what was kept stays."),
    "read": Notice("Marked as read."),
    "gone": Notice("Nothing to do: it was not there any more.", "info"),
}
