"""What the OpenAPI document says about bounces."""

from typing import Any

Part = dict[str, Any]

SCHEMAS: Part = {
    "Bounce": {
        "type": "object",
        "required": ["subscriber_id", "email", "nickname", "reason", "created_at", "delivery_id"],
        "properties": {
            "subscriber_id": {"type": "string", "format": "uuid"},
            "email": {"type": "string", "format": "email", "description": "The current address"},
            "nickname": {"type": ["string", "null"]},
            "reason": {"type": "string", "description": "`permanent`, `rejected` or `refused`, and SES's subtype"},
            "created_at": {"type": "string", "format": "date-time"},
            "delivery_id": {"type": ["string", "null"], "format": "uuid"},
        },
    },
    "BouncePage": {
        "type": "object",
        "required": ["items", "page", "per_page", "total"],
        "properties": {
            "items": {"type": "array", "items": {"$ref": "#/components/schemas/Bounce"}},
            "page": {"type": "integer", "minimum": 1},
            "per_page": {"type": "integer", "minimum": 1, "maximum": 100},
            "total": {"type": "integer", "minimum": 0},
        },
    },
}

PATHS: Part = {
    "/admin/api/bounces": {
        "get": {
            "operationId": "list_bounces",
            "summary": "List emails from the last seven days that could not be delivered, newest first",
            "tags": ["bounces"],
            "parameters": [
                {"name": "page", "in": "query", "schema": {"type": "integer", "minimum": 1, "default": 1}},
                {
                    "name": "per_page",
                    "in": "query",
                    "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
                },
            ],
            "responses": {
                "200": {
                    "description": "A page of bounces",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/BouncePage"}}},
                },
                "400": {"description": "Invalid `page` or `per_page`"},
            },
        }
    }
}
