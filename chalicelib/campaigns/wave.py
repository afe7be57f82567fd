"""One wave of imported people, as editors see it. `model` shows it to others."""

from datetime import datetime
from enum import StrEnum

from msgspec import Struct


class WaveState(StrEnum):
    """Of the current wave: being sent, sent and waited after, or waiting for an editor because of its numbers."""

    SENDING = "sending"
    WAITING = "waiting"
    STOPPED = "stopped"


class Wave(Struct, frozen=True):
    """The part of the imported people who are being written to: the `number`-th of `waves`. `next_at` is when the
    next wave starts by itself."""

    number: int
    waves: int
    size: int
    sent: int
    bounced: int
    complained: int
    state: WaveState
    next_at: datetime | None = None
