from typing import Any

import pytest

from chalicelib.audience.tags import jobs
from tests.conftest import received
from tests.rooms.campaigns.api import UNKNOWN
from tests.rooms.campaigns.crowd import gather

API = "/admin/api/tags"


def test_tags_are_listed_with_how_many_people_have_them(admin: Any) -> None:
    assert admin.get(API).json == {"items": [], "total": 0, "jobs": []}
    gather(2, tags={"tea", "milk"})
    gather(3, tags={"tea"})
    gather(4, status="pending", tags={"never"})
    found = admin.get(API).json
    assert found["items"] == [{"tag": "tea", "people": 5}, {"tag": "milk", "people": 2}]
    assert found["total"] == 2


def test_a_change_is_started_and_watched(admin: Any, caplog: Any, capsys: Any) -> None:
    gather(3, tags={"tea"})
    answer = admin.post(API, json={"action": "rename", "tags": ["Tea"], "to": "Chai"})
    assert answer.status == 202
    job = answer.json
    assert (job["state"], job["action"], job["tags"], job["to"]) == ("running", "rename", ["tea"], "chai")
    assert (job["done"], job["changed"], job["finished_at"], job["error"]) == (0, 0, None, None)
    assert '"tags.rename"' in capsys.readouterr().out
    assert admin.post(API, json={"action": "remove", "tags": ["x"]}).status == 409
    (message,) = received("feed")
    jobs.work(message["job_id"], lambda: True)
    done = admin.get(f"{API}/{job['id']}").json
    assert (done["state"], done["changed"]) == ("done", 3)
    assert admin.get(API).json["jobs"] == [done]
    assert admin.get(API).json["items"] == [{"tag": "chai", "people": 3}]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"action": "rename"},
        {"action": "rename", "tags": "tea", "to": None},
        {"action": "rename", "tags": None, "to": "x"},
        {"action": "rename", "tags": 5, "to": "x"},
        {"action": "rename", "tags": ["a"], "to": {}},
        {"action": None, "tags": ["a"], "to": "b"},
        {"action": "merge", "tags": ["a"], "to": "x" * 65},
        {"action": "remove", "tags": ["a"], "to": "b"},
        {"action": "remove", "tags": [f"t{n}" for n in range(51)]},
    ],
)
def test_what_is_refused(admin: Any, body: Any) -> None:
    answer = admin.post(API, json=body)
    assert (answer.status, set(answer.json)) == (400, {"error"})
    assert admin.get(API).json["jobs"] == []


def test_an_unknown_job_is_not_found(admin: Any) -> None:
    for id in (UNKNOWN, "running", "x"):
        assert admin.get(f"{API}/{id}").status == 404
