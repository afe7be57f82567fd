"""Tokens at rest: sealed, bound to their place, opened with any key of the ring; and what happens when one does not
open."""

import base64
import json

import boto3
import pytest
from msgspec.structs import replace

from chalicelib.following import jobs
from chalicelib.following.stores import connections as store
from chalicelib.inbox.model import DESK, Provider
from chalicelib.kernel import ciphers
from tests.fixtures.providers import TOKEN_KEYS
from tests.rooms.following.conftest import ALLOTMENT, SLOW_SOIL, VERIFIER, _backend

OTHER_KEY = base64.urlsafe_b64encode(bytes(range(1, 33))).decode().rstrip("=")
WITH_SECOND = f"{TOKEN_KEYS},2:{OTHER_KEY}"


@pytest.fixture
def connected(desk, token_only):
    desk.connect("SPOTIFY")
    desk.followed = desk.follow("SPOTIFY", SLOW_SOIL)
    return desk


def stored(provider=Provider.SPOTIFY):
    found = store.find(DESK, provider)
    assert found
    return found


def spoil(**fields):
    before = stored()
    store.save(replace(before, version=before.version + 1, **fields), before)


def status(desk):
    return desk.connection("SPOTIFY")["status"]


def polled(desk):
    return desk.find(desk.followed)["last_polled_at"]


def test_tokens_are_stored_in_the_seeds_form(connected):
    for sealed in (stored().access_token, stored().refresh_token):
        version, iv, tag, ciphertext = sealed.split(":")
        assert (version, len(iv), len(tag), len(ciphertext) > 20) == ("v1", 16, 22, True)
        assert ciphers.version_of(sealed) == 1


def test_a_token_copied_to_another_field_does_not_open(connected):
    connection = stored()
    with pytest.raises(ciphers.DecryptionFailed):
        ciphers.open_sealed(connection.refresh_token, f"{connection.id}/access_token")


def test_a_token_copied_to_somebody_elses_connection_does_not_open(connected, member):
    ada = member("ada")
    ada.connect("SPOTIFY")
    hers = store.find(ada.id, Provider.SPOTIFY)
    with pytest.raises(ciphers.DecryptionFailed):
        ciphers.open_sealed(stored().access_token, f"{hers.id}/access_token")


def test_a_key_that_is_missing_is_waited_for(connected, later, sweep, configure):
    before = polled(connected)
    later(days=1)
    configure(TOKEN_KEYS=f"2:{OTHER_KEY}")
    sweep()
    assert status(connected) == "ACTIVE"
    assert connected.active() == []
    configure(TOKEN_KEYS=WITH_SECOND)
    later(hours=1, minutes=1)
    sweep()
    assert polled(connected) > before


@pytest.mark.parametrize("broken", ["", "nonsense", "v1:x:y:z", "plain-token"])
def test_a_text_that_is_no_sealed_token_expires_the_connection_at_once(connected, later, sweep, broken):
    spoil(access_token=broken, refresh_token="v1:broken")
    later(hours=13)
    sweep()
    assert status(connected) == "EXPIRED"
    assert connected.active() == ["connection_expired"]


def test_a_broken_access_token_is_mended_by_the_refresh_token(connected, later, sweep):
    spoil(access_token="nonsense")
    assert connected.act(connected.followed, "sync").status == 409
    assert status(connected) == "EXPIRED"
    later(hours=1, minutes=1)
    assert connected.act(connected.followed, "sync").status == 200
    assert status(connected) == "ACTIVE"
    assert connected.active() == []


def test_what_does_not_open_expires_with_the_third_attempt(connected):
    wrong = ciphers.seal("a token", "another place")
    spoil(access_token=wrong, refresh_token=wrong)
    seen = []
    for _ in range(3):
        assert connected.act(connected.followed, "sync").status == 409
        seen.append(status(connected))
    assert seen == ["ACTIVE", "ACTIVE", "EXPIRED"]
    assert connected.active() == ["connection_expired"]


def test_a_new_key_seals_what_is_new_and_the_old_one_still_opens(connected, configure, later):
    configure(TOKEN_KEYS=WITH_SECOND)
    assert connected.act(connected.followed, "sync").status == 200
    assert ciphers.version_of(stored().access_token) == 1
    later(hours=2)
    assert connected.act(connected.followed, "sync").status == 200
    assert ciphers.version_of(stored().access_token) == 2


def test_the_daily_job_seals_everything_with_the_newest_key_and_the_old_one_can_go(connected, configure, later):
    configure(TOKEN_KEYS=WITH_SECOND)
    jobs.maintain(lambda: True)
    assert {ciphers.version_of(text) for text in (stored().access_token, stored().refresh_token)} == {2}
    configure(TOKEN_KEYS=f"2:{OTHER_KEY}")
    assert connected.act(connected.followed, "sync").status == 200
    later(hours=2)
    assert connected.act(connected.followed, "sync").status == 200


def test_one_that_cannot_be_opened_does_not_keep_others_from_being_sealed_again(connected, member, configure):
    ada = member("ada")
    ada.connect("SPOTIFY")
    spoil(access_token="nonsense")
    configure(TOKEN_KEYS=WITH_SECOND)
    jobs.maintain(lambda: True)
    assert ciphers.version_of(store.find(ada.id, Provider.SPOTIFY).refresh_token) == 2


def test_no_token_verifier_code_or_key_is_anywhere_in_tables_queues_answers_or_the_log(
    desk, token_only, later, sweep, capsys
):
    verifier, secrets, answers = "secret-verifier-" + "z" * 40, [], []
    for provider, channel in (("YOUTUBE", ALLOTMENT), ("SPOTIFY", SLOW_SOIL)):
        state, code = desk.begin(provider, verifier)
        secrets += [state, code]
        answers.append(desk.complete(provider, state, code, verifier))
        answers.append(desk.complete(provider, state, "another-secret-code", verifier))
        desk.follow(provider, channel)
    wrong, _ = desk.begin("YOUTUBE", VERIFIER)
    answers.append(desk.complete("YOUTUBE", wrong, "a-refused-secret-code", verifier))
    later(days=1)
    sweep()
    later(days=1)
    desk.providers.set_fault("spotify", revoked=True)
    sweep()
    answers += [desk.call("GET", "connections"), desk.call("GET", "follows"), desk.call("GET", "notifications")]
    jobs.maintain(lambda: True)
    for grant in desk.providers.state.grants:
        secrets += [grant.refresh, *grant.spent, *grant.access]
    secrets += [verifier, "another-secret-code", "a-refused-secret-code", "local-client-secret"]
    assert len(secrets) > 12
    written = _everything() + "".join(capsys.readouterr()) + "".join(answer.text for answer in answers)
    assert "connection.made" in written
    assert [secret for secret in secrets if secret in written] == []


def _everything():
    """Every row of every table, and every message of every queue."""
    dynamodb = boto3.client("dynamodb")
    rows = [dynamodb.scan(TableName=name)["Items"] for name in dynamodb.list_tables()["TableNames"]]
    messages = [message.body for queue in _backend("sqs").queues.values() for message in queue._messages]
    return json.dumps([rows, messages], default=str)
