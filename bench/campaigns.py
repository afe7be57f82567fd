"""What a look at campaigns costs: the list, one campaign and its progress, with few campaigns and with many."""

from typing import Any

from bench import emulated
from bench.table import Row, at_most

_FEW, _MANY = 20, 1_000
_BODY = "<p>" + "A long text. " * 2_000 + "</p>"
_MOST_REQUESTS = 3


def rows() -> list[Row]:
    few, many = emulated.run("bench.campaigns")
    found = [
        at_most(f"{look}: requests", many[look]["requests"], _MOST_REQUESTS, detail=f"with {_MANY:,} campaigns")
        for look in many
    ]
    for look in many:
        growth = many[look]["bytes read"] / few[look]["bytes read"]
        sizes = f"{many[look]['bytes read'] / 1000:.3g} KB, a body has {len(_BODY) / 1000:.3g} KB"
        found.append(at_most(f"{look}: bytes read, {_MANY:,} ÷ {_FEW} campaigns", growth, 1.1, detail=sizes))
    return found


def _measure() -> list[dict[str, dict[str, float]]]:
    from chalicelib.campaigns import service
    from chalicelib.campaigns.model import State
    from chalicelib.campaigns.sending import progress

    found = []
    for present, wanted in ((0, _FEW), (_FEW, _MANY)):
        for number in range(present, wanted):
            detail = service.create(service.Draft(f"Campaign {number:06}", _BODY))
        campaign_id = detail.campaign.id
        found.append(
            {
                "campaigns, first page": _metered(lambda: service.list_page(None, 1, 20)),
                "campaigns, first page of drafts": _metered(lambda: service.list_page(State.DRAFT, 1, 20)),
                "one campaign": _metered(lambda id=campaign_id: service.view(id)),
                "its progress": _metered(lambda id=campaign_id: progress.read_progress(id)),
            }
        )
    return found


def _metered(look: Any) -> dict[str, float]:
    with emulated.Meter() as meter:
        look()
    return {what: float(meter.counts[what]) for what in ("requests", "bytes read")}


if __name__ == "__main__":
    emulated.main(_measure)
