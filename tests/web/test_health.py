import json


def test_health_answers_the_version_and_what_it_depends_on(http):
    answer = http.get("/health")
    assert answer.status_code == 200
    body = json.loads(answer.body)
    assert body["status"] == "ok"
    assert body["dependencies"] == {"tables": "ok", "queues": "ok"}
