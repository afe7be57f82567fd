from chalicelib.bounces import service as bounces
from chalicelib.kernel import ids


def test_a_bounce_is_listed_and_the_subscriber_can_be_removed(dashboard, person):
    assert "No bounces" in dashboard.see("/admin/bounces")
    someone = person("gone@example.net", "Gone")
    bounces.record_refusal(someone, ids.new(), "SES rejected the message")
    seen = dashboard.see("/admin/bounces")
    assert "gone@example.net Gone Not accepted" in seen
    assert "The next campaign tries again." in seen
    assert "1 bounce" in seen
    assert "The list ends at page 1" in dashboard.see("/admin/bounces?page=7")
    assert "Bounces this week 1" in dashboard.see("/admin")
    page = dashboard.get(f"/admin/subscribers/{someone}/remove?from=bounces").text
    assert 'href="/admin/bounces">Keep' in page
    answer = dashboard.post(f"/admin/subscribers/{someone}/remove", **{"from": "bounces"})
    assert answer.headers["Location"].startswith("/admin/bounces?notice=remov")
