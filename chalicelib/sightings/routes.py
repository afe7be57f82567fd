"""A member's sightings, and what the publication sees of those that are shared."""

from chalicelib.web.routing import admin_api, member_api, member_page

ROUTES = (
    member_api("POST /api/upload/photo", "sightings.photo_handlers:upload_photo", photo=True),
    member_api("GET /api/sightings", "sightings.handlers:list_sightings"),
    member_api("POST /api/sightings", "sightings.handlers:create_sighting"),
    member_api("GET /api/sightings/{sighting_id}", "sightings.handlers:get_sighting"),
    member_api("PATCH /api/sightings/{sighting_id}", "sightings.handlers:change_sighting"),
    member_api("DELETE /api/sightings/{sighting_id}", "sightings.handlers:delete_sighting"),
    member_api("POST /api/sightings/{sighting_id}/share", "sightings.handlers:share_sighting"),
    member_api("DELETE /api/sightings/{sighting_id}/share", "sightings.handlers:withdraw_sighting"),
    member_page("GET /sightings", "sightings.pages:list_sightings"),
    member_page("POST /sightings", "sightings.pages:search_sightings"),
    member_page("GET /sightings/new", "sightings.form_pages:show_new"),
    member_page("POST /sightings/new", "sightings.form_pages:create_sighting", photo=True),
    member_page("GET /sightings/{sighting_id}", "sightings.pages:show_sighting"),
    member_page("GET /sightings/{sighting_id}/edit", "sightings.form_pages:show_edit"),
    member_page("POST /sightings/{sighting_id}/edit", "sightings.form_pages:save_sighting", photo=True),
    member_page("GET /sightings/{sighting_id}/delete", "sightings.pages:confirm_deletion"),
    member_page("POST /sightings/{sighting_id}/delete", "sightings.pages:delete_sighting"),
    member_page("GET /sightings/{sighting_id}/share", "sightings.pages:show_share"),
    member_page("POST /sightings/{sighting_id}/share", "sightings.pages:share_sighting"),
    member_page("POST /sightings/{sighting_id}/share/withdraw", "sightings.pages:withdraw_sighting"),
    admin_api("GET /admin/api/sightings", "sightings.admin_handlers:list_shared"),
)
