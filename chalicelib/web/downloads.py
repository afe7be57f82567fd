"""Files that are made while they are answered. One too large for an answer is put aside, and fetched by a link."""

import json
from collections.abc import Iterator
from itertools import chain

from chalicelib.kernel.aws import files
from chalicelib.web import responses
from chalicelib.web.responses import Response

# Lambda allows answers of 6 MB, measured as JSON, in which an accented letter takes six bytes.
LARGEST_ANSWER = 5_500_000


def answer(parts: Iterator[str], content_type: str, filename: str) -> Response:
    """The file itself or, when it is too large for one answer, a redirect to a link that works for five minutes."""
    held, size = [], 0
    for part in parts:
        held.append(part)
        size += len(json.dumps(part))
        if size > LARGEST_ANSWER:
            return responses.redirect(files.publish(map(str.encode, chain(held, parts)), content_type, filename))
    return responses.attachment("".join(held), content_type, filename)
