"""Which entries a push says were deleted: the tombstones of RFC 6721 in its body."""

_DELETED = "http://purl.org/atompub/tombstones/1.0 deleted-entry"
# The parser repeats the namespace with every name, so its work may grow with the square of the size.
_LARGEST = 100_000
_MOST = 50
_LONGEST_REF = 200


class _Declares(Exception):
    """A document type, with which a small body can become a large one."""


def find(body: bytes) -> tuple[str, ...]:
    """The `ref` of each, at most 50 of them. A body that is large or not well-formed XML names none."""
    from xml.parsers import expat

    if len(body) > _LARGEST:
        return ()

    refs: dict[str, None] = {}

    def opened(name: str, attributes: dict[str, str]) -> None:
        ref = attributes.get("ref", "").strip()
        if name == _DELETED and 0 < len(ref) <= _LONGEST_REF and len(refs) < _MOST:
            refs[ref] = None

    parser = expat.ParserCreate("utf-8", namespace_separator=" ")
    parser.StartElementHandler, parser.StartDoctypeDeclHandler = opened, _refuse
    try:
        parser.Parse(body, True)
    except (expat.ExpatError, _Declares):
        return ()
    return tuple(refs)


def _refuse(*declared: object) -> None:
    raise _Declares
