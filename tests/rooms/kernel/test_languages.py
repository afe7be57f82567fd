"""The languages readers are addressed in."""

import subprocess
import sys
from datetime import UTC, datetime
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path

import pytest

from chalicelib.kernel import languages, po
from chalicelib.kernel.errors import Invalid

ROOT = Path(__file__).parents[3]
NOVEMBER = datetime(2026, 11, 18, 9, 30, tzinfo=UTC)
FIRST = datetime(2027, 5, 1, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("de", "de"),
        ("DE", "de"),
        ("de-AT", "de"),
        ("pt_BR", "pt"),
        ("en-GB", "en"),
        ("ja", None),
        ("", None),
        (None, None),
        ("../de", None),
        ("x" * 1000, None),
    ],
)
def test_a_language_is_found_by_its_tag(asked, found):
    assert languages.find(asked) == found


def test_the_publications_language_is_spoken_unless_another_is_asked_for(configure):
    configure(SITE_LANG="fr-CA")
    assert languages.choose() == "fr"
    assert languages.choose("nl") == "nl"
    assert languages.choose("tlh") == "fr"


def test_without_a_catalogue_for_the_publications_language_english_is_spoken(configure):
    configure(SITE_LANG="ja")
    assert languages.choose() == "en"


def test_each_language_has_the_name_its_speakers_give_it():
    assert languages.names()["en"] == "English"
    assert languages.names()["de"] == "Deutsch"
    assert languages.names().keys() == languages.codes()
    assert len(set(languages.names().values())) == len(languages.codes())


@pytest.mark.parametrize(
    ("code", "written", "first"),
    [
        ("en", "18 November 2026", "1 May 2027"),
        ("de", "18. November 2026", "1. Mai 2027"),
        ("fr", "18 novembre 2026", "1er mai 2027"),
        ("es", "18 de noviembre de 2026", "1 de mayo de 2027"),
        ("it", "18 novembre 2026", "1º maggio 2027"),
        ("nl", "18 november 2026", "1 mei 2027"),
        ("pt", "18 de novembro de 2026", "1 de maio de 2027"),
    ],
)
def test_a_date_is_written_as_its_readers_write_it(code, written, first):
    assert languages.write_date(NOVEMBER, code) == written
    assert languages.write_date(FIRST, code) == first


def test_a_reason_is_explained_in_the_readers_language():
    assert languages.explain(Invalid("Email address is not valid"), "de") == "Diese E-Mail-Adresse ist nicht gültig"
    assert languages.explain(Invalid("Email address is not valid"), "en") == "Email address is not valid"


def test_a_reason_for_programs_is_not_shown_to_readers_of_another_language():
    assert languages.explain(Invalid("tags must be a list of texts"), "de") == "Das hat nicht geklappt"
    assert languages.explain(Invalid("tags must be a list of texts"), "en") == "tags must be a list of texts"


CATALOGUE = r"""
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\n"
"Plural-Forms: nplurals=2; plural=(n > 1);\n"

#: somewhere
msgid "one \"two\"\n"
"three"
msgstr ""
"un «deux»\n"
"trois"

msgctxt "month"
msgid "May"
msgstr "mai"

msgid "%(num)s day"
msgid_plural "%(num)s days"
msgstr[0] "%(num)s jour"
msgstr[1] "%(num)s jours"

#, fuzzy
msgid "unsure"
msgstr "incertain"

msgid "untranslated"
msgstr ""

#~ msgid "old"
#~ msgstr "ancien"
"""


def test_a_catalogue_is_read_without_having_been_compiled():
    read = GNUTranslations(BytesIO(po.compile_catalogue(CATALOGUE)))
    assert read.gettext('one "two"\nthree') == "un «deux»\ntrois"
    assert read.pgettext("month", "May") == "mai"
    assert read.gettext("May") == "May"
    assert [read.ngettext("%(num)s day", "%(num)s days", count) for count in (0, 1, 2)] == [
        "%(num)s jour",
        "%(num)s jour",
        "%(num)s jours",
    ]
    for text in ("unsure", "untranslated", "old"):
        assert read.gettext(text) == text


def test_a_call_that_answers_json_loads_nothing_of_this():
    loaded = "{'gettext', 'jinja2', 'zoneinfo'} & {*sys.modules}"
    asked = f"import sys, chalicelib.audience.sign_up_handlers; print({loaded})"
    run = subprocess.run([sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"
