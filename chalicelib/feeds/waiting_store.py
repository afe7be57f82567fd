"""What waits, as one row beside the state of its feed. It has no version of its own: whoever writes it writes the
feed's state in the same transaction, over the version that was read before the row was."""

import json
import zlib

import msgspec

from chalicelib.feeds.store import PackedRow
from chalicelib.feeds.waiting import Waiting
from chalicelib.kernel.aws import tables

_WAITING = "waiting"


def load(feed_id: str) -> Waiting:
    row = tables.get(PackedRow, feed_id, _WAITING)
    return msgspec.convert(json.loads(zlib.decompress(row.packed)), Waiting) if row else Waiting()


def waiting_write(feed_id: str, waiting: Waiting) -> tables.Write:
    packed = zlib.compress(json.dumps(msgspec.to_builtins(waiting)).encode(), 6)
    return tables.Put(PackedRow(feed_id, _WAITING, packed=packed))
