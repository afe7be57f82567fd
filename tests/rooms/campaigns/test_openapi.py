"""The document says what the routes do."""

import msgspec

from chalicelib.admin import openapi
from chalicelib.campaigns import serializers, service


def fields_of(schema: str) -> set[str]:
    return set(openapi.document()["components"]["schemas"][schema]["properties"])


def test_an_answer_has_exactly_the_described_fields(admin):
    detail = service.create(service.Draft("x", "y"))
    campaign = msgspec.to_builtins(serializers.campaign_detail(detail))
    assert set(campaign) | {"removed"} == fields_of("Campaign")
    assert set(msgspec.to_builtins(serializers.campaign_line(detail.campaign))) == fields_of("CampaignLine")
    assert set(campaign["deliveries"][0]) == fields_of("Delivery")
