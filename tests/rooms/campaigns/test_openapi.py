"""The document says what the routes do."""

from chalicelib.campaigns import openapi


def test_every_campaign_route_is_described_and_nothing_else():
    import app

    served = {
        (path, method.lower())
        for path, methods in app.app.routes.items()
        if path.startswith("/admin/api/campaigns")
        for method in methods
    }
    described = {(path, method) for path, item in openapi.PATHS.items() for method in item if method != "parameters"}
    assert described == served


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

    walk([openapi.PATHS, openapi.SCHEMAS])
    assert {name.rpartition("/")[2] for name in found} <= set(openapi.SCHEMAS)


def test_every_call_has_its_own_name():
    names = [
        call["operationId"]
        for item in openapi.PATHS.values()
        for method, call in item.items()
        if method != "parameters"
    ]
    assert len(names) == len(set(names))


def test_an_answer_has_exactly_the_described_fields(admin):
    from chalicelib.campaigns import serializers, service

    detail = service.create(service.Draft("x", "y"))
    campaign = serializers.campaign_detail(detail)
    assert set(campaign) | {"removed"} == set(openapi.SCHEMAS["Campaign"]["properties"])
    assert set(serializers.campaign_line(detail.campaign)) == set(openapi.SCHEMAS["CampaignLine"]["properties"])
    assert set(campaign["deliveries"][0]) == set(openapi.SCHEMAS["Delivery"]["properties"])
