"""Mails that could not be delivered."""

from chalicelib.web.routing import admin_api

ROUTES = (
    admin_api("GET /admin/api/bounces", "bounces.handlers:list_bounces"),
    admin_api("POST /admin/api/bounces/pause", "bounces.handlers:pause_bounced"),
    admin_api("POST /admin/api/bounces/remove", "bounces.handlers:remove_bounced"),
)
