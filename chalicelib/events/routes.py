"""Webhooks, managed by editors."""

from chalicelib.web.routing import admin_api

ROUTES = (
    admin_api("GET /admin/api/webhooks", "events.webhooks.handlers:list_webhooks"),
    admin_api("POST /admin/api/webhooks", "events.webhooks.handlers:add_webhook"),
    admin_api("GET /admin/api/webhooks/{webhook_id}", "events.webhooks.handlers:get_webhook"),
    admin_api("PATCH /admin/api/webhooks/{webhook_id}", "events.webhooks.handlers:change_webhook"),
    admin_api("DELETE /admin/api/webhooks/{webhook_id}", "events.webhooks.handlers:remove_webhook"),
    admin_api("POST /admin/api/webhooks/{webhook_id}/rotate", "events.webhooks.handlers:rotate_secret"),
    admin_api("POST /admin/api/webhooks/{webhook_id}/test", "events.webhooks.handlers:test_webhook"),
    admin_api("POST /admin/api/webhooks/{webhook_id}/replay", "events.webhooks.handlers:replay"),
    admin_api("GET /admin/api/webhooks/{webhook_id}/attempts", "events.webhooks.handlers:list_attempts"),
)
