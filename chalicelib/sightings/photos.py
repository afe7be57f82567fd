"""A sighting's photo, which is there or not: what `media` does with a picture, done only if there is one."""

from collections.abc import Callable

from msgspec.structs import replace

from chalicelib.kernel import log
from chalicelib.kernel.aws.tables import Write
from chalicelib.kernel.errors import Unavailable
from chalicelib.media import service as media
from chalicelib.media.model import Picture, State


def check(member_id: str, upload_id: str | None) -> Picture | None:
    return None if upload_id is None else media.check_attachable(member_id, upload_id)


def attach_writes(picture: Picture | None) -> list[Write]:
    return [media.attach_write(picture)] if picture else []


def delete_writes(picture_id: str | None) -> list[Write]:
    return [media.delete_write(picture_id)] if picture_id else []


def attached(picture: Picture | None) -> Picture | None:
    """As it is after the transaction, without asking again."""
    return replace(picture, state=State.PROCESSING) if picture else None


def prepare_soon(picture: Picture | None) -> None:
    """After the transaction that attached it."""
    if picture:
        _queue(media.prepare_soon, picture.id)


def erase_soon(picture_id: str | None) -> None:
    """After the transaction that deleted it."""
    if picture_id:
        _queue(media.erase_soon, picture_id)


def _queue(send: Callable[[str], None], picture_id: str) -> None:
    """What had to be stored is stored: a queue that does not answer must not make it look as if it were not. The
    clean-up of pictures finds what was not queued."""
    try:
        send(picture_id)
    except Unavailable as failure:
        log.exception("photo.not_queued", failure, picture_id=picture_id)
