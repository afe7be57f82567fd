"""The watched feed: who may announce a change to it, and what editors see of it."""

from chalicelib.web.routing import admin_api, api, webhook

ROUTES = (
    webhook("POST /api/webhooks/feed", "feeds.handlers:announce_post"),
    api("GET /api/webhooks/websub/{token}", "feeds.handlers:answer_hub"),
    webhook("POST /api/webhooks/websub/{token}", "feeds.handlers:receive_push"),
    admin_api("GET /admin/api/feed", "feeds.handlers:view_feed"),
    admin_api("POST /admin/api/feed", "feeds.handlers:act_on_waiting"),
    admin_api("POST /admin/api/feed/check", "feeds.handlers:check_feed"),
)
