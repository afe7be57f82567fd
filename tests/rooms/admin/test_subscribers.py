def test_the_newest_come_first_with_their_status(dashboard, person):
    person("old@example.net", "Old", days_ago=9)
    person("new@example.net", pending=True)
    seen = dashboard.see("/admin/subscribers")
    assert seen.index("new@example.net Pending") < seen.index("old@example.net Old Activated")
    assert "2 people" in seen


def test_a_search_and_its_export_use_the_same_filter(dashboard, person):
    person("ada@example.net", "Ada", source="blog", tags=("maths",))
    person("bo@example.net", "Bo", source="footer")
    page = dashboard.get("/admin/subscribers?q=AD&source=blog&tag=maths&status=activated")
    assert "ada@example.net" in page.text
    assert "bo@example.net" not in page.text
    export = page.text.partition('action="/admin/api/subscribers/export"')[2].partition("</form>")[0]
    for name, value in {"q": "AD", "status": "activated", "source": "blog", "tag": "maths"}.items():
        assert f'name="{name}" value="{value}"' in export
    assert 'name="full" value="true"' in export


def test_an_empty_list_and_a_search_without_matches_are_told_apart(dashboard, person):
    assert "No subscribers yet" in dashboard.see("/admin/subscribers")
    person("ada@example.net")
    assert "No matches" in dashboard.see("/admin/subscribers?q=zzz")
    assert "Page not found" in dashboard.see("/admin/subscribers?page=7")
    assert "Page not found" in dashboard.see("/admin/subscribers?q=ada&page=7")


def test_pages_link_to_each_other_and_keep_the_filter(dashboard, person):
    for number in range(3):
        person(f"ada{number}@example.net")
    page = dashboard.get("/admin/subscribers?q=ada&per_page=1&page=2").text
    assert 'rel="prev" href="/admin/subscribers?q=ada&amp;per_page=1&amp;page=1"' in page
    assert 'rel="next" href="/admin/subscribers?q=ada&amp;per_page=1&amp;page=3"' in page


def test_a_removal_is_confirmed_first(dashboard, person):
    someone = person("ada@example.net")
    assert "Remove ada@example.net?" in dashboard.see(f"/admin/subscribers/{someone}/remove")
    assert "ada@example.net" in dashboard.see("/admin/subscribers")
    said = dashboard.follow(f"/admin/subscribers/{someone}/remove")
    assert "Everything stored about this person has been deleted" in said or "Removal has started" in said


def test_do_not_contact_is_set_and_lifted(dashboard, person):
    person("ada@example.net")
    assert "will not be emailed again" in dashboard.follow(
        "/admin/do-not-contact", email="Ada@example.net", action="set"
    )
    assert "ada@example.net" not in dashboard.see("/admin/subscribers")
    assert "can sign up again" in dashboard.follow("/admin/do-not-contact", email="ada@example.net", action="lift")
    again = dashboard.follow("/admin/do-not-contact", email="ada@example.net", action="lift")
    assert "this address was not on the list" in again


def test_an_invalid_address_is_refused_with_the_reason(dashboard):
    answer = dashboard.post("/admin/do-not-contact", email="not an address", action="set")
    assert answer.status == 400
    assert 'value="not an address"' in answer.text
    assert 'role="alert"' in answer.text


def test_what_readers_typed_is_escaped(dashboard, person):
    person("ada@example.net", "<b>Ada</b>")
    assert "&lt;b&gt;Ada&lt;/b&gt;" in dashboard.get("/admin/subscribers").text
    assert '"><b>' not in dashboard.get("/admin/subscribers?q=%22%3E%3Cb%3E").text


def test_a_subscriber_is_shown_in_full_and_truncated_in_the_list(dashboard, person):
    address = f"{'long' * 15}@{'name' * 12}.{'of' * 30}.{'a' * 60}.example.net"
    someone = person(address, "Ada", source="footer", tags=("beans", "frost", "maths"))
    listed = dashboard.get("/admin/subscribers").text
    assert "<i>footer</i> <b>beans</b> <b>frost</b> +1" in listed
    assert f">{address[:45]}…{address[-45:]}</a>" in listed
    assert address not in listed
    seen = dashboard.see(f"/admin/subscribers/{someone}")
    assert f"{address} Activated Ada Pause Remove…" in seen
    assert "Sources footer Tags beans frost maths" in seen
    assert 'href="/admin/subscribers?tag=beans"' in dashboard.get(f"/admin/subscribers/{someone}").text
    assert dashboard.get("/admin/subscribers/nobody").status == 404
