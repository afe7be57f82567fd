"""Campaigns for editors, and the public archive."""

from chalicelib.web.routing import admin_api, page

ROUTES = (
    admin_api("GET /admin/api/segments", "campaigns.segment_handlers:list_segments"),
    admin_api("POST /admin/api/segments", "campaigns.segment_handlers:create_segment"),
    admin_api("PATCH /admin/api/segments/{segment_id}", "campaigns.segment_handlers:change_segment"),
    admin_api("DELETE /admin/api/segments/{segment_id}", "campaigns.segment_handlers:delete_segment"),
    admin_api("GET /admin/api/campaigns", "campaigns.handlers:list_campaigns"),
    admin_api("POST /admin/api/campaigns", "campaigns.handlers:create_campaign"),
    admin_api("GET /admin/api/campaigns/results", "campaigns.handlers:list_results"),
    admin_api("GET /admin/api/campaigns/{campaign_id}", "campaigns.handlers:view_campaign"),
    admin_api("GET /admin/api/campaigns/{campaign_id}/progress", "campaigns.handlers:watch_campaign"),
    admin_api("PATCH /admin/api/campaigns/{campaign_id}", "campaigns.handlers:update_campaign"),
    admin_api("DELETE /admin/api/campaigns/{campaign_id}", "campaigns.handlers:delete_campaign"),
    admin_api("POST /admin/api/campaigns/{campaign_id}/send", "campaigns.handlers:send_campaign"),
    admin_api("POST /admin/api/campaigns/{campaign_id}/schedule", "campaigns.handlers:schedule_campaign"),
    admin_api("POST /admin/api/campaigns/{campaign_id}/cancel", "campaigns.handlers:cancel_campaign"),
    admin_api("POST /admin/api/campaigns/{campaign_id}/duplicate", "campaigns.handlers:duplicate_campaign"),
    admin_api("GET /admin/api/campaigns/{campaign_id}/versions", "campaigns.version_handlers:list_versions"),
    admin_api("GET /admin/api/campaigns/{campaign_id}/versions/{version}", "campaigns.version_handlers:view_version"),
    admin_api(
        "POST /admin/api/campaigns/{campaign_id}/versions/{version}/restore",
        "campaigns.version_handlers:restore_version",
    ),
    admin_api("POST /admin/api/campaigns/{campaign_id}/test", "campaigns.review.handlers:test_campaign"),
    admin_api(
        "POST /admin/api/campaigns/{campaign_id}/deliveries/{delivery_id}/retry", "campaigns.handlers:retry_delivery"
    ),
    admin_api(
        "POST /admin/api/campaigns/{campaign_id}/deliveries/{delivery_id}/stop", "campaigns.handlers:stop_delivery"
    ),
    admin_api(
        "POST /admin/api/campaigns/{campaign_id}/deliveries/{delivery_id}/continue",
        "campaigns.handlers:continue_delivery",
    ),
    admin_api(
        "GET /admin/api/campaigns/{campaign_id}/correction", "campaigns.content.correction_handlers:view_correction"
    ),
    admin_api(
        "POST /admin/api/campaigns/{campaign_id}/correction", "campaigns.content.correction_handlers:correct_campaign"
    ),
    admin_api(
        "DELETE /admin/api/campaigns/{campaign_id}/correction",
        "campaigns.content.correction_handlers:withdraw_correction",
    ),
    admin_api("GET /admin/api/campaigns/{campaign_id}/preview", "campaigns.review.handlers:preview_campaign"),
    admin_api("POST /admin/api/campaigns/preview", "campaigns.review.handlers:preview_draft"),
    admin_api("GET /admin/api/campaigns/{campaign_id}/preflight", "campaigns.review.handlers:preflight_campaign"),
    admin_api("POST /admin/api/campaigns/audience", "campaigns.review.handlers:count_audience"),
    admin_api("POST /admin/api/campaigns/{campaign_id}/pictures", "campaigns.gallery.handlers:copy_pictures"),
    admin_api("GET /admin/api/media", "campaigns.gallery.handlers:list_media"),
    admin_api("POST /admin/api/media", "campaigns.gallery.handlers:upload_media", upload=True),
    admin_api("GET /admin/api/media/{media_id}", "campaigns.gallery.handlers:view_media"),
    admin_api("POST /admin/api/media/{media_id}", "campaigns.gallery.handlers:confirm_media"),
    admin_api("DELETE /admin/api/media/{media_id}", "campaigns.gallery.handlers:delete_media"),
    page("GET /", "campaigns.content.archive_handlers:home"),
    page("GET /archive", "campaigns.content.archive_handlers:list_archive"),
    page("GET /archive/{campaign_id}", "campaigns.content.archive_handlers:read_archive"),
    page("GET /archive/feed.xml", "campaigns.content.feed_handlers:atom_feed"),
    page("GET /archive/feed.json", "campaigns.content.feed_handlers:json_feed"),
    page("GET /sitemap.xml", "campaigns.content.feed_handlers:sitemap"),
    page("GET /robots.txt", "campaigns.content.feed_handlers:robots"),
)
