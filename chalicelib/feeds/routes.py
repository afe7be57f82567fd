"""The watched feed: who may announce a change to it, and what editors see of it."""

from chalicelib.web.routing import admin_api, api

ROUTES = (
    api("POST /api/webhooks/feed", "feeds.handlers:announce_post", accepts=()),
    api("GET /api/webhooks/websub/{token}", "feeds.handlers:answer_hub"),
    api("POST /api/webhooks/websub/{token}", "feeds.handlers:receive_push", accepts=()),
    admin_api("GET /admin/api/feed", "feeds.handlers:view_feed"),
    admin_api("POST /admin/api/feed/check", "feeds.handlers:check_feed"),
)
