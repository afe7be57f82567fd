"""Mails from templates: `templates/email/<name>.html` and its plain twin `<name>.txt`, which also holds the subject.

A deployment's own templates lie under `templates/own/email/` and win, one file at a time. The styles are written
into the elements already, so that sending a mail does not have to load an inliner.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from chalicelib.kernel import settings
from chalicelib.kernel.colour import ink_on

# In the deployed package `vendor/templates` lies in the root, so that this is the same place there and here.
_TEMPLATES = Path(__file__).parents[2] / "templates"


class Rendered(Struct, frozen=True):
    subject: str
    html: str
    text: str


def render(name: str, **values: Any) -> Rendered:
    """Both forms of a mail and its subject."""
    given = site_values() | values
    plain = environment().get_template(f"{name}.txt")
    subject = "".join(plain.blocks["subject"](plain.new_context(given)))
    html = environment().get_template(f"{name}.html").render(given, subject=" ".join(subject.split()))
    return Rendered(" ".join(subject.split()), html, plain.render(given).strip() + "\n")


@lru_cache(maxsize=1)
def environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

    return Environment(
        loader=FileSystemLoader([_TEMPLATES / "own" / "email", _TEMPLATES / "email"]),
        # By the ending, for the plain twin must show `Tom & Jerry` as it is.
        autoescape=select_autoescape(enabled_extensions=("html",), default=False),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )


def site_values() -> dict[str, str]:
    """What every template may say about this deployment."""
    now = settings.current()
    return {
        "lang": now.site_lang,
        "site_name": now.site_name,
        "site_url": now.site_url,
        "contact_email": now.contact_email,
        "postal_address": now.postal_address,
        "colour": now.site_color,
        "ink": ink_on(now.site_color),
    }
