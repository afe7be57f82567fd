"""`ses`: a scripted SES in place of the real one."""

from collections.abc import Iterator

import pytest

from chalicelib.campaigns.sending import supervisor
from tests.rooms.campaigns.engine.work import Ses


@pytest.fixture
def ses(aws: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ses]:
    ses = Ses()
    monkeypatch.setattr(supervisor, "_job", ses.job)
    monkeypatch.setattr("chalicelib.campaigns.sending.batch.time.sleep", lambda _: None)
    return ses
