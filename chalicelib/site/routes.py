"""The publication's own settings, for editors. The page that shows them is in `admin`."""

from chalicelib.web.routing import admin_api

ROUTES = (
    admin_api("GET /admin/api/site", "site.handlers:view_site"),
    admin_api("PATCH /admin/api/site", "site.handlers:change_site"),
    admin_api("GET /admin/api/site/history", "site.handlers:list_history"),
    admin_api("POST /admin/api/site/history", "site.handlers:restore_site"),
)
