"""Posts that wait: `hands` moves the clock, `held` has one post with a hold, `daily` a digest."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.feeds.state import Result
from tests.rooms.feeds.holding import START, Hands


@pytest.fixture
def hands(blog: Any, monkeypatch: pytest.MonkeyPatch) -> Hands:
    blog.posts.clear()
    blog.publish("Hello", START - timedelta(days=9))
    return Hands(monkeypatch)


@pytest.fixture
def held(hands: Hands, blog: Any, configure: Any) -> Hands:
    """One post, found at noon, to leave at half past."""
    configure(FEED_HOLD="30")
    assert hands.check() is Result.FIRST
    blog.publish("News", START)
    assert hands.check() is Result.WAITING
    return hands


@pytest.fixture
def daily(hands: Hands, configure: Any) -> Hands:
    configure(FEED_DIGEST="daily", FEED_DIGEST_AT="15:00")
    assert hands.check() is Result.FIRST
    return hands
