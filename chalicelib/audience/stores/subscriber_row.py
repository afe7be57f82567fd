"""The row of a subscriber, and its indexes."""

from typing import Any

from pynamodb.attributes import NumberAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.indexes import GlobalSecondaryIndex, IncludeProjection

from chalicelib.kernel.aws import tables


class ByStatus(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    """For lists, newest first, and for the clean-up of pending ones."""

    class Meta:
        index_name = "by_status"
        projection = IncludeProjection(
            ["email", "nickname", "activated_at", "confirmation_expires_at", "sources", "tags"]
        )

    status = UnicodeAttribute(hash_key=True)
    created_at = UnicodeAttribute(range_key=True)


class ByPause(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    """Those who are paused, and nobody else: other rows have no `paused_at`."""

    class Meta:
        index_name = "by_pause"
        projection = IncludeProjection(
            ["email", "nickname", "created_at", "activated_at", "sources", "tags", "paused_because"]
        )

    status = UnicodeAttribute(hash_key=True)
    paused_at = UnicodeAttribute(range_key=True)


class ByShard(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    """For searches: everybody in sixteen shards, which are read at the same time; newest first in each. Only what a
    search asks about, so that a page of it holds many people."""

    class Meta:
        index_name = "by_shard"
        projection = IncludeProjection(["folded", "status", "confirmation_expires_at", "sources", "tags"])

    shard = UnicodeAttribute(hash_key=True)
    created_at = UnicodeAttribute(range_key=True)


class SubscriberRow(tables.Row):
    """`shard` and `folded` are for searches; rows of an earlier version have neither until `filling` has added them.

    `import_id` names the import that added the person, and `imported_as` is a hash of what it wrote, which shows
    whether anything was changed since; of somebody added by hand it says just that. `unmailed` says that no campaign
    was sent to them since: when they joined and their id, so that its order is that of joining."""

    class Meta:
        table_name = tables.name("subscribers")

    id = UnicodeAttribute(hash_key=True)
    email = UnicodeAttribute()
    nickname = UnicodeAttribute(null=True)
    status = UnicodeAttribute()
    unsubscribe_secret = UnicodeAttribute()
    previous_unsubscribe_secret = UnicodeAttribute(null=True)
    created_at = UnicodeAttribute()
    activated_at = UnicodeAttribute(null=True)
    confirmation_expires_at = UnicodeAttribute(null=True)
    sources = UnicodeSetAttribute(null=True)
    tags = UnicodeSetAttribute(null=True)
    requested_sources = UnicodeSetAttribute(null=True, attr_name="asked_sources")
    paused_at = UnicodeAttribute(null=True)
    paused_because = UnicodeAttribute(null=True)
    resumed_at = UnicodeAttribute(null=True)
    import_id = UnicodeAttribute(null=True)
    imported_as = UnicodeAttribute(null=True)
    unmailed = UnicodeAttribute(null=True)
    expires_at = NumberAttribute(null=True)
    shard = UnicodeAttribute(null=True)
    folded = UnicodeAttribute(null=True)

    by_status = ByStatus()
    by_pause = ByPause()
    by_shard = ByShard()
