"""Any text in any variable: the settings load, or the variable is named."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from chalicelib.kernel import settings
from chalicelib.kernel.errors import Misconfigured
from tests.hostile.anything import bounded, kept, words

NAMES = sorted(set(re.findall(r'read\.\w+\("([A-Z_]+)"', Path("chalicelib/kernel/settings.py").read_text())))


def test_the_variables_are_those_of_the_settings():
    assert {"SITE_URL", "ALLOWED_ORIGINS", "MAILS_PER_HOUR", "DISABLE_AUTH"} <= set(NAMES)


def _tried(name: str, text: str) -> None:
    loaded, reason = None, name
    try:
        loaded = settings.load({name: text})
    except Misconfigured as failure:
        reason = failure.reason
    assert name in reason
    assert len(reason) < 200
    if loaded:
        assert not [origin for origin in loaded.allowed_origins if re.search(r"[\s;,'\"]", origin)]


def test_every_string_of_the_list_in_every_variable():
    for name in NAMES:
        for text in kept():
            _tried(name, text)
            _tried(name, f"https://{text}")


@bounded(30)
@given(name=st.sampled_from(NAMES), before=st.sampled_from(["", "https://", "https://a.example", "1"]), text=words)
def test_any_text_in_any_variable(name, before, text):
    _tried(name, before + text)
