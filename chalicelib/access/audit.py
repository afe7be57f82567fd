"""Who did what: one line for every act of an admin that cannot be taken back or that takes data out."""

from typing import Protocol

from chalicelib.kernel import log


class Asked(Protocol):
    @property
    def identity(self) -> str: ...


def record(request: Asked, action: str, **ids: str | int) -> None:
    """`action` is a verb and a noun ("campaign.send"); `ids` name what it was done to, never a subscriber's data."""
    log.info("audit", action=action, by=request.identity, **ids)
