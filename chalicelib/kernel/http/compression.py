"""Unpacks a compressed body piece by piece, and notices when its end is missing, which zlib alone does not say."""

import zlib
from collections.abc import Iterable, Iterator

_PIECE = 65_536
_GZIP = 16 + zlib.MAX_WBITS
_GZIP_MAGIC = b"\x1f\x8b"
_FORMATS = {"gzip": _GZIP, "x-gzip": _GZIP, "deflate": zlib.MAX_WBITS}


def unpack(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Pieces of bounded size, however much a chunk unpacks to. `EOFError` if the compressed data ends too early."""
    if encoding not in _FORMATS:
        yield from chunks
        return
    stream = zlib.decompressobj(_FORMATS[encoding])
    begun = False
    for chunk in chunks:
        if not begun and encoding == "deflate" and not _has_zlib_header(chunk):
            stream = zlib.decompressobj(-zlib.MAX_WBITS)  # some servers send it bare
        begun = begun or bool(chunk)
        while chunk:
            if stream.eof:  # a gzip file may consist of several; anything else that follows is ignored
                if encoding == "deflate" or not chunk.startswith(_GZIP_MAGIC):
                    break
                stream = zlib.decompressobj(_GZIP)
            yield stream.decompress(chunk, _PIECE)
            chunk = stream.unused_data if stream.eof else stream.unconsumed_tail
    if begun and not stream.eof:
        raise EOFError


def _has_zlib_header(chunk: bytes) -> bool:
    return len(chunk) < 2 or (chunk[0] & 0x0F == 8 and int.from_bytes(chunk[:2], "big") % 31 == 0)
