"""From the desk's entries to a campaign, and the outline of its issues."""

from datetime import date

from msgspec.structs import asdict

from chalicelib.access import audit
from chalicelib.campaigns import serializers as campaign_serializers
from chalicelib.inbox import compose_bodies, composing, issues
from chalicelib.inbox.compose_bodies import ComposedCampaign, ComposeWarning, OutlineAnswer, OutlineBody, UseBody
from chalicelib.inbox.composing import Warned
from chalicelib.inbox.outline import Outline
from chalicelib.inbox.uses import Use
from chalicelib.kernel import clock
from chalicelib.web import responses, schemas
from chalicelib.web.operations import Answer, operation
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_OUTLINE = Answer("The outline", OutlineAnswer)


@operation(
    "Compose a draft of entries, or add them to one",
    tag="inbox",
    body=compose_bodies.NewComposition,
    answers={201: Answer("The new draft", ComposedCampaign), 200: Answer("The draft, with more", ComposedCampaign)},
    refuses=(400,),
    because={404: "No such entry or campaign; nothing was made", 409: "The campaign is not a draft in Markdown"},
)
def compose(request: Request) -> Response:
    body = schemas.read(compose_bodies.NewComposition, request.fields)
    composed = composing.compose(body.sections, body.campaign_id, request.identity)  # type: ignore[arg-type]
    audit.record(request, "inbox.compose", campaign_id=composed.detail.campaign.id)
    answer = ComposedCampaign(
        **asdict(campaign_serializers.campaign_detail(composed.detail)),
        warnings=[_warning(warned) for warned in composed.warnings],
    )
    return responses.json(answer, 201 if composed.is_new else 200)


@operation("Read the outline of the issues", tag="inbox", answers={200: _OUTLINE})
def get_outline(request: Request) -> Response:
    return responses.json(_answer(*issues.read_outline()))


@operation(
    "Change the outline of the issues; drafts and sent campaigns stay as they are",
    tag="inbox",
    body=OutlineBody,
    answers={200: _OUTLINE},
    refuses=(400,),
)
def change_outline(request: Request) -> Response:
    body = schemas.read(OutlineBody, request.fields)
    wanted = Outline(body.subject, tuple(body.sections), body.every, body.day)  # type: ignore[arg-type]
    audit.record(request, "inbox.outline")
    return responses.json(_answer(*issues.save_outline(wanted)))


@operation(
    "Open the next issue: a draft with the outline's sections and the day of its cadence",
    tag="inbox",
    answers={201: Answer("The draft", campaign_serializers.CampaignBody)},
)
def open_issue(request: Request) -> Response:
    detail = issues.open_next(request.identity)
    audit.record(request, "inbox.issue", campaign_id=detail.campaign.id)
    return responses.json(campaign_serializers.campaign_detail(detail), 201)


def _warning(warned: Warned) -> ComposeWarning:
    used_in = [use_body(use) for use in warned.used_in]
    return ComposeWarning(warned.id, warned.title, used_in, warned.problem or None)


def use_body(use: Use) -> UseBody:
    return UseBody(use.campaign_id, use.subject, clock.milliseconds(use.sent_at) if use.sent_at else None)


def _answer(found: Outline, next_date: date | None) -> OutlineAnswer:
    return OutlineAnswer(
        subject=found.subject,
        sections=[compose_bodies.OutlineSection(section.heading, section.wanted) for section in found.sections],
        every=found.every,
        day=found.day,
        next_date=next_date.isoformat() if next_date else None,
    )
