"""What readers use, what sites embed, and what editors do with subscribers."""

from msgspec.structs import replace

from chalicelib.web.routing import JSON_OR_FORM, Route, admin_api, api, page

# A list as it is, or JSON that announces one. What is larger than it may be is read too, to be answered with 413.
_LIST_TYPES = ("application/json", "text/csv", "application/zip")
_LARGEST_READ = 100_000_000


def _takes_list(route: Route) -> Route:
    return replace(route, accepts=_LIST_TYPES, largest_body=_LARGEST_READ)


ROUTES = (
    api("POST /api/subscribe", "audience.sign_up_handlers:subscribe", accepts=JSON_OR_FORM, cors=True),
    page("GET /subscribed", "audience.sign_up_handlers:subscribed"),
    page("GET /confirm", "audience.sign_up_handlers:confirm"),
    page("POST /confirm", "audience.sign_up_handlers:confirm_by_button"),
    page("GET /confirmed", "audience.sign_up_handlers:confirmed"),
    page("GET /api/unsubscribe", "audience.sign_up_handlers:unsubscribe"),
    page("POST /api/unsubscribe", "audience.sign_up_handlers:unsubscribe_with_one_click"),
    page("GET /never", "audience.sign_up_handlers:never"),
    page("POST /never", "audience.sign_up_handlers:never_by_button"),
    api(
        "POST /api/profile/request-link",
        "audience.profile_handlers:request_profile_link",
        accepts=JSON_OR_FORM,
        cors=True,
    ),
    page("GET /profile", "audience.profile_handlers:profile"),
    api("POST /api/profile/update", "audience.profile_handlers:update_profile", accepts=JSON_OR_FORM, cors=True),
    page("GET /profile/data", "audience.profile_handlers:data", head=False),
    page("POST /profile/resume", "audience.profile_handlers:resume_campaigns"),
    page("POST /profile/never", "audience.profile_handlers:never_again"),
    page("POST /profile/request-resume", "audience.profile_handlers:request_resume"),
    page("GET /resume", "audience.profile_handlers:resume"),
    page("POST /resume", "audience.profile_handlers:resume_by_button"),
    page("GET /embed.js", "audience.embed_handlers:embed_script"),
    page("GET /style.css", "audience.embed_handlers:style"),
    page("GET /icon.svg", "audience.embed_handlers:icon"),
    page("GET /subscribe", "audience.embed_handlers:subscribe_page"),
    admin_api("GET /admin/api/subscribers", "audience.admin_handlers:list_subscribers"),
    admin_api("GET /admin/api/subscribers/words", "audience.admin_handlers:list_words"),
    admin_api("GET /admin/api/subscribers/export", "audience.admin_handlers:export_subscribers"),
    admin_api("POST /admin/api/subscribers/remove", "audience.admin_handlers:remove_subscribers"),
    admin_api("GET /admin/api/subscribers/{subscriber_id}", "audience.admin_handlers:get_subscriber"),
    admin_api("PATCH /admin/api/subscribers/{subscriber_id}", "audience.admin_handlers:change_subscriber"),
    admin_api("POST /admin/api/subscribers/{subscriber_id}/resend", "audience.admin_handlers:resend_confirmation"),
    admin_api("DELETE /admin/api/subscribers/{subscriber_id}", "audience.admin_handlers:remove_subscriber"),
    admin_api("POST /admin/api/subscribers/{subscriber_id}/pause", "audience.admin_handlers:pause_subscriber"),
    admin_api("POST /admin/api/subscribers/{subscriber_id}/resume", "audience.admin_handlers:resume_subscriber"),
    admin_api("POST /admin/api/subscribers", "audience.imports.handlers:add_subscriber"),
    _takes_list(admin_api("POST /admin/api/imports", "audience.imports.handlers:create_import")),
    admin_api("GET /admin/api/imports", "audience.imports.handlers:list_imports"),
    admin_api("GET /admin/api/imports/{import_id}", "audience.imports.handlers:get_import"),
    admin_api("POST /admin/api/imports/{import_id}/read", "audience.imports.handlers:read_import"),
    admin_api("POST /admin/api/imports/{import_id}/start", "audience.imports.handlers:start_import"),
    admin_api("POST /admin/api/imports/{import_id}/cancel", "audience.imports.handlers:cancel_import"),
    admin_api("POST /admin/api/imports/{import_id}/undo", "audience.imports.handlers:undo_import"),
    admin_api("GET /admin/api/imports/{import_id}/report", "audience.imports.handlers:download_report"),
    admin_api("GET /admin/api/tags", "audience.tags.handlers:list_tags"),
    admin_api("POST /admin/api/tags", "audience.tags.handlers:change_tags"),
    admin_api("GET /admin/api/tags/{job_id}", "audience.tags.handlers:get_job"),
    admin_api("POST /admin/api/do-not-contact", "audience.admin_handlers:set_do_not_contact"),
    admin_api("POST /admin/api/do-not-contact/lift", "audience.admin_handlers:lift_do_not_contact"),
)
