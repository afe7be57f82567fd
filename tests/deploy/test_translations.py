"""The catalogues are complete, in step with what is said, and keep what the texts promise."""

import re
from gettext import GNUTranslations
from html.parser import HTMLParser
from io import BytesIO
from shutil import copytree

import pytest
from babel.messages.catalog import Catalog
from jinja2 import Environment, nodes

from chalicelib.kernel import po
from deploy import translations

CATALOGUES = translations.catalogues()
OTHERS = sorted(CATALOGUES.keys() - {translations.SOURCE})
EVERYTHING = translations.extract()
RUN = "run `make translations`"
ROOT_FOLDER = translations.FOLDER


def texts_of(message):
    return message.id if isinstance(message.id, tuple | list) else (message.id,)


def translations_of(message):
    return message.string if isinstance(message.string, tuple | list) else (message.string,)


def messages(catalogue: Catalog):
    return [message for message in catalogue if message.id]


def test_there_is_a_catalogue_for_every_language_that_is_promised():
    assert {"en", "de", "fr", "es", "it", "nl", "pt"} <= CATALOGUES.keys()


@pytest.mark.parametrize("code", sorted(CATALOGUES))
def test_a_catalogue_has_every_text_and_no_other(code):
    said = {(message.context, texts_of(message)) for message in messages(EVERYTHING)}
    written = {(message.context, texts_of(message)) for message in messages(CATALOGUES[code])}
    assert said - written == set(), RUN
    assert written - said == set(), RUN
    assert not CATALOGUES[code].obsolete, RUN


@pytest.mark.parametrize("code", sorted(CATALOGUES))
def test_every_text_is_translated(code):
    found = messages(CATALOGUES[code])
    undone = [message.id for message in found if message.fuzzy or not all(translations_of(message))]
    assert undone == []


def test_the_english_catalogue_says_what_the_sources_say():
    differing = [each.id for each in messages(CATALOGUES["en"]) if texts_of(each) != tuple(translations_of(each))]
    assert differing == [], RUN


@pytest.mark.parametrize("code", OTHERS)
def test_a_translation_has_the_same_values_and_the_same_markup(code):
    for message in messages(CATALOGUES[code]):
        for translation in translations_of(message):
            # The singular may say "one" without its number.
            expected = pieces(texts_of(message)[-1])
            assert pieces(translation) in (expected, pieces(texts_of(message)[0])), translation


@pytest.mark.parametrize("code", OTHERS)
def test_a_translation_looks_like_one(code):
    for message in messages(CATALOGUES[code]):
        original, translation = texts_of(message)[0], translations_of(message)[0]
        words = re.sub(r"%\(\w+\)s|</?\w+>", "", original).split()
        if len(words) > 1:  # a single word may be the same
            assert translation != original
        assert translation == translation.strip()
        assert original.endswith(":") == translation.endswith(":"), translation
        assert "  " not in translation
        assert "'" not in translation, f"a typewriter's apostrophe: {translation}"


@pytest.mark.parametrize("code", OTHERS)
def test_the_lines_of_a_mail_in_plain_text_are_short(code):
    for message in messages(CATALOGUES[code]):
        if "\n" in texts_of(message)[0]:
            assert max(len(line) for line in translations_of(message)[0].splitlines()) <= 72


@pytest.mark.parametrize("code", sorted(CATALOGUES))
def test_what_is_compiled_for_the_package_is_what_is_read_at_home(code, tmp_path):
    copytree(translations.FOLDER, tmp_path / "translations")
    translations.compile_into(tmp_path / "translations")
    assert not list((tmp_path / "translations").glob("*.po"))
    compiled = GNUTranslations(BytesIO((tmp_path / "translations" / f"{code}.mo").read_bytes()))
    read = GNUTranslations(BytesIO(po.compile_catalogue((translations.FOLDER / f"{code}.po").read_text())))
    assert texts_in(compiled) == texts_in(read)
    assert [compiled.plural(count) for count in range(3)] == [read.plural(count) for count in range(3)]


def test_updating_adds_what_is_new_and_removes_what_nobody_says(tmp_path, monkeypatch):
    monkeypatch.setattr(translations, "FOLDER", tmp_path)
    written = (ROOT_FOLDER / "de.po").read_text()
    without_one = written.replace('msgid "Page not found"\nmsgstr "Seite nicht gefunden"\n', "")
    assert without_one != written
    (tmp_path / "de.po").write_text(without_one + '\nmsgid "Nobody says this"\nmsgstr "Niemand sagt das"\n')
    assert translations.update() == ["de: Page not found"]
    updated = (tmp_path / "de.po").read_text()
    assert 'msgid "Page not found"\nmsgstr ""\n' in updated
    assert "Nobody says this" not in updated


def test_the_catalogues_are_as_make_translations_writes_them(tmp_path, monkeypatch):
    copytree(ROOT_FOLDER, tmp_path / "translations")
    monkeypatch.setattr(translations, "FOLDER", tmp_path / "translations")
    assert translations.update() == []
    for file in sorted(ROOT_FOLDER.glob("*.po")):
        assert (tmp_path / "translations" / file.name).read_text() == file.read_text(), RUN


def texts_in(catalogue):
    return {key: text for key, text in catalogue._catalog.items() if key}


def pieces(text):
    return sorted(re.findall(r"%\(\w+\)s|</?\w+>", text))


def spoken_templates():
    root = translations.ROOT
    for folder in translations.SPOKEN:
        for file in sorted((root / folder).glob("*.*")):
            name = file.relative_to(root).as_posix()
            if name not in translations.UNSPOKEN and file.suffix in (".html", ".txt"):
                yield name


# Blocks that stand inside a tag of the template they extend.
OF_A_TAG = {"robots", "kind", "body", "main", "shape", "archive_link", "subscribe_url"}
LABEL = re.compile(r"\A[A-Z][a-z]+( |\Z)|[a-z]{2,} [a-z]{2,}")
MARKUP = re.compile(r"[<;]|\Alight (only|dark)\Z")
# The same everywhere, or not said to anybody.
NOT_SAID = {"UTC", "yes"}
WORDS = re.compile(r"[^\W\d_]{2,}")
SHOWN_ATTRIBUTES = {"alt", "aria-label", "aria-description", "placeholder", "title", "content", "label", "value"}


class Shown(HTMLParser):
    """Text and attributes that somebody sees or hears."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.found, self.hidden = [], 0

    def handle_starttag(self, tag, attributes):
        self.hidden += tag in ("style", "script")
        of_head = tag == "meta"
        for name, value in attributes:
            if name in SHOWN_ATTRIBUTES and value and not of_head and dict(attributes).get("type") != "hidden":
                self.found.append(value)

    def handle_endtag(self, tag):
        self.hidden -= tag in ("style", "script")

    def handle_data(self, data):
        if not self.hidden:
            self.found.append(data)


def parse(name):
    environment = Environment(extensions=["jinja2.ext.i18n"])
    return environment.parse((translations.ROOT / name).read_text())


def written_out(tree):
    """What the template says by itself, with a blank for each value."""
    parts = []

    def visit(node):
        if isinstance(node, nodes.Output):
            for child in node.nodes:
                parts.append(child.data if isinstance(child, nodes.TemplateData) else "\0")
                visit(child)
        elif isinstance(node, nodes.Block) and node.name in OF_A_TAG:
            pass
        else:
            for child in node.iter_child_nodes():
                visit(child)

    visit(tree)
    return "".join(parts)


def quoted(tree):
    """Texts in expressions that are not translated: what looks like a sentence or a label."""
    translated = {
        id(constant)
        for call in tree.find_all(nodes.Call)
        if isinstance(call.node, nodes.Name) and call.node.name in ("_", "ngettext", "pgettext")
        for constant in call.find_all(nodes.Const)
    }
    for constant in tree.find_all(nodes.Const):
        if id(constant) not in translated and isinstance(constant.value, str):
            yield constant.value


@pytest.mark.parametrize("name", list(spoken_templates()))
def test_a_template_for_readers_says_nothing_untranslated(name):
    tree = parse(name)
    text = written_out(tree)
    if name.endswith(".html"):
        shown = Shown()
        shown.feed(re.sub(r"<!--.*?-->|<!DOCTYPE[^>]*>|<\?xml[^>]*>", "", text, flags=re.DOTALL | re.IGNORECASE))
        shown.close()
        text = "\n".join(shown.found)
    assert [word for word in WORDS.findall(text) if word not in NOT_SAID] == []
    assert [text for text in quoted(tree) if LABEL.search(text) and not MARKUP.search(text)] == []
