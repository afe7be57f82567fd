"""`make run`, for real: what a newcomer gets, and that it disturbs nothing and leaves nothing behind."""

import json
import re
import signal
import socket
import subprocess
import time
import urllib.request
import uuid
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.local import provider_calls
from tests.local.runner import ROOT, Runner, wait_until_gone
from tests.waiting import eventually

pytestmark = pytest.mark.emulator

FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def running(tmp_path):
    """Call it for a started runner; whatever happens, it is ended."""
    started = []

    def start(name="local", *command, **settings):
        runner = Runner(tmp_path / name, **settings)
        started.append(runner)
        return runner.start(*command)

    yield start
    for runner in started:
        runner.stop()


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    """One with settings of its own, for the tests that do no harm to it."""
    settings = {"DISABLE_AUTH": "false", "CF_ACCESS_TEAM_NAME": "nobody", "CF_ACCESS_AUD": "x", "LOCAL_TICK": "0.5"}
    runner = Runner(tmp_path_factory.mktemp("locked") / "local", **settings).start()
    yield runner
    runner.stop()


def confirmation_link(runner, address):
    mail = runner.wait_for_mail(address)[0]
    return re.search(rf"{re.escape(runner.url)}(/\S+)", mail["text"])[1]


def test_a_newcomer_subscribes_confirms_after_a_restart_and_gets_the_next_post(running, tmp_path):
    runner = running("local", "make", "run")
    status, health = runner.get("/health")
    assert (status, json.loads(health)["status"]) == (200, "ok")
    assert "/embed.js" in runner.get("/demo/")[1]
    assert runner.get("/demo")[1] == runner.get("/demo/")[1]
    first = runner.get("/")[1]
    assert "/api/subscribe" in first
    assert "/embed.js" not in first
    assert "DISABLE_AUTH=true" in runner.output
    assert runner.post("/api/subscribe", {"email": "ada@example.org"})[0] == 201
    link = confirmation_link(runner, "ada@example.org")
    ctrl_c_ends_all_of(runner)

    again = Runner(tmp_path / "local")
    again.port, again.url = runner.port, runner.url
    try:
        again.start()
        assert [mail["to"] for mail in again.mails()] == [["ada@example.org"]]
        assert again.get(link)[0] == 200
        assert again.post("/demo/publish", "title=Snow+at+last", FORM)[0] == 200
        newest = again.wait_for_mail("ada@example.org", count=2)[0]
        assert newest["subject"] == "Snow at last"
        assert "List-Unsubscribe" in newest["headers"]
    finally:
        again.stop()
    assert "ada@example.org" not in runner.output + again.output


def ctrl_c_ends_all_of(runner):
    family = runner.family()
    assert len(family) >= 5
    runner.interrupt()
    assert wait_until_gone(family) == []
    assert "Traceback" not in runner.output


def test_two_side_by_side_do_not_disturb_each_other_not_even_when_one_is_killed(running, locked):
    other = running("other")
    family = other.family()
    assert locked.post("/api/subscribe", {"email": "ada@example.org"})[0] == 201
    locked.wait_for_mail("ada@example.org")
    assert other.mails() == []
    other.stop(signal.SIGKILL)
    assert wait_until_gone(family) == []
    assert locked.get("/health")[0] == 200


def test_it_brings_a_small_youtube_and_a_small_spotify(locked):
    with urllib.request.urlopen(locked.providers_url, timeout=10) as page:
        assert "A small YouTube and a small Spotify" in page.read().decode()
    assert f"{locked.providers_url}/ " in locked.output
    assert (locked.folder / "providers" / "providers.json").exists()


def test_a_newcomer_connects_youtube_follows_a_channel_and_sees_a_video_arrive(running):
    runner = running()
    state, back = str(uuid.uuid4()), f"{runner.url}/admin/following/callback"
    assert runner.post("/admin/api/connections/state", {"provider": "YOUTUBE", "state": state})[0] == 200
    asked = provider_calls.authorize_url(runner, "youtube", redirect_uri=back, state=state)
    consent = dict(parse_qsl(urlsplit(asked).query)) | {"decision": "allow"}
    sent_to = provider_calls.ask(asked.partition("?")[0], consent).headers["Location"]
    answer = {"provider": "YOUTUBE", "state": state, "code_verifier": provider_calls.VERIFIER}
    answer["code"] = dict(parse_qsl(urlsplit(sent_to).query))["code"]
    assert runner.post("/admin/api/connections/callback", answer)[0] == 200
    assert runner.post("/admin/api/follows", {"url": f"{runner.youtube}/@hedgebirds"})[0] == 201
    eventually(lambda: hub(runner)["subscriptions"] == 1)
    form = {"channel": "@hedgebirds", "title": "A new bird", "kind": "normal"}
    assert provider_calls.ask(f"{runner.youtube}/manage/publish", form).status == 303
    eventually(lambda: "A new bird" in runner.get("/admin/api/inbox")[1])


def hub(runner):
    return provider_calls.ask(f"{runner.providers_url}/control/hub").json


def test_with_real_providers_it_brings_no_small_ones(running):
    runner = running(YOUTUBE_ORIGIN="", SPOTIFY_CLIENT_ID="a-real-one")
    assert runner.providers_url not in runner.output
    assert not (runner.folder / "providers").exists()


def test_authentication_can_be_turned_on(locked):
    status, body = locked.get("/admin/api/campaigns")
    assert (status, json.loads(body)) == (401, {"error": "Authentication required"})
    assert "behind Cloudflare Access" in locked.output


def test_when_a_part_dies_the_rest_ends_with_one_clear_line(running):
    runner = running()
    family = runner.family()
    [web] = [pid for pid in family if b"local.gateway.web" in (open_cmdline(pid))]
    subprocess.run(["kill", "-9", str(web)], check=True)
    assert runner.process.wait(30) == 1
    assert "gna: the app stopped unexpectedly" in runner.output
    assert wait_until_gone(family) == []


def open_cmdline(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read()


def test_local_tick_runs_every_schedule_that_often(locked):
    before, until = locked.output.count("clean_up"), time.monotonic() + 60
    while locked.output.count("clean_up") < before + 3:  # once an hour by its own cadence
        assert time.monotonic() < until, locked.output
        time.sleep(0.1)


def test_a_taken_port_is_one_clear_line(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        runner = Runner(tmp_path / "local")
        runner.port = taken.getsockname()[1]
        runner.launch()
        assert runner.process.wait(30) == 1
    assert (
        runner.output == f"gna: Port {runner.port} is in use: choose another with PORT={runner.port + 1} make run\n"
    )


def test_the_same_data_is_not_used_twice(locked):
    second = Runner(locked.folder)
    second._output = locked.folder.with_suffix(".second")
    second.launch()
    assert second.process.wait(30) == 1
    assert second.output.startswith("gna: Gna is already running on ")
    assert second.output.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "eight"),
        ("PROVIDERS_PORT", "0"),
        ("LOCAL_TICK", "often"),
        ("SITE_URL", "nowhere"),
        ("DISABLE_AUTH", "maybe"),
    ],
)
def test_a_bad_setting_is_one_clear_line(tmp_path, name, value):
    runner = Runner(tmp_path / "local", **{name: value})
    runner.launch()
    assert runner.process.wait(30) == 1
    assert runner.output.startswith(f"gna: {name} must be ")
    assert runner.output.count("\n") == 1


def test_reset_deletes_the_data_and_nothing_else(tmp_path):
    folder = tmp_path / "local"
    (folder / "emulator").mkdir(parents=True)
    (folder / "mine.txt").write_text("mine")
    environ = {"PATH": "/usr/bin:/bin", "LOCAL_DIR": str(folder)}
    subprocess.run([".venv/bin/python", "-m", "local.reset"], cwd=ROOT, env=environ, check=True, capture_output=True)
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]
