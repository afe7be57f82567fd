"""Adding up results: every row is counted once, so the eight always add up to the rows that are done."""

from collections.abc import Sequence

from msgspec.structs import replace

from chalicelib.audience.imports.judging import Verdict
from chalicelib.audience.imports.model import Import


def with_verdicts(found: Import, verdicts: Sequence[Verdict]) -> Import:
    """The import after these rows."""
    counts = dict(found.counts)
    for verdict in verdicts:
        counts[verdict.result] += 1
    return replace(
        found,
        done=found.done + len(verdicts),
        counts=counts,
        weak_proof=found.weak_proof + sum(verdict.weak_proof for verdict in verdicts),
        repaired=found.repaired + sum(verdict.row.repaired for verdict in verdicts),
        tries=0,
    )
