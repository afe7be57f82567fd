from datetime import UTC, datetime
from typing import Any

import pytest

from chalicelib.kernel import clock
from chalicelib.kernel.http import client
from tests.rooms.following.providers.web import Web

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)


@pytest.fixture
def today(monkeypatch: pytest.MonkeyPatch) -> datetime:
    """The day the recorded answers are from."""
    monkeypatch.setattr(clock, "now", lambda: NOW)
    return NOW


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch, today: datetime, configure: Any) -> Web:
    """Every provider, where it really is."""
    configure(YOUTUBE_CLIENT_ID="yt-client", YOUTUBE_CLIENT_SECRET="yt-secret", SPOTIFY_CLIENT_ID="sp-client")
    configure(YOUTUBE_API_KEY="yt-key", TOKEN_KEYS="{}", SPOTIFY_MARKET="DE")
    web = Web()
    monkeypatch.setattr(client, "get", web.get)
    monkeypatch.setattr(client, "post", web.post)
    return web
