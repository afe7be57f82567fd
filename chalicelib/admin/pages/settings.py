"""The page of settings: the publication's own, which are changed here, and what is configured in the deployment."""

from collections.abc import Mapping, Sequence
from typing import Any

from chalicelib.access import audit
from chalicelib.admin import configuration, preview_frames, shell, site_form, site_previews
from chalicelib.campaigns.content import welcome
from chalicelib.kernel import languages, publication, settings
from chalicelib.kernel.errors import Conflict, Invalid
from chalicelib.kernel.publication import Publication
from chalicelib.mail import templates
from chalicelib.site import fields, service
from chalicelib.site.model import Change
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_HERE = "/admin/settings"
_SHOWN_HISTORY = 8


def show_settings(request: Request) -> Response:
    shown = service.view().publication
    return _page(request, shown, site_form.values(shown))


def change_settings(request: Request) -> Response:
    """One path for what the page's buttons do."""
    sent, files = request.form.fields, request.form.files
    match sent.get("action"):
        case "preview":
            return _preview(sent)
        case "logo":
            return _change_logo(request, sent, files.get("file", b""))
        case "restore":
            return _restore(request, sent)
        case _:
            return _save(request, sent)


def _save(request: Request, sent: Mapping[str, str]) -> Response:
    """Only what is different from the page as it was opened: what nobody touched stays the environment's."""
    opened = _version(sent)
    base = service.at_version(opened)
    given = site_form.typed(sent, base)
    try:
        changes = site_form.changes(given, base)
        if sent.get("reset") in site_form.EDITABLE:
            changes[sent["reset"]] = None
        _check_welcome(changes)
        site = service.change(changes, request.identity, opened)
    except Invalid as failure:
        return _page(request, base, given, 400, problem=failure.reason)
    except Conflict:
        return _show_both(request, base, given, changes)
    audit.record(request, "site.change", version=site.publication.version)
    return shell.back(_HERE, "site-saved")


def _check_welcome(changes: Mapping[str, Any]) -> None:
    if any(path.startswith("welcome.") for path in changes):
        unknown = welcome.find_unknown(service.preview(changes).welcome)
        if unknown:
            raise Invalid(f"The welcome email: {unknown[0].refusal}")


def _show_both(request: Request, base: Publication, given: Mapping[str, Any], mine: Mapping[str, Any]) -> Response:
    """Theirs is kept, mine stays in the form, and both are shown: saving once more decides."""
    theirs = service.view().publication
    form = site_form.values(theirs) | {path: given[path] for path in mine if path in given}
    return _page(request, theirs, form, 409, both=site_form.conflicts(mine, base, theirs))


def _preview(sent: Mapping[str, str]) -> Response:
    try:
        base = service.at_version(_version(sent))
        shown = service.preview(site_form.changes(site_form.typed(sent, base), base))
        return site_previews.show(shown, sent.get("view", ""), sent.get("look", ""))
    except Invalid as failure:
        return preview_frames.refusal_response(failure)


def _change_logo(request: Request, sent: Mapping[str, str], content: bytes) -> Response:
    try:
        if not content and not sent.get("remove"):
            raise Invalid("Choose a picture first")
        logo = None if sent.get("remove") else service.add_logo(content)
        site = service.change({"logo": logo}, request.identity)
    except Invalid as failure:
        shown = service.view().publication
        return _page(request, shown, site_form.values(shown), 400, problem=failure.reason)
    audit.record(request, "site.logo", version=site.publication.version)
    return shell.back(_HERE, "site-saved")


def _restore(request: Request, sent: Mapping[str, str]) -> Response:
    site = service.restore(_number(sent.get("restore")), request.identity, _version(sent))
    audit.record(request, "site.restore", version=site.publication.version)
    return shell.back(_HERE, "site-restored")


def _version(sent: Mapping[str, str]) -> int:
    return _number(sent.get("version"))


def _number(text: str | None) -> int:
    if not (text and text.isascii() and text.isdigit() and len(text) < 12):
        raise Invalid("The form is incomplete: open the page again")
    return int(text)


def _page(
    request: Request,
    shown: Publication,
    form: Mapping[str, Any],
    status: int = 200,
    *,
    problem: str = "",
    both: Sequence[Change] = (),
) -> Response:
    site = service.view()
    return shell.page(
        request,
        "admin/settings.html",
        status,
        here=_HERE,
        configuration=configuration.gather(),
        form=form,
        opened=shown.version,
        problem=problem,
        both=both,
        stored=site,
        history=service.list_history(_SHOWN_HISTORY),
        defaults=site_form.values(publication.from_settings(settings.current())),
        variables=site_form.VARIABLES,
        field_labels=site_form.LABELS,
        languages=languages.names(),
        rules=fields,
        views=site_previews.VIEWS,
        looks=site_previews.LOOKS,
        has_own_template=templates.has_own("campaign.html"),
    )
