"""Signed webhook calls, questions and pushes from a WebSub hub, and the feed's place in the admin API."""

from chalicelib.access import audit
from chalicelib.feeds import bodies, digest, service, waiting, webhook, websub
from chalicelib.feeds.service import View
from chalicelib.feeds.state import Check, Trigger
from chalicelib.feeds.waiting import Kept, Waiting
from chalicelib.web import responses, schemas
from chalicelib.web.operations import TEXT, Answer, operation
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


@operation(
    "Announce that the feed has changed, signed as in Standard Webhooks",
    tag="feed",
    headers={
        "webhook-id": "Unique to this call",
        "webhook-timestamp": "Seconds since 1970, at most five minutes off",
        "webhook-signature": "`v1,` and Base64 of HMAC-SHA256 over `id.timestamp.body`",
    },
    answers={202: Answer("The check is queued", bodies.FeedAnnouncement)},
    because={401: "Invalid signature or timestamp", 409: "This call was already received"},
)
def announce_post(request: Request) -> Response:
    webhook.receive(request.headers, request.body)
    return responses.json(bodies.FeedAnnouncement("accepted"), 202)


@operation(
    "A hub verifies a subscription",
    tag="feed",
    query=bodies.HubQuestion,
    answers={200: Answer("The challenge", content=TEXT)},
    because={400: "The challenge is too long", 404: "No such subscription was requested"},
)
def answer_hub(request: Request) -> Response:
    challenge = websub.confirm(request.path["token"], schemas.read(bodies.HubQuestion, request.query))
    headers = {"Content-Type": "text/plain", "Cache-Control": "no-store"}
    return Response(200, challenge, headers)


@operation(
    "A hub announces that a feed has changed",
    tag="feed",
    answers={202: Answer("Accepted; ignored without a valid signature")},
    because={404: "No such subscription"},
)
def receive_push(request: Request) -> Response:
    signature = request.headers.get("x-hub-signature-256") or request.headers.get("x-hub-signature", "")
    websub.receive(request.path["token"], signature, request.body)
    return Response(202, "", {"Cache-Control": "no-store"})


@operation(
    "Get the feed's state, history and latest entries",
    tag="feed",
    answers={200: Answer("The feed", bodies.Feed)},
)
def view_feed(request: Request) -> Response:
    return responses.json(_feed(service.view()))


@operation("Check the feed now", tag="feed", answers={200: Answer("The result", bodies.FeedCheck)})
def check_feed(request: Request) -> Response:
    return responses.json(_check(service.check(Trigger.ADMIN)))


@operation(
    "Send or cancel posts that wait",
    tag="feed",
    body=bodies.WaitingAct,
    answers={200: Answer("The feed; what is sent leaves within moments", bodies.Feed)},
    refuses=(400,),
    because={409: "None of them waits any more"},
)
def act_on_waiting(request: Request) -> Response:
    asked = schemas.read(bodies.WaitingAct, request.fields)
    service.send_waiting(asked.entries) if asked.action == "send" else service.cancel_waiting(asked.entries)
    audit.record(request, f"feed.{asked.action}", entries=len(asked.entries))
    return responses.json(_feed(service.view()))


def _feed(view: View) -> bodies.Feed:
    state = view.state
    return schemas.build(
        bodies.Feed,
        state,
        url=view.url or None,
        mode=view.feed.mode,
        digest=view.feed.digest,
        hold=view.feed.hold,
        next_digest=view.waiting.digest_due,
        waiting=[_waiting_entry(view.waiting, kept) for kept in view.waiting.entries],
        waiting_more=view.waiting.more,
        title=state.title or None,
        last_check=state.checked_at,
        said=state.summary or None,
        next_check=view.next_check,
        entries_seen=state.entries,
        last_entry_at=state.watermark,
        failures_in_a_row=state.failures,
        moved_to=state.permanent_url or None,
        hub=state.hub or None,
        campaign_id=state.campaign_id or None,
        history=[_check(check) for check in view.history],
        entries=view.entries,
    )


def _waiting_entry(held: Waiting, kept: Kept) -> bodies.WaitingEntry:
    shown = digest.preview(kept.entry)
    due_at = waiting.leaves_at(held, kept)
    return schemas.build(bodies.WaitingEntry, shown, id=kept.name, found_at=kept.found_at, due_at=due_at)


def _check(check: Check) -> bodies.FeedCheck:
    return schemas.build(bodies.FeedCheck, check, said=check.summary, campaign_id=check.campaign_id or None)
