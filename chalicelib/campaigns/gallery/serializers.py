"""Pictures as the JSON API shows them."""

from typing import Any

from chalicelib.campaigns.gallery import bodies
from chalicelib.campaigns.gallery.service import Picture
from chalicelib.kernel import clock
from chalicelib.media import service as media
from chalicelib.media.library import Upload
from chalicelib.media.model import Kept


def media_body(kept: Kept) -> bodies.Media:
    return bodies.Media(**_facts(kept))


def state_body(found: Upload, picture: Picture | None) -> bodies.MediaState:
    if picture:
        return bodies.MediaState(state="ready", **_facts(picture.kept), **_uses(picture))
    if found.error:
        return bodies.MediaState(found.id, "refused", error=found.error)
    return bodies.MediaState(found.id, "processing")


def listed_body(picture: Picture) -> bodies.ListedMedia:
    kept = picture.kept
    created_at = clock.text(kept.created_at) if kept.created_at else None
    return bodies.ListedMedia(**_facts(kept), created_at=created_at, uploaded=kept.uploaded, **_uses(picture))


def _facts(kept: Kept) -> dict[str, Any]:
    copy = kept.copy
    url = media.copy_url(copy.name)
    return {"id": kept.id, "url": url, "width": copy.width, "height": copy.height, "bytes": copy.bytes}


def _uses(picture: Picture) -> dict[str, Any]:
    used_in = [
        bodies.MediaUse(
            each.id, each.subject, each.state, clock.text(each.published_at) if each.published_at else None
        )
        for each in picture.campaigns
    ]
    return {"uses": max(0, picture.kept.uses), "used_in": used_in, "on_site": picture.on_site}
