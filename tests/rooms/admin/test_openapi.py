"""The OpenAPI document is complete and consistent, and the API page shows it."""

import json
from pathlib import Path

from chalicelib.admin import openapi
from tests.rooms.admin import contract

METHODS = {"GET", "POST", "PATCH", "DELETE"}


def described() -> set[tuple[str, str]]:
    return {
        (path, method.upper())
        for path, item in openapi.document()["paths"].items()
        for method in item
        if method.upper() in METHODS
    }


def test_every_route_is_described_and_nothing_else(dashboard):
    import app

    served = {
        (path, method)
        for path, methods in app.app.routes.items()
        if path.startswith(("/admin/api/", "/api/"))
        for method, entry in methods.items()
        if method in METHODS and entry.view_name != "not_found"
    }
    assert described() == served


def test_every_reference_exists(dashboard):
    text = json.dumps(openapi.document())
    schemas = openapi.document()["components"]["schemas"]
    wanted = {part.partition('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert wanted <= set(schemas)


def test_parameters_of_a_path_are_described(dashboard):
    for path, item in openapi.document()["paths"].items():
        names = {part.strip("{}") for part in path.split("/") if part.startswith("{")}
        for method, call in item.items():
            if method.upper() in METHODS:
                given = [*item.get("parameters", []), *call.get("parameters", [])]
                assert names == {parameter["name"] for parameter in given if parameter["in"] == "path"}, path


def test_nothing_that_callers_depend_on_changes_unseen(dashboard):
    """Answers and document come from the same structs and agree also when both change: here it has to be said."""
    pinned = json.loads(Path(__file__).with_name("contract.json").read_text())
    assert contract.described() == pinned, "a change of the API: say it in the changelog, then change contract.json"


def test_operation_ids_are_unique(dashboard):
    calls = [
        call for item in openapi.document()["paths"].values() for name, call in item.items() if name != "parameters"
    ]
    names = [call["operationId"] for call in calls if "operationId" in call]
    assert len(names) == len(set(names))


def test_the_document_and_its_page_are_served(dashboard):
    assert dashboard.get("/admin/api/openapi.json").json == openapi.document()
    assert "GET /admin/api/subscribers" in dashboard.see("/admin/api")
    assert "GET /admin/api/subscribers" in dashboard.see("/admin/api?about=nothing")
    assert "POST /api/subscribe" in dashboard.see("/admin/api?about=Public")
