"""Follows that are there, without asking a provider."""

from typing import Any

from msgspec.structs import replace

from chalicelib.following import changes, resolving
from chalicelib.following.model import Creator, Follow
from chalicelib.following.providers.contract import Channel
from chalicelib.following.stores import creators
from chalicelib.inbox.model import DESK, Provider


def follow(
    name: str = "A feed", owner: str = DESK, provider: Provider = Provider.RSS, number: int = 0, **facts: Any
) -> Follow:
    """`facts` are fields of the creator."""
    channel_id = {
        Provider.RSS: f"https://blog.example.org/{number}.xml",
        Provider.YOUTUBE: f"UC{number:022}",
        Provider.SPOTIFY: f"{number:022}",
    }[provider]
    creator = replace(resolving.new_creator(provider, Channel(channel_id, name)), **facts)
    made, _ = changes.begin(owner, creator)
    return made


def creator_of(follow: Follow) -> Creator:
    found = creators.find(follow.creator_id)
    assert found
    return found
