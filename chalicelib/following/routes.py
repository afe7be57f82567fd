"""What the publication's desk follows, for editors, and what each member follows: the same calls."""

from msgspec.structs import replace

from chalicelib.web.routing import Route, admin_api, guest_page, member_api, member_page

# A file of two megabytes, as it is or within JSON, in which quotes take twice their place.
_OPML_TYPES = ("application/json", "text/x-opml", "application/xml", "text/xml")
_LARGEST_OPML = 3_000_000


def _takes_file(route: Route) -> Route:
    return replace(route, accepts=_OPML_TYPES, largest_body=_LARGEST_OPML)


ROUTES = (
    admin_api("GET /admin/api/connections", "following.connection_handlers:list_connections"),
    admin_api("POST /admin/api/connections/state", "following.connection_handlers:register_state"),
    admin_api("POST /admin/api/connections/callback", "following.connection_handlers:complete_connection"),
    admin_api("DELETE /admin/api/connections/{provider}", "following.connection_handlers:delete_connection"),
    admin_api("GET /admin/api/discover/{provider}", "following.connection_handlers:list_mine"),
    admin_api("GET /admin/api/discover/{provider}/search", "following.connection_handlers:search"),
    admin_api("GET /admin/api/follows", "following.handlers:list_follows"),
    admin_api("POST /admin/api/follows", "following.handlers:create_follow"),
    admin_api("GET /admin/api/follows/opml", "following.opml_handlers:export_follows"),
    _takes_file(admin_api("POST /admin/api/follows/opml", "following.opml_handlers:import_follows")),
    admin_api("PATCH /admin/api/follows/{follow_id}", "following.handlers:change_follow"),
    admin_api("DELETE /admin/api/follows/{follow_id}", "following.handlers:delete_follow"),
    admin_api("POST /admin/api/follows/{follow_id}/pause", "following.handlers:pause_follow"),
    admin_api("POST /admin/api/follows/{follow_id}/resume", "following.handlers:resume_follow"),
    admin_api("POST /admin/api/follows/{follow_id}/sync", "following.handlers:sync_follow"),
    admin_api("GET /admin/api/notifications", "following.handlers:list_notifications"),
    admin_api("POST /admin/api/notifications/{notification_id}/read", "following.handlers:read_notification"),
    member_api("GET /api/connections", "following.connection_handlers:list_connections"),
    member_api("POST /api/connections/state", "following.connection_handlers:register_state"),
    member_api("POST /api/connections/callback", "following.connection_handlers:complete_connection"),
    member_api("DELETE /api/connections/{provider}", "following.connection_handlers:delete_connection"),
    member_api("GET /api/discover/{provider}", "following.connection_handlers:list_mine"),
    member_api("GET /api/discover/{provider}/search", "following.connection_handlers:search"),
    member_api("GET /api/follows", "following.handlers:list_follows"),
    member_api("POST /api/follows", "following.handlers:create_follow"),
    member_api("GET /api/follows/opml", "following.opml_handlers:export_follows"),
    _takes_file(member_api("POST /api/follows/opml", "following.opml_handlers:import_follows")),
    member_api("PATCH /api/follows/{follow_id}", "following.handlers:change_follow"),
    member_api("DELETE /api/follows/{follow_id}", "following.handlers:delete_follow"),
    member_api("POST /api/follows/{follow_id}/pause", "following.handlers:pause_follow"),
    member_api("POST /api/follows/{follow_id}/resume", "following.handlers:resume_follow"),
    member_api("POST /api/follows/{follow_id}/sync", "following.handlers:sync_follow"),
    member_api("GET /api/notifications", "following.handlers:list_notifications"),
    member_api("POST /api/notifications/{notification_id}/read", "following.handlers:read_notification"),
    member_page("GET /following", "following.pages:show_following"),
    member_page("POST /following", "following.pages:follow_link"),
    member_page("POST /following/act", "following.pages:act"),
    member_page("GET /following/find", "following.pages:show_find"),
    member_page("POST /following/find", "following.pages:follow_found"),
    member_page("GET /following/connect", "following.pages:show_connect"),
    guest_page("GET /connect.js", "following.pages:script"),
    guest_page("GET /following/callback", "following.pages:show_callback"),
    member_page("GET /following/disconnect", "following.pages:confirm_disconnect"),
    member_page("POST /following/disconnect", "following.pages:disconnect"),
    member_page("GET /following/{follow_id}", "following.pages:show_follow"),
    member_page("POST /following/{follow_id}", "following.pages:save_follow"),
    member_page("GET /following/{follow_id}/unfollow", "following.pages:confirm_unfollow"),
    member_page("POST /following/{follow_id}/unfollow", "following.pages:unfollow"),
)
