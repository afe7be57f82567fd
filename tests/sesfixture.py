"""`ses`: a real SES endpoint on loopback that the mail room talks to, also while everything else is on moto."""

from collections.abc import Iterator

import pytest

from chalicelib.kernel import aws as kernel_aws
from chalicelib.kernel import wire
from local import ses as local_ses


@pytest.fixture(scope="session")
def _ses_server() -> Iterator[local_ses.Client]:
    with local_ses.start() as client:
        yield client


@pytest.fixture
def ses(_ses_server: local_ses.Client, monkeypatch: pytest.MonkeyPatch) -> Iterator[local_ses.Client]:
    """Empty, told nothing. moto lets calls to loopback pass, so it goes together with `aws`."""
    _ses_server.reset()
    monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", _ses_server.url)
    _forget_clients()
    yield _ses_server
    _forget_clients()


def _forget_clients() -> None:
    """An endpoint is looked up when a client is made; the session stays, for reading SES's model takes its time."""
    kernel_aws.client.cache_clear()
    wire._door.cache_clear()
