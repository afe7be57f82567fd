"""The page of results: a chart and a table of the last twelve months, and the table as a file."""

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from chalicelib.admin import labels, result_chart
from chalicelib.bounces.model import Tally
from chalicelib.campaigns import results, service, store
from chalicelib.campaigns.model import STOPPED, Campaign, Counts, State, Targeting, Terms
from chalicelib.campaigns.results import Result
from chalicelib.campaigns.sending import deliveries
from chalicelib.campaigns.service import Draft
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from tests.rooms.campaigns.test_results import change, happen, publish

PATH = "/admin/campaigns/results"


def _result(day: datetime, sent: int, tally: Tally | None = None) -> Result:
    campaign = Campaign(ids.new(), "x", day, day, State.PUBLISHED, published_at=day, counts=Counts(sent, sent))
    return Result(campaign, tally)


def test_a_campaign_is_listed_with_its_numbers_and_shares(admin):
    campaign = publish("Beans & peas", 1000, 998, 2)
    happen(service.view(campaign).deliveries[0].id)
    page = admin.get(PATH)
    assert page.status == 200
    assert "Beans &amp; peas" in page.text
    assert "numbers so far" in page.text
    for cell in ("998 <small>of 1,000</small>", "2 <small>0.2%</small>", "3 <small>0.3%</small>", "4 <small>0.4%"):
        assert cell in page.text
    assert f'href="/admin/campaigns/{campaign}"' in page.text


def test_what_was_not_counted_is_not_shown_as_zero(admin):
    change(publish("Old"), delivery_ids=None)
    assert "Not counted" in admin.get(PATH).text
    (row,) = _file(admin)[1:]
    assert row[-4:] == [""] * 4


def test_after_a_week_the_numbers_are_no_longer_so_far(admin):
    old = publish("Old")
    change(old, published_at=clock.text(clock.now() - results.LEFT_WITHIN - timedelta(minutes=1)))
    assert "so far" not in admin.get(PATH).text


def test_a_stopped_campaign_says_that_it_did_not_reach_everyone(admin):
    sent = service.send_now(service.create(Draft("Stopped", "<p>x</p>")).campaign.id)
    deliveries.finish(sent.deliveries[0], Counts(10, 10), "Stopped by an editor")
    assert "not sent to everyone" in admin.get(PATH).text


def test_nothing_sent_yet(admin):
    page = admin.get(PATH)
    assert "No results yet" in page.text
    assert "<svg viewBox" not in page.text.partition("<main")[2].replace('<svg class="icon"', "")
    assert "format=csv" not in page.text


def test_pages_of_fifty(admin):
    first = publish("First")
    campaign = service.view(first).campaign
    tables.write_all(store.CampaignRow, [store._campaign_row(replace(campaign, id=ids.new())) for _ in range(60)])
    pages = [admin.get(f"{PATH}?page={number}").text.count('<th scope="row">') for number in (1, 2)]
    assert pages == [50, 11]
    assert "The list ends at" in admin.get(f"{PATH}?page=3").text
    assert admin.get(f"{PATH}?page=0").status == 400


def _file(admin):
    answer = admin.get(f"{PATH}?format=csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert "results.csv" in answer.headers["content-disposition"]
    return list(csv.reader(io.StringIO(answer.text.removeprefix("\ufeff"))))


def test_the_table_as_a_file(admin):
    campaign = publish('=HYPERLINK("x")', 10, 9, 1)
    happen(service.view(campaign).deliveries[0].id)
    head, row = _file(admin)
    assert head[-4:] == ["soft_bounced", "hard_bounced", "complaints", "left"]
    assert (row[0], row[2]) == (campaign, '\'=HYPERLINK("x")')
    assert row[3:] == ["10", "9", "1", "0", "3", "2", "1", "4"]
    assert admin.get(f"{PATH}?format=pdf").status == 400


def test_the_list_of_campaigns_and_the_overview_lead_there(admin, ses):
    publish("One")
    assert f'href="{PATH}"' in admin.get("/admin/campaigns").text
    assert f'href="{PATH}"' in admin.get("/admin").text


@pytest.mark.parametrize("campaigns", [1, 11, 52, 120])
def test_a_bar_a_campaign_in_the_order_of_time(campaigns):
    day = datetime(2026, 11, 18, tzinfo=UTC)
    year = [_result(day - timedelta(days=number), number + 1) for number in range(campaigns)]
    chart = result_chart.build_chart(year)
    assert [bar.sent for bar in chart.bars] == list(range(campaigns, 0, -1))
    assert (chart.weekly, chart.places) == (False, max(12, campaigns))
    assert chart.sent_bars.count("M") == campaigns
    assert chart.left_bars == chart.complaints_bars == ""


def test_many_campaigns_are_a_bar_a_week_also_for_weeks_without_any():
    day = datetime(2026, 11, 18, tzinfo=UTC)
    days = [day - timedelta(days=number) for number in range(365) if not 40 < number < 60]
    year = [_result(each, 10, Tally(left=1, complaints=1)) for each in days for _ in range(3)]
    chart = result_chart.build_chart(year)
    assert chart.weekly
    assert len(chart.bars) == 53
    assert sum(bar.sent for bar in chart.bars) == 10 * len(year)
    assert any(bar.sent == 0 for bar in chart.bars)
    assert len(chart.sent_bars) + len(chart.left_bars) + len(chart.complaints_bars) < 5_000


def test_shares_are_stacked_and_never_leave_the_chart():
    day = datetime(2026, 11, 18, tzinfo=UTC)
    chart = result_chart.build_chart(
        [_result(day, 10, Tally(left=10, complaints=10)), _result(day, 0, Tally(left=3))]
    )
    assert (chart.top_share, chart.left_bars, chart.complaints_bars) == (100, "M1 100V0.0", "M1 0V0.0")
    small = result_chart.build_chart([_result(day, 1000, Tally(left=2, complaints=1))])
    assert (small.top_share, small.left_bars, small.complaints_bars) == (0.5, "M0 100V60.0", "M0 60V40.0")


def test_nothing_is_drawn_where_nothing_was_sent():
    assert result_chart.build_chart([]) is None
    assert result_chart.build_chart([_result(datetime(2026, 1, 1, tzinfo=UTC), 0)]) is None


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(0, 10, ""), (1, 0, ""), (1, 10_000, "<0.1%"), (1, 2_000, "0.1%"), (1, 3, "33.3%"), (3, 2, "150.0%")],
)
def test_shares_in_words(part, whole, text):
    assert labels.share(part, whole) == text


def test_the_report_shows_the_numbers_and_that_they_may_grow(admin):
    campaign = publish("Beans", 1000, 1000)
    happen(service.view(campaign).deliveries[0].id)
    text = admin.get(f"/admin/campaigns/{campaign}").text
    assert "What became of it so far" in text
    for number in ("3 <small>0.3%", "2 <small>0.2%", "1 <small>0.1%", "4 <small>0.4%"):
        assert f"<dd>{number}" in text
    assert 'href="/admin/bounces"' in text
    assert f'href="{PATH}"' in text
    assert "Percentages are" in text
    assert "Percentages are" not in admin.get(f"/admin/campaigns/{publish('Peas', 1000, 1000)}").text


def test_the_report_of_a_campaign_from_before_says_that_nothing_was_counted(admin):
    campaign = publish("Old")
    change(campaign, delivery_ids=None)
    text = admin.get(f"/admin/campaigns/{campaign}").text
    assert "Not counted" in text
    assert "Soft bounces" not in text


def test_the_report_of_a_stopped_campaign_says_how_many_were_not_sent_it(admin, person):
    for number in range(5):
        person(f"reader{number}@example.net")
    sent = service.send_now(service.create(Draft("Stopped", "<p>x</p>")).campaign.id)
    deliveries.finish(sent.deliveries[0], Counts(2, 2), STOPPED)
    assert "about 3 people" in admin.get(f"/admin/campaigns/{sent.campaign.id}").text
    aimed = service.create(Draft("Some", "<p>x</p>", targeting=Targeting(tags=Terms(any=("tea",)))))
    sent = service.send_now(aimed.campaign.id)
    deliveries.finish(sent.deliveries[0], Counts(1, 1), STOPPED)
    assert "everybody else it was for" in admin.get(f"/admin/campaigns/{sent.campaign.id}").text
