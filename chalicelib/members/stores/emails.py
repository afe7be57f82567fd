"""Which member has which address. The row's key makes the address unique; it is deleted when the member leaves."""

from pynamodb.attributes import UnicodeAttribute

from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.tables import Delete, Put, Write
from chalicelib.members.model import Member


class EmailRow(tables.Row):
    class Meta:
        table_name = tables.name("member-emails")

    address = UnicodeAttribute(hash_key=True)
    member_id = UnicodeAttribute()


def find_owner(address_key: str) -> str | None:
    row = tables.get(EmailRow, address_key)
    return row.member_id if row else None


def claim_write(member: Member) -> Write:
    """If the condition fails, the failure shows who has the address."""
    row = EmailRow(member.address_key, member_id=member.id)
    return Put(row, EmailRow.address.does_not_exist(), show=True)


def free_writes(member: Member) -> list[Write]:
    """Nothing if the row is gone or somebody else's, as after restoring one table and not the other: whoever wants to
    leave can, and nobody else loses the address."""
    if find_owner(member.address_key) != member.id:
        return []
    return [Delete(EmailRow(member.address_key), EmailRow.member_id == member.id)]
