"""What templates need to speak a language: `_`, `ngettext`, dates, links within a sentence, and `lang`.

A template that speaks two languages is compiled in two environments, so that everything it includes or imports speaks
the same one.
"""

from functools import partial
from typing import Any

from chalicelib.kernel import languages


def speak(environment: Any, code: str) -> None:
    """Translations may contain HTML; the values put into them are escaped."""
    environment.add_extension("jinja2.ext.i18n")
    environment.install_gettext_translations(languages.catalogue(code), newstyle=True)
    environment.globals["date"] = partial(languages.write_date, code=code)
    environment.globals["text_lang"] = code
    environment.globals["usual_lang"] = languages.choose
    environment.filters["links"] = link_words


def link_words(text: Any, style: str = "", **urls: str) -> Any:
    """Make a link of the words between `<name>` and `</name>` in a translated sentence: where they stand is for the
    translator to decide, where they lead is not."""
    from markupsafe import Markup

    attributes = Markup(' style="{}"').format(style) if style else ""
    for name, url in urls.items():
        start = Markup('<a href="{}"{}>').format(url, attributes)
        text = text.replace(f"<{name}>", start).replace(f"</{name}>", Markup("</a>"))
    return text
