"""The API page lists the fields of every request body, whether they are written inline or referred to."""

import pytest

from chalicelib.admin import api_reference, openapi
from chalicelib.admin.api_reference import Field

SCHEMAS = {
    "Colour": {"enum": ["red", "blue"]},
    "Size": {"enum": [1, 2, 3, 4, 5]},
    "Box": {"type": "object"},
    "Parcel": {
        "required": ["box"],
        "properties": {
            "box": {"$ref": "#/components/schemas/Box"},
            "colour": {"anyOf": [{"$ref": "#/components/schemas/Colour"}, {"type": "null"}]},
            "size": {"$ref": "#/components/schemas/Size"},
            "label": {"type": ["string", "null"]},
        },
    },
}
FIELDS = [
    Field("box", "Box", True),
    Field("colour", "red or blue or null", False),
    Field("size", "one of a list", False),
    Field("label", "string or null", False),
]


@pytest.mark.parametrize(
    "body",
    [
        SCHEMAS["Parcel"],
        {"$ref": "#/components/schemas/Parcel"},
        {"anyOf": [{"$ref": "#/components/schemas/Parcel"}]},
    ],
)
def test_fields_of_a_body_are_listed_with_their_types(monkeypatch, body):
    operation = {
        "summary": "Send a parcel",
        "tags": ["public"],
        "requestBody": {"content": {"application/json": {"schema": body}}},
        "responses": {"200": {"description": "Sent"}},
    }
    document = {"paths": {"/api/parcels": {"post": operation}}, "components": {"schemas": SCHEMAS}}
    monkeypatch.setattr(openapi, "document", lambda: document)
    [call] = api_reference.calls_by_title()["Public"]
    assert (call.method, call.path, call.fields) == ("POST", "/api/parcels", FIELDS)
