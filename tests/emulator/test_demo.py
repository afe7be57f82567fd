"""`make demo` writes what the app itself would have written."""

from chalicelib.audience import counts
from chalicelib.campaigns import service as campaigns
from local.demo import fill


def test_it_adds_subscribers_and_campaigns_in_every_state(emulator):
    assert fill(20) == (20, 4)
    assert 5 <= counts.total() <= 20
    found = campaigns.list_page(None, 1, 20)
    assert sorted(campaign.state for campaign in found.items) == ["draft", "publishing", "publishing", "scheduled"]
