from typing import Any

import pytest

from local.ses.main import Client
from tests.local.ses_calls import connect


@pytest.fixture
def sesv2(ses: Client) -> Any:
    return connect(ses)
