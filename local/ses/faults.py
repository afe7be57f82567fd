"""What the local SES is set to do wrong, and its account as the app sees it."""

import random
from dataclasses import asdict, dataclass, field, fields
from typing import Any


@dataclass
class Faults:
    """Settable by `POST /control`, field by field; `{"reset": true}` puts everything back first.

    throttle       share of sending calls answered 429, drawn from `seed`
    fail           {"code", "status", "message", "times" (default: for ever), "share" (default: 1)} for sending calls
    lose_answers   so many sending calls do their work and then hang up without an answer
    delay_ms       before every answer of the API
    down           hang up on every call of the API, its work not done
    entries        {"<address>" or "*": a bulk status such as "TRANSIENT_FAILURE"}; for one mail the matching error
    entries_share  share of the entries "*" is meant for
    enforce_rate   throttle what goes faster than the quota's MaxSendRate, as SES does
    quota          Max24HourSend, MaxSendRate, SentLast24Hours
    production, sending_enabled, verified, dkim   the account's state
    identities, configuration_sets                names that exist (default: all)
    """

    throttle: float = 0.0
    seed: int = 1
    fail: dict[str, Any] | None = None
    lose_answers: int = 0
    delay_ms: float = 0.0
    down: bool = False
    entries: dict[str, str] = field(default_factory=dict)
    entries_share: float = 1.0
    enforce_rate: bool = False
    quota: dict[str, float] = field(default_factory=dict)
    production: bool = True
    sending_enabled: bool = True
    verified: bool = True
    dkim: str = "SUCCESS"
    identities: list[str] | None = None
    configuration_sets: list[str] | None = None

    def tell(self, orders: dict[str, Any]) -> None:
        unknown = orders.keys() - {each.name for each in fields(self)} - {"reset"}
        if unknown:
            raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
        if orders.get("reset"):
            self.__dict__.update(Faults().__dict__)
        for name, value in orders.items():
            if name != "reset":
                setattr(self, name, value)
        self._dice = random.Random(self.seed)

    def __post_init__(self) -> None:
        self._dice = random.Random(self.seed)

    def state(self) -> dict[str, Any]:
        return asdict(self)

    def limits(self, sent: int) -> dict[str, float]:
        default = {"Max24HourSend": 10_000_000.0, "MaxSendRate": 1_000.0, "SentLast24Hours": 0.0}
        quota = default | self.quota
        return quota | {"SentLast24Hours": quota["SentLast24Hours"] + sent}

    def call_failure(self) -> tuple[int, str, str] | None:
        """Status, code and message this call fails with; None if it succeeds."""
        if self.throttle and self._dice.random() < self.throttle:
            return 429, "TooManyRequestsException", "Maximum sending rate exceeded."
        if not self.sending_enabled:
            return 400, "SendingPausedException", "Sending is paused for this account."
        if not self.fail or self._dice.random() >= self.fail.get("share", 1):
            return None
        fault = self.fail
        if fault.get("times"):
            remaining = fault["times"] - 1
            self.fail = fault | {"times": remaining} if remaining else None
        return fault.get("status", 400), fault.get("code", "InternalFailure"), fault.get("message", "As requested.")

    def entry_status(self, address: str) -> str:
        """The status of one recipient, `SUCCESS` unless set otherwise."""
        if not self.entries:
            return "SUCCESS"
        if address in self.entries:
            return self.entries[address]
        if "*" in self.entries and self._dice.random() < self.entries_share:
            return self.entries["*"]
        return "SUCCESS"

    def loses_answer(self) -> bool:
        if self.lose_answers <= 0:
            return False
        self.lose_answers -= 1
        return True
