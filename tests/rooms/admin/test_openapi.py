"""The description of the API: complete, true, and readable."""

import json

from chalicelib.admin import openapi

METHODS = {"GET", "POST", "PATCH", "DELETE"}


def described() -> set[tuple[str, str]]:
    return {
        (path, method.upper())
        for path, item in openapi.document()["paths"].items()
        for method in item
        if method.upper() in METHODS
    }


def test_document_and_routes_are_equal(desk):
    import app

    served = {
        (path, method)
        for path, methods in app.app.routes.items()
        if path.startswith(("/admin/api/", "/api/"))
        for method in methods
        if method in METHODS
    }
    assert described() == served


def test_every_reference_leads_somewhere(desk):
    text = json.dumps(openapi.document())
    schemas = openapi.document()["components"]["schemas"]
    wanted = {part.partition('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert wanted <= set(schemas)


def test_parameters_of_a_path_are_described(desk):
    for path, item in openapi.document()["paths"].items():
        names = {part.strip("{}") for part in path.split("/") if part.startswith("{")}
        for method, call in item.items():
            if method.upper() in METHODS:
                given = [*item.get("parameters", []), *call.get("parameters", [])]
                assert names == {one["name"] for one in given if one["in"] == "path"}, path


def test_no_two_calls_have_one_name(desk):
    calls = [
        call for item in openapi.document()["paths"].values() for name, call in item.items() if name != "parameters"
    ]
    names = [call["operationId"] for call in calls if "operationId" in call]
    assert len(names) == len(set(names))


def test_it_is_served_and_readable(desk):
    assert desk.get("/admin/api/openapi.json").json == openapi.document()
    seen = desk.see("/admin/api")
    assert "GET /admin/api/subscribers" in seen
    assert "POST /api/subscribe" in seen
