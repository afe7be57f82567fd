"""Sign-ups, profiles and subscribers as JSON. Forms send the same fields as text."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from chalicelib.audience import model
from chalicelib.audience.model import Word
from chalicelib.kernel import addresses, languages
from chalicelib.kernel.errors import Invalid
from chalicelib.web import schemas
from chalicelib.web.paging import PageBody
from chalicelib.web.schemas import EmailAddress, Id, Moment, Reads


def _check_email(value: Any) -> str:
    return addresses.parse(schemas.text("email").check(value)).typed


def _check_new_email(value: Any) -> str | None:
    return None if value is None else _check_email(value)


def _check_nickname(value: Any) -> str | None:
    return model.check_nickname(schemas.text("nickname").check(value))


def _check_typed_nickname(value: Any) -> str | None:
    """Sign-up forms on other sites are not ours to fix: surrounding space is removed instead of refused."""
    return _check_nickname(value.strip() if isinstance(value, str) else value)


def _check_editors_tags(value: Any) -> list[str]:
    return sorted(model.check_tags(value, model.MOST_TAGS_IN_ALL))


def _check_ids(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(id, str) for id in value):
        raise Invalid("ids must be a list of texts")
    return value


def _check_full(value: Any) -> bool:
    if value not in ("", "true", "false"):
        raise Invalid("full must be true or false")
    return bool(value == "true")


def _check_token(value: Any) -> str:
    """A missing token is as invalid as a wrong one, and answered as such."""
    return schemas.text("token").check(value) or ""


Email = Annotated[EmailAddress, Reads(_check_email)]
Nickname = Annotated[str, Meta(max_length=model.LONGEST_NICKNAME)]
Source = Annotated[str, Meta(max_length=model.LONGEST_RAW_SOURCE, description="Where the form is placed")]


class SignUp(Struct):
    email: Email
    nickname: Annotated[Nickname | None, Reads(_check_typed_nickname)] = None
    # These three are taken as they come: `model.parse_capture` checks them.
    source: Annotated[Source | None, Reads(lambda value: value or None)] = None
    tags: Annotated[list[Word], Meta(max_length=model.MOST_TAGS)] | None = None
    metadata: Annotated[dict[str, Any] | None, Meta(description="At most 10 KB as JSON, and 8 levels deep")] = None
    lang: Annotated[
        str | None,
        Meta(description="The language of the form; an unknown one is ignored"),
        Reads(lambda value: languages.find(value) if isinstance(value, str) else None),
    ] = None


class ProfileUpdate(Struct):
    token: Annotated[str, Reads(_check_token)]
    nickname: Annotated[Nickname | None, Reads(_check_nickname)] = None
    email: Annotated[EmailAddress | None, Reads(_check_new_email)] = None


class EmailOnly(Struct):
    email: Email


class TokenQuery(Struct):
    token: Annotated[str, Meta(description="The token from the emailed link")] = ""


class ExportQuery(Struct):
    full: Annotated[
        bool,
        Meta(description="Add `id`, `created_at`, `paused_because`; as JSON `sources`, `tags`, `metadata` by source"),
        Reads(_check_full),
    ] = False


class Subscriber(Struct):
    id: Id
    email: EmailAddress
    nickname: str | None
    status: Literal["Pending", "Activated"]
    created_at: Moment
    activated_at: Moment | None
    paused_at: Annotated[Moment | None, Meta(description="Since when they get no campaigns")]
    paused_because: Literal["hard_bounce", "soft_bounces", "suppressed", "editor"] | None


class WaitingCapture(Struct):
    tags: list[Word]
    metadata: dict[str, Any] | None
    nickname: str | None
    requested_at: Moment
    expires_at: Annotated[Moment | None, Meta(description="Null while the confirmation email is held")]


class Capture(Struct):
    """What came through one source: what was confirmed, and what waits for the link to be opened."""

    source: Word
    status: Literal["PENDING", "CONFIRMED"]
    tags: list[Word]
    metadata: dict[str, Any] | None
    created_at: Moment
    updated_at: Moment
    waits_for_confirmation: WaitingCapture | None


class SubscriberDetail(Subscriber):
    confirmation_expires_at: Annotated[
        Moment | None, Meta(description="A pending sign-up is deleted after this; null while its email is held")
    ]
    sources: list[Word]
    tags: list[Word]
    captures: list[Capture]


class SubscriberEdits(Struct):
    nickname: Annotated[Nickname | None, Reads(_check_nickname)] | UnsetType = UNSET
    tags: Annotated[list[Word], Meta(max_length=model.MOST_TAGS_IN_ALL), Reads(_check_editors_tags)] | UnsetType = (
        UNSET
    )


class Selection(Struct):
    ids: Annotated[list[Id], Meta(min_length=1, max_length=100), Reads(_check_ids)]


class Removal(Struct):
    """A pending removal finishes in the background."""

    removed: list[Id]
    pending: list[Id]
    not_found: list[Id]


class SubscriberPage(PageBody):
    items: list[Subscriber]


class ConfirmationSent(Struct, tag_field="status", tag="confirmation_sent"):
    pass


class ConfirmationHeld(Struct, tag_field="status", tag="confirmation_held"):
    pass


class LinkSent(Struct, tag_field="status", tag="link_sent"):
    pass


class ProfileUpdated(Struct, tag_field="status", tag="updated"):
    pass


class RemovalPending(Struct, tag_field="status", tag="removal_pending"):
    pass


class DoNotContactSet(Struct, tag_field="status", tag="do_not_contact"):
    pass


class DoNotContactLifted(Struct, tag_field="status", tag="lifted"):
    pass
