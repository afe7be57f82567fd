"""What a stranger may send: the kept list of strings, what hypothesis makes up, and the shapes they come in."""

import json
import os
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

# In every string that may show up where it must not: easy to search for, and in no text of ours.
CANARY = "zqxjkvbp"
EXAMPLES = int(os.environ.get("HOSTILE_EXAMPLES", "4"))

_LIST = Path(__file__).with_name("strings.txt")
_LONG = ("x" * 70_000, "é" * 5_000, f"<b>{CANARY}" * 500, "9" * 5_000, "[" * 20_000, "\r\n" * 2_000, "a." * 3_000)


def kept() -> list[str]:
    lines = _LIST.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line and not line.startswith("#")]


def bounded(times: int = 1) -> Any:
    """As many examples as asked for, the same in every run, so that a red suite is a mistake and not bad luck."""
    return settings(
        max_examples=EXAMPLES * times,
        deadline=None,
        derandomize="HOSTILE_EXAMPLES" not in os.environ,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


words = st.sampled_from(kept()) | st.sampled_from(_LONG) | st.text(max_size=40)
numbers = st.sampled_from([0, -1, 1, 10**40, -(10**400), 2**63, 0.1, 1e308, -0.0]) | st.integers()


def values(names: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """Anything JSON can say."""
    return st.recursive(
        st.none() | st.booleans() | numbers | words,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names | words, inner, max_size=4),
        max_leaves=6,
    )


def nested(depth: int) -> bytes:
    return b'{"metadata":' * depth + b"1" + b"}" * depth
