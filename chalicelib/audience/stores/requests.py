"""A request as text: it waits in the row of its capture, and the token of the link mailed for it has a copy."""

import json
from datetime import datetime

from chalicelib.audience.model import Capture, Request
from chalicelib.kernel import clock


def encode(request: Request) -> str:
    capture = request.capture
    fields = {
        "id": request.id,
        "source": capture.source,
        "source_raw": capture.source_raw,
        "tags": sorted(capture.tags),
        "metadata": capture.metadata,
        "ip_hash": capture.ip_hash,
        "nickname": request.nickname,
        "requested_at": clock.text(request.requested_at),
    }
    if request.lang:
        fields["lang"] = request.lang
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def parse(text: str, expires_at: datetime) -> Request:
    fields = json.loads(text)
    return Request(
        id=fields["id"],
        capture=Capture(
            source=fields["source"],
            source_raw=fields["source_raw"],
            tags=frozenset(fields["tags"]),
            metadata=fields["metadata"],
            ip_hash=fields["ip_hash"],
        ),
        nickname=fields["nickname"],
        requested_at=clock.parse(fields["requested_at"]),
        expires_at=expires_at,
        lang=fields.get("lang"),
    )
