"""How AWS says no, and what it means here; the same for pynamodb, for boto3's clients and for `raw`.

A write whose condition did not hold is `Stale`. A service that does not answer, or answers that it cannot now, is
`Unavailable`. Anything else is a defect of ours (a bad expression, a missing table or right) and stays what it is.
SES alone says more than that: `mail/failures`.
"""

import random
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from chalicelib.kernel.errors import Unavailable

CONDITION_FAILED = "ConditionalCheckFailedException"
TRANSACTION_CANCELLED = "TransactionCanceledException"
# The row is part of somebody else's transaction at this moment.
CONFLICTS = frozenset({"TransactionConflictException", "TransactionInProgressException"})

# Credentials that have just ended are renewed; a transaction cancelled for no condition may succeed the next time.
_TRANSIENT = CONFLICTS | {
    "ExpiredTokenException",
    "InternalError",
    "InternalFailure",
    "InternalServerError",
    "InternalServiceErrorException",
    "LimitExceededException",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestTimeout",
    "ServiceUnavailable",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
    TRANSACTION_CANCELLED,
    "UnrecognizedClientException",
}
# Why a write of a cancelled transaction may be tried again.
_TRANSIENT_REASONS = frozenset({"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"})
_CONDITION_REASON = "ConditionalCheckFailed"

_DECISIONS = 4

Result = TypeVar("Result")


class Stale(Exception):
    """A condition did not hold. `found` has one entry for each write of a transaction, in order: what was stored
    instead if the write asked for it, else None. For a single write by `raw` it is that one item, if asked for."""

    def __init__(self, found: Sequence[Any] = ()) -> None:
        super().__init__("a condition did not hold")
        self.found = found


class Contended(Unavailable):
    """Others were at the same rows again and again; with fewer rows it may succeed at once."""


def is_transient(code: str | None, status: int = 0) -> bool:
    """The same again a little later may succeed. Without a code there was no answer at all."""
    return code is None or code in _TRANSIENT or status >= 500


def failed_condition(reasons: Sequence[str | None]) -> bool:
    """Of a cancelled transaction: whether it was a condition, which no patience changes."""
    return _CONDITION_REASON in reasons


def lost_to_another(reasons: Sequence[str | None]) -> bool:
    return any(reason in _TRANSIENT_REASONS for reason in reasons)


def retry_stale(decide: Callable[[], Result], busy: str = "Service unavailable") -> Result:
    """Read, decide, write: when something moved between reading and writing, `decide` raises `Stale` and is asked
    again, because what was right a moment ago may not be right now."""
    for _ in range(_DECISIONS):
        try:
            return decide()
        except Stale:
            continue
    raise Unavailable(busy)


def rest(attempt: int, base: float) -> None:
    """Longer after each attempt, and never in step with others."""
    time.sleep(random.uniform(0, base * 2**attempt))  # noqa: S311 - jitter, not a secret
