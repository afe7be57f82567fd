"""Tags and their jobs as JSON."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from chalicelib.audience.model import Word
from chalicelib.audience.tags import model
from chalicelib.audience.tags.model import Action, State
from chalicelib.web.schemas import Count, Id, Moment, Reads


def _as_it_is(value: Any) -> Any:
    """`model.check_change` checks the three together."""
    return value


class TagChange(Struct):
    action: Annotated[Action, Reads(_as_it_is)]
    tags: Annotated[list[Word], Meta(min_length=1, max_length=model.MOST_TAGS), Reads(_as_it_is)]
    to: Annotated[Word | None, Meta(description="The new tag; not with `remove`"), Reads(_as_it_is)] = None


class TagJob(Struct):
    id: Id
    state: State
    action: Action
    tags: list[Word]
    to: Word | None
    people: Annotated[
        Count,
        Meta(
            description="Subscribers when it began; more once more people were looked at, as some are not confirmed"
        ),
    ]
    done: Annotated[Count, Meta(description="How many the current reading has looked at")]
    reading: Annotated[int, Meta(ge=1, description="Everybody is read until a reading finds nobody")]
    changed: Annotated[Count, Meta(description="How many people have other tags now")]
    error: str | None
    created_at: Moment
    finished_at: Moment | None


class Tag(Struct):
    tag: Word
    people: Count


class TagList(Struct):
    items: Annotated[list[Tag], Meta(description="The most common first, at most 1,000")]
    total: Annotated[Count, Meta(description="How many different tags there are")]
    jobs: Annotated[list[TagJob], Meta(description="The newest first, at most 5")]
