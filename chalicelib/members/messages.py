"""What is put on the queue `members`: ids, and no address, secret or client."""

from chalicelib.kernel.aws import queues
from chalicelib.members import model


def mail_link(kind: str, member_id: str, network: str | None, delay_seconds: int = 0) -> None:
    """`network` is the pseudonym of the network that asked for it, if it is known."""
    asked_from = {"network": network} if network else {}
    queues.send("members", {"kind": kind, "member_id": member_id, **asked_from}, delay_seconds)


def mail_invitation(invitation_id: str) -> None:
    queues.send("members", {"kind": model.INVITE, "invitation_id": invitation_id})


def finish_departure(member_id: str) -> None:
    queues.send("members", {"kind": model.DEPART, "member_id": member_id})
