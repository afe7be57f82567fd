"""From entries to a campaign: the chosen items, in order, under headings, as blocks of a draft. From then on their
text is the editor's, and nothing that changes at the source changes it."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns import uses as campaign_uses
from chalicelib.campaigns.content import blocks, placeholders
from chalicelib.campaigns.content.blocks import Block, Heading
from chalicelib.campaigns.model import CampaignDetail, Format, State
from chalicelib.campaigns.service import Draft
from chalicelib.campaigns.uses import MOST_ENTRIES, Withdrawn
from chalicelib.feeds.reading import excerpt
from chalicelib.inbox import entry_store, links, photos, pictures, service, uses
from chalicelib.inbox.model import DESK, ContentType, EntryDetail, Item, Provider
from chalicelib.inbox.photos import Published
from chalicelib.inbox.uses import Use
from chalicelib.kernel.errors import Conflict, Invalid, NotFound

MOST_ITEMS = MOST_ENTRIES
MOST_SECTIONS = 20
LONGEST_HEADING = 200
_LONGEST_SUBJECT = 200

# Items under their heading, which may be empty.
Part = tuple[str, Sequence[blocks.Item]]

_KINDS = {
    ContentType.VIDEO: "video",
    ContentType.PODCAST: "podcast",
    ContentType.ARTICLE: "article",
    ContentType.SIGHTING: "sighting",
    ContentType.LINK: "",
}


class Section(Struct, frozen=True):
    ids: tuple[str, ...]
    heading: str = ""


class Warned(Struct, frozen=True):
    """An item that other campaigns have used, too, one that the draft had already, or one with a problem, in words
    for the editor."""

    id: str
    title: str
    used_in: tuple[Use, ...]
    problem: str = ""


class Composed(Struct, frozen=True):
    """`repeated` are those of the entries asked for that the draft had already: it has them once."""

    detail: CampaignDetail
    is_new: bool
    warnings: tuple[Warned, ...]
    repeated: frozenset[str] = frozenset()
    asked: int = 0


def compose(sections: Sequence[Section], campaign_id: str | None = None, by: str = "") -> Composed:
    """A new draft, or more of a draft there is: what it has already is not added again. Nothing is made if one of the
    entries does not exist. `by` is the editor."""
    wanted = _check(sections)
    entries = entry_store.find_many(DESK, wanted)
    found = {detail.entry.id: detail for detail in service.with_items(list(entries.values()))}
    if len(found) < len(wanted):
        raise NotFound("Entry not found")
    before = uses.find_uses(wanted)
    shown = _publish_photos(found, campaign_id)
    parts = [(section.heading, [_block(found[id], shown.get(id)) for id in section.ids]) for section in sections]
    made = frozenset(photo.name for photo in shown.values() if photo.name)
    repeated: frozenset[str] = frozenset()
    try:
        if campaign_id:
            draft, repeated = _append(campaign_id, parts, made, by)
        else:
            draft = _create(found[wanted[0]], parts, made, by)
    except Withdrawn as refusal:
        raise NotFound("Entry not found") from refusal
    warned = (_warn(found[id], draft, id in repeated, before.get(id, ()), shown.get(id)) for id in wanted)
    return Composed(draft, not campaign_id, tuple(filter(None, warned)), repeated, len(wanted))


def _warn(
    entry: EntryDetail, draft: CampaignDetail, repeated: bool, used: Iterable[Use], photo: Published | None
) -> Warned | None:
    own = draft.campaign
    uses = tuple(use for use in used if use.campaign_id != own.id)
    if repeated:
        uses = (Use(own.id, own.subject, own.published_at), *uses)
    problem = photo.problem if photo else ""
    return Warned(entry.entry.id, entry.item.title, uses, problem) if uses or problem else None


def _publish_photos(found: Mapping[str, EntryDetail], campaign_id: str | None) -> dict[str, Published]:
    """Of sightings. Nothing is made public for a campaign that cannot be added to."""
    sightings = [detail.item for detail in found.values() if detail.entry.provider is Provider.SIGHTING]
    if sightings and campaign_id:
        _check_draft(campaigns.view(campaign_id))
    return photos.publish(sightings)


def _check(sections: Sequence[Section]) -> list[str]:
    wanted = [id for section in sections for id in section.ids]
    if len(set(wanted)) < len(wanted):
        raise Invalid("An entry can be used once")
    if not 1 <= len(wanted) <= MOST_ITEMS:
        raise Invalid(f"Choose 1 to {MOST_ITEMS} entries")
    return wanted


def _create(first: EntryDetail, parts: Sequence[Part], needed: frozenset[str], by: str) -> CampaignDetail:
    draft = Draft(subject=name_after(first.item), body=blocks.write(merge((), parts)), format=Format.MARKDOWN)
    return campaigns.create(draft, needed=needed, by=by)


def name_after(item: Item) -> str:
    """A subject. In it, as in text, braces could be placeholders; cut before they are escaped, none is cut in two."""
    return placeholders.escape(excerpt.truncate(placeholders.visible(item.title), _LONGEST_SUBJECT))


def _append(
    campaign_id: str, parts: Sequence[Part], needed: frozenset[str], by: str
) -> tuple[CampaignDetail, frozenset[str]]:
    """At what the draft is now: when somebody saves at the same moment, it is decided again. Also says what it had
    already."""
    had: frozenset[str] = frozenset()

    def appended(detail: CampaignDetail) -> str:
        nonlocal had
        _check_draft(detail)
        had = campaign_uses.entries(detail)
        news = [(heading, [item for item in items if item.entry not in had]) for heading, items in parts]
        if not any(items for _, items in news):
            return detail.content.body
        return blocks.write(merge(blocks.parse(detail.content.body), [part for part in news if part[1]]))

    draft = campaigns.rewrite(campaign_id, appended, needed, campaigns.Saver(by))
    return draft, had & {item.entry for _, items in parts for item in items}


def _check_draft(detail: CampaignDetail) -> None:
    if detail.campaign.state is not State.DRAFT:
        raise Conflict("Only a draft can be added to")
    if detail.campaign.format is not Format.MARKDOWN:
        raise Conflict("Items can be added to a draft in Markdown only")


def merge(body: Sequence[Block], parts: Sequence[Part]) -> list[Block]:
    """Items go to the end of the section that has their heading already, or after everything else."""
    merged = list(body)
    for heading, items in parts:
        place = _end_of_section(merged, heading)
        if place is None:
            merged += [Heading(blocks.literal(heading)), *items] if heading else items
        else:
            merged[place:place] = items
    return merged


def _end_of_section(body: Sequence[Block], heading: str) -> int | None:
    wanted = Heading(blocks.literal(heading)).text.casefold() if heading else ""
    places = [at for at, block in enumerate(body) if isinstance(block, Heading)]
    for at in places:
        block = body[at]
        if wanted and isinstance(block, Heading) and block.text.casefold() == wanted:
            return next((later for later in places if later > at), len(body))
    return None


def _block(detail: EntryDetail, photo: Published | None) -> blocks.Item:
    """Texts of the source are shown as they are: in an item, braces are no placeholders (`cards`). Of the notes, only
    the editor's own goes out."""
    item, entry = detail.item, detail.entry
    return blocks.Item(
        title=item.title,
        link=links.without_tracking(item.canonical_url),
        source=item.creator,
        kind=_KINDS[item.content_type],
        duration=item.duration_seconds,
        picture=photo.url if photo else pictures.url(item),
        entry=entry.id,
        excerpt=item.excerpt,
        note=entry.note,
    )
