"""Any text in any variable: the settings load, or the variable is named."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.kernel import settings
from chalicelib.kernel.errors import Misconfigured
from tests.hostile.answers import check
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


@pytest.mark.parametrize("name", ["SECRET_KEY", "WEBHOOK_SECRET"])
@pytest.mark.parametrize("text", ["", " ", "short", "\udcff" * 20])
def test_a_secret_that_cannot_be_one_is_named(configure, name, text):
    configure(**{name: text})
    with pytest.raises(Misconfigured, match=name):
        settings.secret(name)


def test_a_name_that_would_not_fit_into_a_subject_is_refused():
    with pytest.raises(Misconfigured, match="SITE_NAME is longer than 255 characters"):
        settings.load({"SITE_NAME": "x" * 256})


# What is only a text, and is shown on pages or handed on as it is.
TEXTS = (
    "SITE_NAME",
    "SITE_LANG",
    "CONTACT_EMAIL",
    "ADMIN_EMAIL",
    "POSTAL_ADDRESS",
    "CONFIGURATION_SET",
    "CF_ACCESS_AUD",
)
PAGES = (
    "/subscribe",
    "/profile",
    "/archive",
    "/archive/feed.xml",
    "/archive/feed.json",
    "/archive?q=a",
    "/",
    "/sitemap.xml",
    "/robots.txt",
    "/embed.js",
    "/admin",
    "/admin/settings",
    "/health",
)


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{7*7}}", "نص", "a, b <c@d>", "../.."]
)
def test_a_text_is_shown_as_it_is_and_does_nothing(admin, configure, ses, text):
    configure(**dict.fromkeys(TEXTS, text), GNA_LOCAL="true", DISABLE_AUTH="true")
    for page in PAGES:
        check(admin.get(page), [text])
