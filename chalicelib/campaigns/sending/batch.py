"""Handing one batch to SES, and knowing afterwards what became of every mail in it.

Knows SES's kinds of failure and no table: what the outcome means for the delivery is decided in `worker`.
"""

import random
import time
from collections.abc import Callable, Sequence

from msgspec import Struct, field

from chalicelib.audience.recipients import Recipient
from chalicelib.kernel import log
from chalicelib.mail.failures import UNSENDABLE, Failure, QuotaReached, Rejected, Stopped, Transient, Unanswered

Post = Callable[[Sequence[Recipient]], Sequence[Failure | None]]
Piece = list[Recipient]

_TRIES = 5
_PATIENCE = 40.0
_LONGEST_WAIT = 5.0
_ENOUGH_TO_JUDGE = 5
_PROBES = 3
DEFECT = "Sending was stopped by a bug in Gna: see the log"


class Outcome(Struct):
    """Everybody of the batch is in exactly one of these. `unsent` were certainly not handed over; `given_up` failed
    again and again while others got through. `why` says what kept those who are `unsent` or `unknown`."""

    sent: int = 0
    refused: list[tuple[Recipient, Rejected]] = field(default_factory=list)
    given_up: Piece = field(default_factory=list)
    unknown: Piece = field(default_factory=list)
    unsent: Piece = field(default_factory=list)
    why: Failure | None = None


def send(post: Post, people: Sequence[Recipient]) -> Outcome:
    outcome = Outcome()
    waiting: list[Piece] = [list(people)]
    ends, tries = time.monotonic() + _PATIENCE, 0
    while waiting and outcome.why is None:
        piece = waiting.pop()
        again, failure = _try_piece(post, piece, outcome, waiting)
        if again:
            tries += 1
            waiting.append(again)
            if tries >= _TRIES or time.monotonic() > ends:
                _give_up(outcome, waiting, failure)
            else:
                time.sleep(random.uniform(0.1, min(_LONGEST_WAIT, 0.2 * 2**tries)))  # noqa: S311 - jitter, not a secret
        elif _is_message_fault(outcome, len(people)):
            _blame_message(outcome)
    outcome.unsent += [person for piece in waiting for person in piece]
    if not outcome.sent:
        # The message may be at fault, so nobody's address is blamed.
        outcome.refused = [(person, _without_blame(why)) for person, why in outcome.refused]
    return outcome


def _without_blame(why: Rejected) -> Rejected:
    return Rejected(code=why.code) if why.reason == UNSENDABLE else why


def _try_piece(post: Post, piece: Piece, outcome: Outcome, waiting: list[Piece]) -> tuple[Piece, Failure | None]:
    """One call to SES; returns whom to try again, and why."""
    try:
        results = post(piece)
    except Rejected as failure:
        if len(piece) > 1:
            # One bad entry makes the whole call fail: find it, and send to the others.
            waiting += _split(piece)
            return [], failure
        results = [failure]
    except Unanswered as failure:
        outcome.unknown, outcome.why = outcome.unknown + piece, failure
        return [], failure
    except Transient as failure:
        return piece, failure
    except (QuotaReached, Stopped) as failure:
        outcome.unsent, outcome.why = outcome.unsent + piece, failure
        return [], failure
    except Exception as defect:
        # A bug in Gna, so the next batch would meet it too: better to stop than to leave everybody unknown.
        log.exception("sending.defect", defect)
        outcome.unknown, outcome.why = outcome.unknown + piece, Stopped(DEFECT, type(defect).__name__)
        return [], outcome.why
    return _sort_results(piece, results, outcome)


def _sort_results(piece: Piece, results: Sequence[Failure | None], outcome: Outcome) -> tuple[Piece, Failure | None]:
    again: Piece = []
    reason: Failure | None = None
    for person, failure in zip(piece, results, strict=True):
        match failure:
            case None:
                outcome.sent += 1
            case Rejected():
                outcome.refused.append((person, failure))
            case QuotaReached() | Stopped():
                outcome.unsent.append(person)
                outcome.why = failure
            case _:
                again.append(person)
                reason = failure
    if outcome.why:
        outcome.unsent += again
        return [], None
    return again, reason


def _split(piece: Piece) -> list[Piece]:
    """Three single people, to tell a bad message from a bad recipient, then halves; the last piece is tried first."""
    if len(piece) <= _PROBES:
        return [[person] for person in piece]
    middle = len(piece) // 2
    probes = [piece[0], piece[middle], piece[-1]]
    halves = [piece[1:middle], piece[middle + 1 : -1]]
    return [half for half in halves if half] + [[person] for person in probes]


def _give_up(outcome: Outcome, waiting: list[Piece], failure: Failure | None) -> None:
    """SES keeps failing for these. If others got through, the problem is with them; otherwise with SES."""
    if outcome.sent and failure and failure.code == "TRANSIENT_FAILURE":
        outcome.given_up += waiting.pop()
    else:
        outcome.why = failure


def _is_message_fault(outcome: Outcome, people: int) -> bool:
    """Refused for everybody so far, and always for the same reason: it is the message."""
    refused = outcome.refused
    enough = len(refused) >= min(_ENOUGH_TO_JUDGE, _PROBES)
    return people >= _ENOUGH_TO_JUDGE and enough and not outcome.sent and len({why.code for _, why in refused}) == 1


def _blame_message(outcome: Outcome) -> None:
    people, reasons = zip(*outcome.refused, strict=True)
    outcome.unsent += people
    outcome.refused.clear()
    outcome.why = Stopped(
        f"SES cannot send this message: {reasons[0].reason}. Sending has stopped; fix the problem, then retry.",
        reasons[0].code,
    )
