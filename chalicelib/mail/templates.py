"""Mails from templates: `templates/email/<name>.html` and its plain-text version `<name>.txt`, which also holds the
subject.

A deployment's own templates are in `templates/own/email/` and take precedence, one file at a time. Styles are inline
already, so that sending a mail does not have to load an inliner.
"""

from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from chalicelib.kernel import languages, publication, settings, speaking
from chalicelib.kernel.colour import ink_on, on_dark, on_light
from chalicelib.mail.message import Message

# The deployed package has the contents of `vendor` in its root, so this path is right there as well.
_TEMPLATES = Path(__file__).parents[2] / "templates"
# Keeps out-of-office replies and ticket systems from answering.
_AUTOMATIC = {"Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All"}


class Rendered(Struct, frozen=True):
    subject: str
    html: str
    text: str


def render(name: str, lang: str | None = None, **values: Any) -> Rendered:
    """A mail's subject, HTML and plain text, in the publication's language unless there is a catalogue for `lang`."""
    context = site_values() | values
    plain = environment(lang).get_template(f"{name}.txt")
    subject = "".join(plain.blocks["subject"](plain.new_context(context)))
    html = environment(lang).get_template(f"{name}.html").render(context, subject=" ".join(subject.split()))
    return Rendered(" ".join(subject.split()), html, plain.render(context).strip() + "\n")


def automatic_message(to: str, name: str, lang: str | None = None, **values: Any) -> Message:
    """A mail that no person wrote and no machine should answer."""
    rendered = render(name, lang, **values)
    return Message(to, rendered.subject, rendered.html, rendered.text, _AUTOMATIC)


def environment(lang: str | None = None) -> Any:
    return environment_in(languages.choose(lang))


@cache
def environment_in(code: str) -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

    made = Environment(
        loader=FileSystemLoader([_TEMPLATES / "own" / "email", _TEMPLATES / "email"]),
        # Only in HTML: plain text must show `Tom & Jerry` as it is.
        autoescape=select_autoescape(enabled_extensions=("html",), default=False),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    speaking.speak(made, code)
    return made


def has_own(name: str) -> bool:
    """Whether this deployment brings its own version of a template."""
    return (_TEMPLATES / "own" / "email" / name).is_file()


def site_values() -> dict[str, Any]:
    """What every template can use about this publication. `link_colour` and `link_in_dark` are its colour as text."""
    current = publication.current()
    accent = current.colours.accent
    return {
        "lang": current.language,
        "site_name": current.name,
        "site_url": settings.current().site_url,
        "contact_email": current.contact_email,
        "postal_address": current.postal_address,
        "colour": accent,
        "ink": ink_on(accent),
        "link_colour": on_light(accent),
        "link_in_dark": on_dark(accent),
        "logo": current.logo,
        "logo_width": current.logo_width,
        "logo_height": current.logo_height,
        "footer": current.footer,
        "confirmation": current.confirmation,
    }
