"""The languages readers are addressed in: one catalogue each, `templates/translations/<code>.po`.

The deployed package has them compiled (`.mo`). English is the language of the sources and needs no catalogue at run
time. A catalogue is read when somebody is first addressed in its language.
"""

from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from chalicelib.kernel import publication, zones
from chalicelib.kernel.errors import GnaError
from chalicelib.kernel.wording import for_readers

if TYPE_CHECKING:  # calls that answer JSON need neither
    from gettext import GNUTranslations, NullTranslations

ENGLISH = "en"

# The deployed package has the contents of `vendor` in its root, so this path is right there as well.
_FOLDER = Path(__file__).parents[2] / "templates" / "translations"
_UNEXPLAINED = for_readers("This did not work")


@cache
def codes() -> frozenset[str]:
    """Every language there is a file for."""
    return frozenset(file.stem for file in _FOLDER.iterdir() if file.suffix in (".po", ".mo"))


@cache
def names() -> dict[str, str]:
    """What each language is called by those who speak it, English first."""
    others = sorted(codes() - {ENGLISH})
    # Every catalogue translates this by the name of its own language.
    return {code: catalogue(code).pgettext("this language", "English") for code in (ENGLISH, *others)}


def find(asked: str | None) -> str | None:
    """The language with a catalogue for a tag such as `de` or `pt-BR`; None if there is none."""
    base = (asked or "")[:20].replace("_", "-").partition("-")[0].lower()
    return base if base in codes() else None


def choose(asked: str | None = None) -> str:
    """The language asked for, or else the publication's, or else English."""
    return find(asked) or find(publication.at_hand().language) or ENGLISH


@cache
def catalogue(code: str) -> "NullTranslations":
    """`code` is one of `codes`."""
    from gettext import NullTranslations

    return NullTranslations() if code == ENGLISH else _read(code)


def explain(failure: GnaError, code: str) -> str:
    """Why something failed, for a reader of a page. Reasons meant for programs are not in the catalogues."""
    if code == ENGLISH:
        return failure.reason
    words = catalogue(code).gettext
    sentence = words(failure.sentence)
    if sentence == failure.sentence:
        return words(_UNEXPLAINED)
    values = {name: words(value) if isinstance(value, str) else value for name, value in failure.values.items()}
    return sentence % values if values else sentence


def write_date(moment: datetime, code: str) -> str:
    """The day in the publication's time zone: `18 November 2026`."""
    day = moment.astimezone(zones.find(publication.at_hand().time_zone))
    found = catalogue(code)
    month = _months(code)[day.month - 1]
    # Some languages write the first of a month with an ordinal number.
    first = found.pgettext("date", "1 %(month)s %(year)s")
    pattern = first if day.day == 1 else found.pgettext("date", "%(day)s %(month)s %(year)s")
    return pattern % {"day": day.day, "month": month, "year": day.year}


@cache
def _months(code: str) -> tuple[str, ...]:
    pgettext = catalogue(code).pgettext
    return (
        pgettext("month", "January"),
        pgettext("month", "February"),
        pgettext("month", "March"),
        pgettext("month", "April"),
        pgettext("month", "May"),
        pgettext("month", "June"),
        pgettext("month", "July"),
        pgettext("month", "August"),
        pgettext("month", "September"),
        pgettext("month", "October"),
        pgettext("month", "November"),
        pgettext("month", "December"),
    )


def _read(code: str) -> "GNUTranslations":
    from gettext import GNUTranslations
    from io import BytesIO

    compiled = _FOLDER / f"{code}.mo"
    if compiled.exists():
        return GNUTranslations(BytesIO(compiled.read_bytes()))
    from chalicelib.kernel import po

    return GNUTranslations(BytesIO(po.compile_catalogue((_FOLDER / f"{code}.po").read_text(encoding="utf-8"))))
