"""The form of the publication's settings: what it shows, and what somebody changed in it."""

from collections.abc import Mapping
from typing import Any

from chalicelib.kernel.publication import Publication
from chalicelib.site import fields, model
from chalicelib.site.model import Change

# The logo has a form of its own, because it is a file.
_ELSEWHERE = ("logo",)
_FLAGS = ("archive", "welcome.on", "welcome.link_last")
EDITABLE = tuple(path for path in fields.PATHS if path not in _ELSEWHERE)
# Where the value comes from if nobody has changed it.
VARIABLES = {
    "name": "SITE_NAME",
    "colours.accent": "SITE_COLOR",
    "language": "SITE_LANG",
    "time_zone": "SITE_ZONE",
    "postal_address": "POSTAL_ADDRESS",
    "contact_email": "CONTACT_EMAIL",
    "archive": "ARCHIVE",
    "feed.mode": "FEED_MODE",
    "feed.digest": "FEED_DIGEST",
    "feed.digest_at": "FEED_DIGEST_AT",
    "feed.hold": "FEED_HOLD",
    "feed.images": "FEED_IMAGES",
}
LABELS = {
    "name": "Name",
    "tagline": "Tagline",
    "logo": "Logo",
    "colours.accent": "Accent colour",
    "language": "Language",
    "time_zone": "Time zone",
    "postal_address": "Postal address",
    "contact_email": "Contact address",
    "archive": "Public archive",
    "footer": "Footer",
    "design": "Design",
    "confirmation.sentence": "Confirmation: sentence",
    "confirmation.button": "Confirmation: button",
    "confirmation.afterwards": "Confirmation: afterwards",
    "welcome.on": "Welcome email",
    "welcome.subject": "Welcome email: subject",
    "welcome.body": "Welcome email: text",
    "welcome.link_last": "Welcome email: link to the last campaign",
    "feed.mode": "When new posts appear",
    "feed.digest": "Digest",
    "feed.digest_at": "Time of digests",
    "feed.hold": "Hold",
    "feed.images": "Pictures of posts",
}


def values(shown: Publication) -> dict[str, Any]:
    """What the form shows, by path."""
    return {path: model.value_of(shown, path) for path in fields.PATHS}


def typed(sent: Mapping[str, str], base: Publication) -> dict[str, Any]:
    """The values of the form as they were sent, to be shown again if they are refused."""
    given = values(base)
    for path in EDITABLE:
        if path in _FLAGS:
            given[path] = sent.get(path) == "yes"
        elif path in sent:
            given[path] = sent[path].replace("\r\n", "\n")
    return given


def changes(given: Mapping[str, Any], base: Publication) -> dict[str, Any]:
    """What is different from the page as it was opened, checked. A value nobody touched is not checked: the
    environment may have one that the form would refuse."""
    found = {}
    for path in EDITABLE:
        before, value = model.value_of(base, path), given[path]
        if value == before or (isinstance(value, str) and value == str(before)):
            continue
        checked = _rule(path)(_number(value) if path == "feed.hold" else value)
        if checked != before:
            found[path] = checked
    return found


def conflicts(mine: Mapping[str, Any], base: Publication, theirs: Publication) -> tuple[Change, ...]:
    """What somebody else has changed meanwhile: `before` is theirs; `after` is mine, where I changed the same."""
    return tuple(
        Change(change.field, change.after, mine.get(change.field, change.after))
        for change in model.differences(base, theirs)
    )


def _rule(path: str) -> fields.Rule:
    group, _, name = path.partition(".")
    rule = fields.RULES[group]
    return rule[name] if isinstance(rule, dict) else rule


def _number(value: Any) -> Any:
    text = str(value).strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else text
