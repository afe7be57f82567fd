"""Which public copies of pictures a campaign shows. It counts as one use of each, from the transaction that saves it
until the one that deletes it or saves it without the picture. What is sent is neither deleted nor edited any more, so
its pictures stay.

`Content.pictures` says which copies know of this use, and only those are released: an editor may type the address of
one that does not exist. `media` is imported when there is something to tell."""

from typing import TYPE_CHECKING

from msgspec.structs import replace

from chalicelib.campaigns.model import Content
from chalicelib.kernel import ids
from chalicelib.kernel.errors import Invalid
from chalicelib.media import model as media_model

if TYPE_CHECKING:
    from chalicelib.kernel.aws.tables import Write

# A transaction holds a hundred writes, and the campaign needs some of them, or the feed it comes from.
MOST_EXCHANGED = 90
_WEB = "/web"
_NONE: frozenset[str] = frozenset()


def recognize(content: Content, before: Content | None = None, needed: frozenset[str] = _NONE) -> Content:
    """With the copies that it uses from now on: those in it that exist. One request, if there are any that it did not
    use before. Those that are `needed` count as there: if one is gone, the transaction has to fail."""
    shown, had = _names_in(content), before.pictures if before else _NONE
    found, crowded = _find(shown - had)
    return replace(content, pictures=(shown & (had | needed)) | found, crowded=crowded)


def use_writes(before: Content | None, after: Content | None, by: str) -> "list[Write]":
    """For content that is new (nothing before), edited, or deleted (nothing after). `by` is the campaign's id, or
    that of its web version. They fail if a copy is gone since it was recognized."""
    had, has = before.pictures if before else _NONE, after.pictures if after else _NONE
    if had == has:
        return []
    if len(had ^ has) > MOST_EXCHANGED:
        raise Invalid(f"At most {MOST_EXCHANGED} different pictures can be exchanged at once")
    from chalicelib.media import service as media

    crowded = after.crowded if after else _NONE
    return [
        *(media.use_write(name, None if name in crowded else by) for name in sorted(has - had)),
        *(media.release_write(name, by) for name in sorted(had - has)),
    ]


def find_missing(content: Content) -> frozenset[str]:
    """Pictures that readers would not see: copies in it that do not exist."""
    unknown = _names_in(content) - content.pictures
    return unknown - _find(unknown)[0]


def web_version(campaign_id: str) -> str:
    """What uses the pictures of a corrected web version: apart from the campaign, which may use them as well."""
    return f"{campaign_id}{_WEB}"


def campaign_in(use: str) -> str | None:
    """The id of the campaign that a copy names as its use; None if that is something else."""
    id = use.removesuffix(_WEB)
    return id if ids.is_id(id) else None


def _names_in(content: Content) -> frozenset[str]:
    return media_model.find_names(content.body) | media_model.find_names(content.text or "")


def _find(names: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Those that exist, and those of them that can name no more campaigns."""
    if not names:
        return _NONE, _NONE
    from chalicelib.media import service as media

    return media.find_crowded(names)
