"""Mails that could not be delivered."""

from chalicelib.web.routing import admin_api

ROUTES = (admin_api("GET /admin/api/bounces", "bounces.handlers:list_bounces"),)
