"""Which HTML of an author goes into an email, and how the rest is reported.

Scripts, handlers, frames, forms and embedded data go; so do styles that could hide, cover or call home.
"""

import re
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

_SCHEMES = {"https", "http", "mailto", "tel"}
_SHELL = {"html", "head", "body", "title", "meta"}  # the frame of a pasted page: nobody misses it
_WITH_CONTENT = {
    "script",
    "style",
    "iframe",
    "object",
    "embed",
    "noscript",
    "template",
    "title",
    "svg",
    "math",
    "form",
}
_MORE_TAGS = {"tfoot", "font"}
_LESS_TAGS = {"map", "area", "nav", "header", "footer", "hgroup", "data", "time", "rtc"}
_EVERYWHERE = {"align", "dir", "lang", "style", "title"}
_ATTRIBUTES = {
    "a": {"href"},
    "img": {"src", "alt", "width", "height", "border"},
    "table": {"width", "border", "cellpadding", "cellspacing", "bgcolor", "role"},
    "td": {"width", "height", "colspan", "rowspan", "valign", "bgcolor"},
    "th": {"width", "height", "colspan", "rowspan", "valign", "bgcolor", "scope"},
    "tr": {"valign", "bgcolor"},
    "ol": {"start", "type"},
    "font": {"color", "size"},
    "blockquote": {"cite"},
    "hr": {"width"},
}
_CLASSES = {"a": {"button"}, "p": {"lead", "small"}, "div": {"box"}}
_STYLES = {
    "color", "background-color", "text-align", "text-decoration", "text-transform", "font-family",
    "font-size", "font-style", "font-weight", "letter-spacing", "line-height", "white-space",
    "vertical-align", "width", "max-width", "min-width", "height", "max-height", "margin", "margin-top",
    "margin-right", "margin-bottom", "margin-left", "padding", "padding-top", "padding-right",
    "padding-bottom", "padding-left", "border", "border-top", "border-right", "border-bottom", "border-left",
    "border-color", "border-style", "border-width", "border-radius", "border-collapse", "border-spacing",
    "list-style-type", "float", "clear",
}  # fmt: skip
_CALL = re.compile(r"(?<!rgb)(?<!rgba)(?<!hsl)(?<!hsla)\(|\\", re.IGNORECASE)  # url(), expression(), and disguises
_ADDRESSES = {("a", "href"), ("img", "src"), ("blockquote", "cite")}


def clean(markup: str, base_url: str, typed: Callable[[str], str]) -> str:
    """`typed` gives back what the author wrote where it would otherwise differ from reader to reader."""
    import nh3

    def attribute(tag: str, name: str, value: str) -> str | None:
        if name == "style" and _CALL.search(value):
            return None
        return value if name in ("alt", "title") else typed(value)

    return nh3.clean(
        markup,
        tags=(nh3.ALLOWED_TAGS | _MORE_TAGS) - _LESS_TAGS,
        clean_content_tags=_WITH_CONTENT,
        attributes={**{tag: set(names) for tag, names in _ATTRIBUTES.items()}, "*": _EVERYWHERE},
        allowed_classes={tag: set(names) for tag, names in _CLASSES.items()},
        attribute_filter=attribute,
        filter_style_properties=_STYLES,
        url_schemes=_SCHEMES,
        url_relative=lambda url: _absolute(url, base_url),
        link_rel=None,
    )


def describe_removed(before: str, after: str) -> list[str]:
    """What was removed, described without repeating it."""
    was, kept = _Inventory(before), _Inventory(after)
    gone = [f"<{tag}> ({count}×)" for tag, count in sorted((was.tags - kept.tags).items()) if tag not in _SHELL]
    gone += [f"{scheme}: addresses" for scheme in sorted(was.schemes - kept.schemes)]
    lost = {(tag, name) for tag, name in was.attributes - kept.attributes if tag in kept.tags}
    lost -= {(tag, name) for tag, name in lost if (tag, name) in _ADDRESSES and was.schemes - kept.schemes}
    gone += [f"{name} on <{tag}>" for tag, name in sorted(lost)]
    gone += [f"style {name}" for name in sorted(was.styles - kept.styles)]
    return gone


class _Inventory(HTMLParser):
    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: set[tuple[str, str]] = set()
        self.schemes: set[str] = set()
        self.styles: set[str] = set()
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        tag = tag[:30]
        self.tags[tag] += 1
        for name, value in attributes:
            self.attributes.add((tag, name[:30]))
            if (tag, name) in _ADDRESSES:
                self.schemes.add(_scheme(value or ""))
            if name == "style":
                self.styles |= _properties(value or "")
        self.schemes.discard("")


def _scheme(url: str) -> str:
    try:
        scheme = urlsplit("".join(url.split())).scheme.lower()
    except ValueError:
        return ""
    return "" if scheme in _SCHEMES else scheme[:20]


def _properties(style: str) -> set[str]:
    return {part.partition(":")[0].strip().lower()[:30] for part in style.split(";") if ":" in part}


def _absolute(url: str, base_url: str) -> str | None:
    try:
        return urljoin(base_url + "/", url) if not url.startswith("#") else None
    except ValueError:
        return None
