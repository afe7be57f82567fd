"""A real server on the loopback, told by each test what to answer."""

from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.kernel.http import client
from chalicelib.kernel.http.client import Bounds, FetchFailed
from tests.rooms.kernel.server import Server


@pytest.fixture
def server(configure: Any) -> Iterator[Server]:
    configure(GNA_LOCAL="true")
    server = Server()
    yield server
    server.close()


def failure(url: str, **bounds: Any) -> FetchFailed:
    with pytest.raises(FetchFailed) as raised:
        client.get(url, bounds=Bounds(**bounds))
    return raised.value
