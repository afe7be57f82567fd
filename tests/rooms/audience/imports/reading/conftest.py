import pytest

from tests.rooms.audience.imports.reading.reading import Opener


@pytest.fixture
def opened(tmp_path):
    return Opener(tmp_path)
