"""What readers use, what sites embed, and what editors do with subscribers."""

from chalicelib.web.routing import JSON_OR_FORM, admin_api, api, page

ROUTES = (
    api("POST /api/subscribe", "audience.sign_up_handlers:subscribe", accepts=JSON_OR_FORM, cors=True),
    page("GET /subscribed", "audience.sign_up_handlers:subscribed"),
    page("GET /confirm", "audience.sign_up_handlers:confirm"),
    page("POST /confirm", "audience.sign_up_handlers:confirm_by_button"),
    page("GET /confirmed", "audience.sign_up_handlers:confirmed"),
    page("GET /api/unsubscribe", "audience.sign_up_handlers:unsubscribe"),
    page("POST /api/unsubscribe", "audience.sign_up_handlers:unsubscribe_with_one_click"),
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
    admin_api("DELETE /admin/api/subscribers/{subscriber_id}", "audience.admin_handlers:remove_subscriber"),
    admin_api("POST /admin/api/subscribers/{subscriber_id}/pause", "audience.admin_handlers:pause_subscriber"),
    admin_api("POST /admin/api/subscribers/{subscriber_id}/resume", "audience.admin_handlers:resume_subscriber"),
    admin_api("POST /admin/api/do-not-contact", "audience.admin_handlers:set_do_not_contact"),
    admin_api("POST /admin/api/do-not-contact/lift", "audience.admin_handlers:lift_do_not_contact"),
)
