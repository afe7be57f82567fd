"""Whatever is sent, the answer is one of those described: no crash, no half-made campaign."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

API = "/admin/api/campaigns"
FIELDS = ("subject", "body", "text", "preheader", "format", "aim", "time_zone", "scheduled_at", "version", "nickname")

words = st.text(st.characters(codec=None, categories=("L", "N", "P", "S", "Z", "C")), max_size=30) | st.sampled_from(
    [
        "{{nickname|x}}",
        "{{",
        "<p>",
        "<script>",
        "html",
        "markdown",
        "2030-01-01T00:00:00Z",
        "Europe/Berlin",
        "\ufdd00\ufdd1",
    ]
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | words,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["any", "all", "none", "tags", "sources"]) | words, inner, max_size=3)
    ),
    max_leaves=5,
)
bodies = st.fixed_dictionaries(
    {"subject": words, "body": words}, optional=dict.fromkeys(FIELDS[2:], words | anything)
) | st.dictionaries(st.sampled_from(FIELDS), anything, max_size=6)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=bodies)
def test_any_body_gets_a_described_answer(admin, body):
    raw = json.dumps(body)
    made = admin.post(API, body=raw, Content_Type="application/json")
    assert made.status in (201, 400)
    shown = admin.post(f"{API}/preview", body=raw, Content_Type="application/json")
    assert shown.status in (200, 400)
    if made.status == 201:
        url = f"{API}/{made.json['id']}"
        assert admin.get(url).status == 200
        assert admin.get(f"{url}/preview").status == 200
        assert admin.patch(url, body=raw, Content_Type="application/json").status in (200, 400, 409)
