"""What became of the campaigns of the last twelve months: a chart, a table, and the table as a file."""

from urllib.parse import urlencode

from msgspec.structs import astuple

from chalicelib.admin import result_chart, shell
from chalicelib.admin.pages.campaigns import HERE
from chalicelib.campaigns import results
from chalicelib.campaigns.results import Result
from chalicelib.kernel import clock, spreadsheets
from chalicelib.kernel.errors import Invalid
from chalicelib.web import downloads, paging
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

PATH = f"{HERE}/results"
COLUMNS = (
    "campaign_id",
    "published_at",
    "subject",
    "recipients",
    "sent",
    "failed",
    "unknown",
    "soft_bounced",
    "hard_bounced",
    "complaints",
    "left",
)
_ROWS = 50


def show_results(request: Request) -> Response:
    wanted = request.query.get("format", "")
    if wanted not in ("", "csv"):
        raise Invalid("format must be csv")
    year = results.look_up(results.list_year())
    if wanted:
        return downloads.answer(
            spreadsheets.write(COLUMNS, map(_row, year)), "text/csv; charset=utf-8", "results.csv"
        )
    number, _ = paging.requested(request)
    return shell.page(
        request,
        "admin/results.html",
        here=HERE,
        chart=result_chart.build_chart(year),
        found=year[(number - 1) * _ROWS : number * _ROWS],
        recent=clock.now() - results.LEFT_WITHIN,
        total=len(year),
        number=number,
        pages=max(1, -(-len(year) // _ROWS)),
        page_url=lambda page: f"{PATH}?{urlencode({'page': page})}",
    )


def _row(result: Result) -> tuple[str, ...]:
    """What was not counted is empty."""
    campaign, tally = result.campaign, result.tally
    at = clock.text(campaign.published_at) if campaign.published_at else ""
    counted = astuple(tally) if tally else [""] * 4
    return campaign.id, at, campaign.subject, *map(str, astuple(campaign.counts)), *map(str, counted)
