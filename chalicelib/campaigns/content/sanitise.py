"""Which HTML of an author goes into an email, and how the rest is reported.

Scripts, handlers, frames, forms and embedded data go; so do styles that could cover something or call home.
"""

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import urljoin, urlsplit

from chalicelib.campaigns.content import styles
from chalicelib.kernel.errors import Invalid

DEEPEST = 200
MOST_ELEMENTS = 20_000
_SCHEMES = {"https", "http", "mailto", "tel"}
_SHELL = {"html", "head", "body", "title", "meta"}  # the frame of a pasted page: nobody misses it
_WITH_CONTENT = {
    "script", "style", "iframe", "object", "embed", "noscript", "template", "title", "svg", "math", "form",
}  # fmt: skip
# Mail programs that do not know these run them into their neighbours.
_DIVISIONS = {"section", "header", "footer", "nav", "main", "article", "aside", "hgroup", "search"}
_MORE_TAGS = {"tfoot", "font", "address", "big", *_DIVISIONS}
_LESS_TAGS = {"map", "area", "data", "time", "rtc"}
_EVERYWHERE = {"align", "dir", "lang", "style", "title", "role", "aria-hidden", "aria-label"}
_ATTRIBUTES = {
    "a": {"href"},
    "img": {"src", "alt", "width", "height", "border", "hspace", "vspace"},
    "table": {"width", "height", "border", "cellpadding", "cellspacing", "bgcolor"},
    "col": {"width", "span", "valign", "bgcolor"},
    "colgroup": {"width", "span", "valign", "bgcolor"},
    "thead": {"valign", "bgcolor"},
    "tbody": {"valign", "bgcolor"},
    "tfoot": {"valign", "bgcolor"},
    "td": {"width", "height", "colspan", "rowspan", "valign", "bgcolor", "nowrap"},
    "th": {"width", "height", "colspan", "rowspan", "valign", "bgcolor", "nowrap", "scope"},
    "tr": {"height", "valign", "bgcolor"},
    "ol": {"start", "type"},
    "ul": {"type"},
    "font": {"color", "face", "size"},
    "blockquote": {"cite"},
    "hr": {"width", "size", "color", "noshade"},
}
_CLASSES = {
    "a": {"button"},
    "p": {"lead", "small", "item-facts", "item-from", "item-text"},
    "div": {"box", "item-end"},
    "table": {"item"},
    "td": {"item-shot", "item-cover", "item-top", "item-gap", "item-words", "item-said"},
}
_ADDRESSES = {("a", "href"), ("img", "src"), ("blockquote", "cite")}
# For style sheets, scripts and browsers: a mail has nothing that would use them.
_UNMISSED = {"class", "id", "name", "target", "rel", "loading", "decoding", "srcset", "sizes", "xmlns", "xml:lang"}
_UNMISSED_PREFIXES = ("data-", "aria-", "mc:", "xmlns:")

_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/<>]*+)([^<>]*+)>")
_NAME = re.compile(r"<([a-zA-Z][^\s/>]{0,40})")
_ATTRIBUTE = re.compile(r"(?<![^\s\"'/])[^\s\"'<>/=]{1,40}(?=\s*=)")
_ADDRESSED = re.compile(r"<(a|img|blockquote)\s(?:[^<>]{0,2000}\s)?(href|src|cite)\s*=", re.IGNORECASE)
_SCHEME = re.compile(r"(?<![a-zA-Z0-9+.-])[a-zA-Z][a-zA-Z0-9+.-]{0,30}(?=:)")
_COLOURED = re.compile(
    r'<[^<>]*\s(?:bgcolor="|style="(?:[^"<>]*;)?background(?:-color)?:(?!transparent|none|inherit|initial|unset))',
    re.IGNORECASE,
)
# Elements without an end, or whose end may be left out because they cannot contain each other.
_FLAT = {
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
    "p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup", "option",
}  # fmt: skip


def clean(markup: str, base_url: str, impersonal: Callable[[str], str]) -> str:
    """`impersonal` makes a text the same for all readers: placeholders are not filled in everywhere."""

    def attribute(tag: str, name: str, value: str) -> str | None:
        if name == "style":
            return styles.clean(impersonal(value)) or None
        return value if name in ("alt", "title", "aria-label") else impersonal(value)

    _check_depth(markup)
    cleaned = _nh3().clean(
        markup,
        tags=(_nh3().ALLOWED_TAGS | _MORE_TAGS) - _LESS_TAGS,
        clean_content_tags=_WITH_CONTENT,
        attributes={**{tag: set(names) for tag, names in _ATTRIBUTES.items()}, "*": _EVERYWHERE},
        allowed_classes={tag: set(names) for tag, names in _CLASSES.items()},
        attribute_filter=attribute,
        url_schemes=_SCHEMES,
        url_relative=lambda url: _absolute(url, base_url),
        link_rel=None,
    )
    _check_depth(cleaned)
    return _with_divisions(cleaned)


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


def has_backgrounds(cleaned: str) -> bool:
    """Whether the author chose backgrounds, which the text is made for."""
    return bool(_COLOURED.search(cleaned))


class _Inventory:
    """What there is in a piece of HTML. nh3 reads it, letting everything through: it stumbles over nothing, while
    html.parser raises at `<![` and takes minutes for tags that never end."""

    def __init__(self, markup: str) -> None:
        # Looked for apart, because nh3 lets no address through that makes no sense, such as `https://`.
        self.attributes = {(tag.lower(), name.lower()) for tag, name in _ADDRESSED.findall(markup)} & _ADDRESSES
        self.schemes: set[str] = set()
        self.styles: set[str] = set()
        everything = _nh3().clean(
            markup,
            tags={name.lower() for name in _NAME.findall(markup)},
            clean_content_tags=set(),
            attributes={"*": {name.lower() for name in _ATTRIBUTE.findall(markup)}},
            attribute_filter=self._see,
            url_schemes={scheme.lower() for scheme in _SCHEME.findall(html.unescape(markup))},
            link_rel=None,
        )
        self.tags = Counter(name[:30] for name in _NAME.findall(_with_divisions(everything)))

    def _see(self, tag: str, name: str, value: str) -> str:
        tag = "div" if tag in _DIVISIONS else tag[:30]
        if name == "style":
            self.styles |= styles.properties(value)
        elif name not in _UNMISSED and not name.startswith(_UNMISSED_PREFIXES):
            self.attributes.add((tag, name[:30]))
        if (tag, name) in _ADDRESSES:
            self.schemes |= _foreign_scheme(value)
        return value


def _with_divisions(cleaned: str) -> str:
    """`section` and its like become `div`. Only in cleaned HTML is everything that looks like a tag one."""

    def rename(match: re.Match[str]) -> str:
        return f"<{match[1]}div{match[3]}>" if match[2] in _DIVISIONS else match[0]

    return _TAG.sub(rename, cleaned)


def _check_depth(markup: str) -> None:
    """Mail programs give up long before, and what inlines the styles would crash. An end tag also ends what is open
    inside. What looks closed here may still be open to nh3, so `clean` checks its result as well; the time nh3 takes
    for that grows with the square of the depth, and is bounded by the number of elements."""
    inside: list[str] = []
    for end, written, rest in _limited(_TAG.finditer(markup)):
        name = written.lower()
        if name in _FLAT or rest.endswith("/"):
            continue
        if not end:
            inside.append(name)
        elif name in inside:
            del inside[len(inside) - 1 - inside[::-1].index(name) :]
        if len(inside) > DEEPEST:
            raise Invalid(f"Body has elements nested more than {DEEPEST} deep: close every tag that is opened")


def _limited(tags: Iterable[re.Match[str]]) -> Iterator[tuple[str, str, str]]:
    elements = 0
    for tag in tags:
        end, name, rest = tag.groups()
        elements += not end
        if elements > MOST_ELEMENTS:
            raise Invalid(f"Body has more than {MOST_ELEMENTS:,} elements")
        yield end, name, rest


def _foreign_scheme(url: str) -> set[str]:
    try:
        scheme = urlsplit("".join(url.split())).scheme.lower()
    except ValueError:
        return set()
    return {scheme[:20]} - _SCHEMES - {""}


def _absolute(url: str, base_url: str) -> str | None:
    try:
        return urljoin(base_url + "/", url) if not url.startswith("#") else None
    except ValueError:
        return None


def _nh3() -> Any:
    import nh3

    return nh3
