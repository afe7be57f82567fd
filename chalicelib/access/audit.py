"""The audit log: one line for each admin action that cannot be undone or that exports data."""

from typing import Protocol

from chalicelib.kernel import log


class HasIdentity(Protocol):
    @property
    def identity(self) -> str: ...


def record(request: HasIdentity, action: str, **ids: str | int) -> None:
    """`action` is a noun and a verb ("campaign.send"); `ids` say what it was done to, never a subscriber's data."""
    log.info("audit", action=action, by=request.identity, **ids)
