"""The document says what the routes do."""

import msgspec

from chalicelib.admin import openapi
from chalicelib.campaigns import serializers, service

API = "/admin/api/campaigns"


def calls():
    return {
        (path, method): call
        for path, item in openapi.document()["paths"].items()
        if path.startswith(API)
        for method, call in item.items()
        if method != "parameters"
    }


def fields_of(schema: str) -> set[str]:
    return set(openapi.document()["components"]["schemas"][schema]["properties"])


def test_every_campaign_route_is_described_and_nothing_else():
    import app

    served = {
        (path, method.lower())
        for path, methods in app.app.routes.items()
        if path.startswith(API)
        for method in methods
    }
    assert set(calls()) == served


def test_every_reference_leads_somewhere():
    found = []

    def walk(part):
        if isinstance(part, dict):
            found.extend(value for name, value in part.items() if name == "$ref")
            for value in part.values():
                walk(value)
        if isinstance(part, list):
            for value in part:
                walk(value)

    schemas = openapi.document()["components"]["schemas"]
    walk([*calls().values(), schemas])
    assert {name.rpartition("/")[2] for name in found} <= set(schemas)


def test_every_call_has_its_own_name():
    names = [call["operationId"] for call in calls().values()]
    assert len(names) == len(set(names))


def test_an_answer_has_exactly_the_described_fields(admin):
    detail = service.create(service.Draft("x", "y"))
    campaign = msgspec.to_builtins(serializers.campaign_detail(detail))
    assert set(campaign) | {"removed"} == fields_of("Campaign")
    assert set(msgspec.to_builtins(serializers.campaign_line(detail.campaign))) == fields_of("CampaignLine")
    assert set(campaign["deliveries"][0]) == fields_of("Delivery")
