"""The health check."""

from chalicelib.web.routing import api

ROUTES = (api("GET /health", "web.health:health", head=True),)
