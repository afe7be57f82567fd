def test_health_answers_the_version_and_what_it_depends_on(http):
    answer = http.get("/health")
    assert answer.status == 200
    assert answer.json["status"] == "ok"
    assert answer.json["dependencies"] == {"tables": "ok", "queues": "ok"}
