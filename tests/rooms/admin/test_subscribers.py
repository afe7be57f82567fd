def test_the_newest_come_first_with_their_labels(desk, person):
    person("old@example.net", "Old", days_ago=9)
    person("new@example.net", pending=True)
    seen = desk.see("/admin/subscribers")
    assert seen.index("new@example.net Pending") < seen.index("old@example.net Old Activated")
    assert "2 people" in seen


def test_people_are_found_and_the_export_has_the_same_filter(desk, person):
    person("ada@example.net", "Ada", source="blog", tags=("maths",))
    person("bo@example.net", "Bo", source="footer")
    page = desk.get("/admin/subscribers?q=AD&source=blog&tag=maths&status=activated")
    assert "ada@example.net" in page.text
    assert "bo@example.net" not in page.text
    assert "export?q=AD&amp;status=activated&amp;source=blog&amp;tag=maths" in page.text


def test_nobody_and_nobody_who_matches_are_different_things(desk, person):
    assert "No subscribers yet" in desk.see("/admin/subscribers")
    person("ada@example.net")
    assert "No matches" in desk.see("/admin/subscribers?q=zzz")
    assert "Page not found" in desk.see("/admin/subscribers?page=7")
    assert "Page not found" in desk.see("/admin/subscribers?q=ada&page=7")


def test_pages_lead_to_each_other_and_keep_the_filter(desk, person):
    for number in range(3):
        person(f"ada{number}@example.net")
    page = desk.get("/admin/subscribers?q=ada&per_page=1&page=2").text
    assert 'rel="prev" href="/admin/subscribers?q=ada&amp;per_page=1&amp;page=1"' in page
    assert 'rel="next" href="/admin/subscribers?q=ada&amp;per_page=1&amp;page=3"' in page


def test_a_removal_is_asked_first_and_then_done(desk, person):
    someone = person("ada@example.net")
    assert "Remove ada@example.net?" in desk.see(f"/admin/subscribers/{someone}/remove")
    assert "ada@example.net" in desk.see("/admin/subscribers")
    said = desk.follow(f"/admin/subscribers/{someone}/remove")
    assert "Everything stored about this person has been deleted" in said or "Removal has started" in said


def test_an_address_is_put_on_the_list_of_the_unwilling_and_taken_off(desk, person):
    person("ada@example.net")
    assert "will not be emailed again" in desk.follow("/admin/do-not-contact", email="Ada@example.net", wish="set")
    assert "ada@example.net" not in desk.see("/admin/subscribers")
    assert "can sign up again" in desk.follow("/admin/do-not-contact", email="ada@example.net", wish="lift")


def test_a_mistyped_address_comes_back_with_the_reason(desk):
    answer = desk.post("/admin/do-not-contact", email="not an address", wish="set")
    assert answer.status == 400
    assert 'value="not an address"' in answer.text
    assert 'role="alert"' in answer.text


def test_what_strangers_typed_stays_text(desk, person):
    person("ada@example.net", "<b>Ada</b>")
    assert "&lt;b&gt;Ada&lt;/b&gt;" in desk.get("/admin/subscribers").text
    assert '"><b>' not in desk.get("/admin/subscribers?q=%22%3E%3Cb%3E").text


def test_a_person_is_shown_with_all_that_is_known_and_in_the_list_with_what_there_is_room_for(desk, person):
    address = f"{'long' * 15}@{'name' * 12}.{'of' * 30}.{'a' * 60}.example.net"
    someone = person(address, "Ada", source="footer", tags=("beans", "frost", "maths"))
    listed = desk.get("/admin/subscribers").text
    assert "<i>footer</i> <b>beans</b> <b>frost</b> +1" in listed
    assert f">{address[:45]}…{address[-45:]}</a>" in listed
    assert address not in listed
    seen = desk.see(f"/admin/subscribers/{someone}")
    assert f"{address} Activated Ada Remove…" in seen
    assert "Sources footer Tags beans frost maths" in seen
    assert 'href="/admin/subscribers?tag=beans"' in desk.get(f"/admin/subscribers/{someone}").text
    assert desk.get("/admin/subscribers/nobody").status == 404
