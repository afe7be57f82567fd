"""What a site pastes into its pages so that people can sign up there: as a script, as plain HTML, as a link, or as a
frame. Every value is escaped for the attribute or the text it stands in."""

from collections.abc import Iterator, Mapping
from html import escape
from urllib.parse import urlencode

from msgspec import Struct

from chalicelib.admin import site_origins
from chalicelib.audience import model
from chalicelib.kernel import languages, publication
from chalicelib.kernel.errors import Invalid
from chalicelib.web import pages

SCRIPT, HTML, LINK, FRAME = "script", "html", "link", "frame"
KINDS = {SCRIPT: "Script", HTML: "Plain HTML", LINK: "Link", FRAME: "Frame"}
# The words that can be changed: the name of the attribute, its label, and the words without it. A form without a
# script has only the first three.
WORDS = (
    ("button", "Button", "Subscribe"),
    ("email", "Label of the address", "Email address"),
    ("name", "Label of the name", "Name"),
    ("success", "After signing up", "Almost done: check your inbox for a link, and open it to confirm."),
    ("invalid", "Address is not valid", "Please check the email address."),
    ("limit", "Too many attempts", "Too many attempts. Please wait a minute."),
    ("failure", "Something failed", "Something went wrong. Please try again in a moment."),
)
LONGEST_WORDS = 200
_ONE_LINE = 100
_FRAME_HEIGHT = 640


class Options(Struct, frozen=True):
    """What was chosen on the page. `words` has only those that were changed."""

    kind: str = SCRIPT
    source: str = ""
    tags: tuple[str, ...] = ()
    asks_name: bool = False
    words: Mapping[str, str] = {}
    site: str = ""
    lang: str = ""

    def text(self, name: str) -> str:
        """In the form's language, unless it was changed."""
        usual = next(usual for word, _, usual in WORDS if word == name)
        return self.words.get(name) or pages.translate(usual, self.lang or None)


def parse(query: Mapping[str, str]) -> Options:
    source = query.get("source", "").strip()
    model.parse_capture(source or None, None, None, None)
    return Options(
        kind=parse_kind(query),
        source=source,
        tags=tuple(sorted(model.check_tags(query.get("tags")))),
        asks_name="name" in query,
        words={name: _check_words(query.get(f"text_{name}", ""), label) for name, label, _ in WORDS},
        site=site_origins.parse(query.get("site", "")),
        lang=languages.find(query.get("lang")) or "",
    )


def parse_kind(query: Mapping[str, str]) -> str:
    kind = query.get("kind", SCRIPT)
    return kind if kind in KINDS else SCRIPT


def encode(options: Options) -> str:
    """As a query, which `parse` reads."""
    given = {"kind": options.kind, "source": options.source, "tags": ",".join(options.tags), "site": options.site}
    given["lang"] = options.lang
    given |= {f"text_{name}": words for name, words in options.words.items()}
    given |= {"name": "yes"} if options.asks_name else {}
    return urlencode({name: value for name, value in given.items() if value})


def write(options: Options, base: str, *, inline_style: bool = True) -> str:
    """The snippet. `base` is where Gna is, such as `https://news.example.org`; our own pages refuse inline styles."""
    if options.kind == FRAME:
        return _write_frame(options, base, ' style="border: 0"' if inline_style else "")
    return {SCRIPT: _write_script, HTML: _write_form, LINK: _write_link}[options.kind](options, base)


def _write_script(options: Options, base: str) -> str:
    given = [("src", f"{base}/embed.js"), ("data-source", options.source), ("data-tags", ",".join(options.tags))]
    given += [("data-lang", options.lang)]
    given += [(f"data-text-{name}", words) for name, words in options.words.items()]
    attributes = [_attribute(name, value) for name, value in given if value]
    attributes += [*(["data-name"] if options.asks_name else []), "async"]
    line = f"<script {' '.join(attributes)}></script>"
    return line if len(line) <= _ONE_LINE else "<script\n  " + "\n  ".join(attributes) + "></script>"


def _write_form(options: Options, base: str) -> str:
    return "\n".join(
        [
            f'<form method="post" {_attribute("action", base + "/api/subscribe")}>',
            *(f"  {field}" for field in _fields(options)),
            "</form>",
        ]
    )


def _fields(options: Options) -> Iterator[str]:
    for name, value in (("source", options.source), ("tags", ",".join(options.tags)), ("lang", options.lang)):
        if value:
            yield f'<input type="hidden" name="{name}" {_attribute("value", value)}>'
    address = '<input type="email" name="email" required maxlength="254" autocomplete="email">'
    yield f"<label>{escape(options.text('email'))} {address}</label>"
    if options.asks_name:
        nickname = f'<input name="nickname" maxlength="{model.LONGEST_NICKNAME}" autocomplete="nickname">'
        yield f"<label>{escape(options.text('name'))} {nickname}</label>"
    trap = '<input name="website" tabindex="-1" autocomplete="off">'
    yield f"<p hidden><label>{escape(pages.translate('Leave this empty', options.lang or None))} {trap}</label></p>"
    yield f"<button>{escape(options.text('button'))}</button>"


def _write_link(options: Options, base: str) -> str:
    return f"<a {_attribute('href', page_url(options, base))}>{escape(options.text('button'))}</a>"


def _write_frame(options: Options, base: str, style: str) -> str:
    title = _attribute("title", f"{options.text('button')}: {publication.current().name}")
    source = _attribute("src", page_url(options, base))
    return f'<iframe {source} {title} width="100%" height="{_FRAME_HEIGHT}" loading="lazy"{style}></iframe>'


def page_url(options: Options, base: str) -> str:
    """The sign-up page, for a link and a frame."""
    given = {"source": options.source, "tags": ",".join(options.tags), "lang": options.lang}
    query = urlencode({name: value for name, value in given.items() if value})
    return f"{base}/subscribe" + (f"?{query}" if query else "")


def _attribute(name: str, value: str) -> str:
    return f'{name}="{escape(value)}"'


def _check_words(text: str, label: str) -> str:
    words = " ".join(text.split())
    if len(words) > LONGEST_WORDS:
        raise Invalid(f"{label}: at most {LONGEST_WORDS} characters")
    if not words.isprintable():
        raise Invalid(f"{label}: plain text only")
    return words
