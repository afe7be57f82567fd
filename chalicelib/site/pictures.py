"""Which public copies of pictures the publication shows: its logo and the last ones, and those in the welcome email.
It counts as one use of each, from the transaction that saves it until the one that saves it without the picture."""

from msgspec import Struct

from chalicelib.kernel.aws.tables import Write
from chalicelib.kernel.errors import Invalid
from chalicelib.media import model as media_model
from chalicelib.media import service as media
from chalicelib.site import model
from chalicelib.site.model import Overrides
from chalicelib.site.store import Current

# What copies name as their use.
SITE = "site"
# A transaction holds a hundred writes, and saving needs some of them.
MOST_EXCHANGED = 80


class Held(Struct, frozen=True):
    """The pictures that are held from now on, the last logo first, and what that takes."""

    logos: tuple[str, ...]
    welcome: frozenset[str]
    writes: list[Write]


def hold(before: Current, overrides: Overrides) -> Held:
    """A picture that is a logo and in the welcome email is used once. The writes fail if one is deleted at this
    moment: decide again."""
    logos, welcome = _list_logos(before.logos, overrides), _find_in_welcome(before.pictures, overrides)
    had, has = before.pictures.union(before.logos), welcome.union(logos)
    if len(had ^ has) > MOST_EXCHANGED:
        raise Invalid(f"At most {MOST_EXCHANGED} different pictures can be exchanged at once in the welcome email")
    writes = [media.use_write(name, SITE) for name in sorted(has - had)]
    return Held(logos, welcome, writes + [media.release_write(name, SITE) for name in sorted(had - has)])


def _list_logos(held: tuple[str, ...], overrides: Overrides) -> tuple[str, ...]:
    """One more is held, the oldest no longer."""
    name = overrides.get("logo", {}).get("name")
    if name is None:
        return held
    return (name, *(other for other in held if other != name))[: model.MOST_LOGOS]


def _find_in_welcome(held: frozenset[str], overrides: Overrides) -> frozenset[str]:
    """Those in the text that exist: an editor may type the address of one that does not."""
    named = media_model.find_names(overrides.get("welcome", {}).get("body") or "")
    unknown = named - held
    return (named & held) | (media.find_copies(unknown) if unknown else frozenset())
