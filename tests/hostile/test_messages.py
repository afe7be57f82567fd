"""Whatever comes on a queue: a message that makes no sense fails alone, and the others of its batch are done."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import app
from chalicelib.kernel import ids
from local.gateway import handlers
from tests.hostile import answers
from tests.hostile.anything import bounded, values, words

QUEUES = handlers.queues(app.app)
RECORDED = sorted(Path("tests/rooms/bounces/events").glob("*.json"))
NOBODY = ids.new()

# A message of the right form about what is not there any more: done at once, whatever its neighbours are.
HARMLESS = {
    "audience": {"kind": "confirm", "subscriber_id": NOBODY},
    "deliveries": {"campaign_id": NOBODY, "delivery_id": NOBODY},
    "sending": {"campaign_id": NOBODY, "delivery_id": NOBODY, "part": 0},
    "mail-events": {"eventType": "Send", "mail": {}},
    "events": {"destination": NOBODY},
    "feed": {"trigger": "schedule"},
    "members": {"kind": "depart", "member_id": NOBODY},
    "media": {"kind": "prepare", "id": NOBODY},
}

names = st.sampled_from(
    [
        "kind",
        "subscriber_id",
        "member_id",
        "invitation_id",
        "id",
        "campaign_id",
        "delivery_id",
        "part",
        "aggregates",
        "destination",
        "replay",
        "trigger",
        "tries",
        "eventType",
        "notificationType",
        "mail",
        "pseudonym",
        "bounce",
        "complaint",
        "Type",
        "Message",
        "source",
    ]
)
ours = st.sampled_from(
    [
        NOBODY,
        "depart",
        "invite",
        "prepare",
        "erase",
        "sign-up",
        "confirm",
        "remove",
        "admin",
        "Bounce",
        "Complaint",
        "Notification",
    ]
)
bodies = st.one_of(
    st.dictionaries(names, values(names) | ours, max_size=6).map(json.dumps),
    values(names).map(json.dumps),
    words,
    st.sampled_from(["", "{", "[" * 50_000, "null", '"x"', "[]", "1e999", "NaN"]),
)


def _message(body: str) -> dict[str, str]:
    return {"MessageId": ids.new(), "ReceiptHandle": "x", "Body": body}


@pytest.mark.parametrize("handler", QUEUES, ids=[handler.queue for handler in QUEUES])
def test_a_bad_message_fails_alone(aws, ses, configure, media_bucket, handler, capsys):
    configure(FEED_URL="")

    @bounded(8)
    @given(bad=st.lists(bodies, min_size=1, max_size=3))
    def holds(bad):
        good = _message(json.dumps(HARMLESS[handler.queue]))
        batch = [*map(_message, bad[:1]), good, *map(_message, bad[1:])]
        assert good["MessageId"] not in handler.handle(batch)

    holds()
    written = capsys.readouterr().out
    assert "handler.failed" not in written, "the whole batch would come again"
    answers.check_log(written)


@st.composite
def distorted(draw):
    """A recorded event of SES with something of it changed or gone."""
    event = json.loads(draw(st.sampled_from(RECORDED)).read_text())
    for _ in range(draw(st.integers(1, 3))):
        place = event
        while True:
            key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
            if isinstance(place[key], dict | list) and place[key] and draw(st.booleans()):
                place = place[key]
                continue
            place[key] = draw(values(names))
            break
    return event


def test_no_distorted_event_of_ses_is_more_than_ignored(aws, house, capsys):
    [handler] = [handler for handler in QUEUES if handler.queue == "mail-events"]

    @bounded(25)
    @given(event=distorted(), wrapped=st.booleans())
    def holds(event, wrapped):
        body = json.dumps(event)
        if wrapped:
            body = json.dumps({"Type": "Notification", "Message": body})
        assert handler.handle([_message(body)]) == set()

    holds()
    answers.check_log(capsys.readouterr().out)
    assert house.http.get("/admin/api/subscribers").json["total"] == 1
