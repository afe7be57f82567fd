"""One subscriber added by hand, with the same question about consent as for a list."""

from typing import Any

from chalicelib.access import audit
from chalicelib.admin import import_form, shell
from chalicelib.audience import model as audience
from chalicelib.audience.imports import by_hand, model
from chalicelib.audience.imports.by_hand import NewSubscriber
from chalicelib.audience.imports.model import Joined
from chalicelib.kernel import addresses, clock, settings
from chalicelib.kernel.errors import Conflict, Invalid
from chalicelib.web import responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_HERE = "/admin/subscribers"
_LONGEST_ECHO = 500
_SOURCE = "by-hand"


def show_add(request: Request) -> Response:
    return _page(request)


def add(request: Request) -> Response:
    try:
        wanted = _read(request)
        if wanted.consent.joined is Joined.UNSURE:
            return _page(request, unsure=True)
        subscriber_id = by_hand.add(wanted)
    except (Invalid, Conflict) as failure:
        return _page(request, responses.status_of(failure), problem=failure.reason)
    audit.record(request, "subscriber.add", subscriber_id=subscriber_id)
    return shell.back(f"{_HERE}/{subscriber_id}", "added")


def _read(request: Request) -> NewSubscriber:
    address = addresses.parse(request.text("email"))
    nickname = audience.check_nickname((request.text("nickname") or "").strip() or None)
    tags = [tag for tag in (request.text("tags") or "").split(",") if tag.strip()]
    source, checked = model.check_capture((request.text("source") or "").strip() or _SOURCE, tags)
    return NewSubscriber(address, nickname, source, checked, import_form.read_consent(request.fields))


def _page(request: Request, status: int = 200, **values: Any) -> Response:
    fields = request.fields if request.method == "POST" else {}
    own = {name: str(fields.get(name, ""))[:_LONGEST_ECHO] for name in ("email", "nickname")}
    given = {"typed": {**import_form.read_typed(fields), **own}, "unsure": False, **values}
    return shell.page(
        request,
        "admin/subscriber_add.html",
        status,
        here=_HERE,
        share=settings.current().url("/subscribe"),
        today=clock.now().date().isoformat(),
        longest_statement=model.LONGEST_STATEMENT,
        usual_source=_SOURCE,
        **given,
    )
