"""`make translations`: keeps the catalogues in `templates/translations` in step with the texts that readers see.

A text is looked for in the templates (`_`, `ngettext`) and in the code (`for_readers`). A new one is added to every
catalogue without a translation, and one that nobody says any more is removed. `en.po` has every text as it is: it is
written here, and a new language starts as a copy of it. `compile_into` is what the package needs.
"""

import sys
from copy import deepcopy
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "templates" / "translations"
SOURCE = "en"

# What readers see. The dashboard, and the mails to whoever runs it, are in English.
SPOKEN = ("templates/public", "templates/email", "templates/member")
UNSPOKEN = {"templates/email/admin_notice.html", "templates/email/admin_notice.txt"}
_TEMPLATES = "jinja2.ext:babel_extract"
_OPTIONS = {"newstyle_gettext": "true", "trim_blocks": "true", "lstrip_blocks": "true"}
# Without dates and names, which would change with every run.
_HEADER = """msgid ""
msgstr ""
"Language: {code}\\n"
"Plural-Forms: {plurals}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

"""
_KEYWORDS = {"_": None, "ngettext": (1, 2), "pgettext": ((1, "c"), 2), "for_readers": None}


def extract() -> Catalog:
    """Every text, with where it is said."""
    found = Catalog(fuzzy=False)
    for folder in SPOKEN:
        for suffix in ("html", "js", "txt"):
            _extract(found, folder, [(f"**.{suffix}", _TEMPLATES)])
    _extract(found, "chalicelib", [("**.py", "python")])
    return found


def _extract(found: Catalog, folder: str, methods: list[tuple[str, str]]) -> None:
    options = {pattern: _OPTIONS for pattern, method in methods if method == _TEMPLATES}
    texts = extract_from_dir(ROOT / folder, methods, options, _KEYWORDS, strip_comment_tags=True)
    for file, _, text, comments, context in texts:
        place = f"{folder}/{Path(file).as_posix()}"
        if place not in UNSPOKEN:
            # Without line numbers, which every edit would change.
            found.add(text, None, [(place, 0)], auto_comments=comments, context=context)


def catalogues() -> dict[str, Catalog]:
    """Every catalogue by its language."""
    return {file.stem: read(file) for file in sorted(FOLDER.glob("*.po"))}


def read(file: Path) -> Catalog:
    with file.open("rb") as opened:
        return read_po(opened, locale=file.stem)


def update() -> list[str]:
    """Bring every catalogue in step; return what still has to be translated."""
    found = extract()
    missing = []
    for code, catalogue in catalogues().items():
        catalogue.update(deepcopy(found), no_fuzzy_matching=True, keep_user_comments=True)
        catalogue.obsolete.clear()
        if code == SOURCE:
            _translate_source(catalogue)
        write(catalogue, FOLDER / f"{code}.po")
        undone = (message for message in catalogue if message.id and not _is_done(message))
        missing += [f"{code}: {_first_line(message)}" for message in undone]
    return missing


def write(catalogue: Catalog, file: Path) -> None:
    with file.open("wb") as opened:
        opened.write(_HEADER.format(code=file.stem, plurals=catalogue.plural_forms).encode())
        write_po(opened, catalogue, width=100, sort_by_file=True, omit_header=True, include_lineno=False)


def compile_into(folder: Path) -> None:
    """Replace the catalogues in a copy of the templates by what `gettext` reads."""
    for file in sorted(folder.glob("*.po")):
        with (folder / f"{file.stem}.mo").open("wb") as opened:
            write_mo(opened, read(file))
        file.unlink()


def _translate_source(catalogue: Catalog) -> None:
    for message in catalogue:
        if message.id:
            message.string = message.id


def _is_done(message: Message) -> bool:
    texts = message.string if isinstance(message.string, tuple | list) else (message.string,)
    return all(texts)


def _first_line(message: Message) -> str:
    text = message.id[0] if isinstance(message.id, tuple | list) else message.id
    return str(text).splitlines()[0]


def main() -> None:
    missing = update()
    for line in missing:
        print(line)
    if missing:
        sys.exit(f"{len(missing)} texts have no translation yet: write them into templates/translations")


if __name__ == "__main__":
    main()
