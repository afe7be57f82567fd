"""Which campaigns an item was used in, in DynamoDB: one row for each item that the desk has ever used, and one for
each campaign with the titles and the links of its items, also of those that were never in the inbox. They are beside
the entries, under owners of their own, because a use outlives the entry: an item that was dismissed since was used
all the same.

Of what members share, the row also says whether they have withdrawn it since, so that nothing can use it any more,
and which public copies of its photo were made. It does not hold them: campaigns do."""

from collections.abc import Iterable
from contextlib import suppress
from itertools import islice

from msgspec import Struct
from pynamodb.attributes import BooleanAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Delete, Put, Update, Write

USES = "uses of desk"
# From when these rows had nothing but titles.
_CONTENTS = "titles of desk"


class UseRow(tables.Row):
    class Meta:
        table_name = tables.name("inbox")

    owner = UnicodeAttribute(hash_key=True)
    item_id = UnicodeAttribute(range_key=True)
    campaigns = UnicodeSetAttribute(null=True)
    earlier = UnicodeSetAttribute(null=True)
    withdrawn = BooleanAttribute(null=True)
    copies = UnicodeSetAttribute(null=True)


class ContentsRow(tables.Row):
    """`item_id` is the campaign's id: the newest are last. Older rows have no links."""

    class Meta:
        table_name = tables.name("inbox")

    owner = UnicodeAttribute(hash_key=True)
    item_id = UnicodeAttribute(range_key=True)
    titles = UnicodeSetAttribute(null=True)
    links = UnicodeSetAttribute(null=True)


class Contents(Struct, frozen=True):
    """The items of a campaign, by what is the same for titles and pages that are the same."""

    titles: frozenset[str] = frozenset()
    links: frozenset[str] = frozenset()


class Used(Struct, frozen=True):
    """`earlier` are campaigns that have used it before, and may have older versions with it. `copies` are the names
    of public copies that were made for a campaign."""

    campaigns: frozenset[str] = frozenset()
    earlier: frozenset[str] = frozenset()
    is_withdrawn: bool = False
    copies: frozenset[str] = frozenset()


def find(item_id: str) -> Used:
    row = tables.get(UseRow, USES, item_id)
    return parse(row) if row else Used()


def find_many(item_ids: Iterable[str]) -> dict[str, set[str]]:
    """The campaigns of each item that is used in any."""
    rows = tables.get_many(UseRow, [(USES, id) for id in item_ids])
    return {row.item_id: set(row.campaigns) for row in rows if row.campaigns}


def list_contents(most: int) -> dict[str, Contents]:
    """Of the newest campaigns that have items, by campaign."""
    rows = tables.query(ContentsRow, _CONTENTS, scan_index_forward=False, consistent_read=True, limit=most)
    return {
        row.item_id: Contents(frozenset(row.titles or ()), frozenset(row.links or ())) for row in islice(rows, most)
    }


def add_write(item_id: str, campaign_id: str) -> Write:
    """Fails if the item was withdrawn, and shows its row then."""
    actions = [UseRow.campaigns.add({campaign_id})]
    return Update(UseRow(USES, item_id), actions, UseRow.withdrawn.does_not_exist(), show=True)


def remove_write(item_id: str, campaign_id: str) -> Write:
    return Update(UseRow(USES, item_id), [UseRow.campaigns.delete({campaign_id}), UseRow.earlier.add({campaign_id})])


def withdraw_write(item_id: str) -> Write:
    return Update(UseRow(USES, item_id), [UseRow.withdrawn.set(True)])


def readmit_write(item_id: str) -> Write:
    return Update(UseRow(USES, item_id), [UseRow.withdrawn.remove()])


def note_copy(item_id: str, name: str) -> bool:
    """Remember that this copy was made. False if the item was withdrawn."""
    return _update(item_id, [UseRow.copies.add({name})], UseRow.withdrawn.does_not_exist())


def forget(item_id: str, used: Used) -> bool:
    """After a recall: the copies, and the campaigns whose older versions have lost it. False if the item is shared
    again."""
    gone = [(UseRow.copies, used.copies), (UseRow.earlier, used.earlier | used.campaigns)]
    return _update(item_id, [column.delete(set(names)) for column, names in gone if names], UseRow.withdrawn.exists())


def parse(row: UseRow) -> Used:
    earlier = frozenset(row.earlier or ())
    return Used(frozenset(row.campaigns or ()), earlier, bool(row.withdrawn), frozenset(row.copies or ()))


def contents_write(campaign_id: str, contents: Contents) -> Write:
    if not contents.titles and not contents.links:
        return Delete(ContentsRow(_CONTENTS, campaign_id))
    titles, links = set(contents.titles) or None, set(contents.links) or None
    return Put(ContentsRow(_CONTENTS, campaign_id, titles=titles, links=links))


def _update(item_id: str, actions: list[Action], condition: Condition) -> bool:
    with suppress(Stale):
        tables.update(UseRow(USES, item_id), actions, condition)
        return True
    return False
