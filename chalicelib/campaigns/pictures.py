"""Which public copies of pictures a campaign shows. It counts as one use of each, from the transaction that saves it
until the one that deletes it or saves it without the picture. What is sent is neither deleted nor edited any more, so
its pictures stay.

`Content.pictures` says which copies know of this use, and only those are released: an editor may type the address of
one that does not exist. `media` is imported when there is something to tell."""

from typing import TYPE_CHECKING

from msgspec.structs import replace

from chalicelib.campaigns.model import Content
from chalicelib.kernel.errors import Invalid
from chalicelib.media import model as media_model

if TYPE_CHECKING:
    from chalicelib.kernel.aws.tables import Write

# A transaction holds a hundred writes, and the campaign needs some of them, or the feed it comes from.
MOST_EXCHANGED = 90
_NONE: frozenset[str] = frozenset()


def recognize(content: Content, before: Content | None = None, needed: frozenset[str] = _NONE) -> Content:
    """With the copies that it uses from now on: those in it that exist. One request, if there are any that it did not
    use before. Those that are `needed` are not looked up: if one is gone, the transaction has to fail."""
    shown, known = _names_in(content), needed | (before.pictures if before else _NONE)
    return replace(content, pictures=(shown & known) | _find(shown - known))


def use_writes(before: Content | None, after: Content | None) -> "list[Write]":
    """For content that is new (nothing before), edited, or deleted (nothing after). They fail if a copy is gone since
    it was recognized."""
    had, has = before.pictures if before else _NONE, after.pictures if after else _NONE
    if had == has:
        return []
    if len(had ^ has) > MOST_EXCHANGED:
        raise Invalid(f"At most {MOST_EXCHANGED} different pictures can be exchanged at once")
    from chalicelib.media import service as media

    return [
        *(media.use_write(name) for name in sorted(has - had)),
        *(media.release_write(name) for name in sorted(had - has)),
    ]


def find_missing(content: Content) -> frozenset[str]:
    """Pictures that readers would not see: copies in it that do not exist."""
    unknown = _names_in(content) - content.pictures
    return unknown - _find(unknown)


def _names_in(content: Content) -> frozenset[str]:
    return media_model.find_names(content.body) | media_model.find_names(content.text or "")


def _find(names: frozenset[str]) -> frozenset[str]:
    if not names:
        return _NONE
    from chalicelib.media import service as media

    return media.find_copies(names)
