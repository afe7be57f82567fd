"""The web app manifest: installed on a phone, the inbox is among the targets of its share sheet."""

import json

from chalicelib.kernel import publication
from chalicelib.web import responses
from chalicelib.web.responses import Response

# As short as a change of name or colour may take to show.
_KEPT = 30


def manifest(home: str) -> Response:
    """`home` is the path of the inbox; what is shared is shown in its form, and saved only by that."""
    current = publication.at_hand()
    told = {
        "id": home,
        "name": f"{current.name}: inbox",
        "short_name": current.name,
        "start_url": home,
        "scope": home.rpartition("/")[0] or "/",
        "display": "standalone",
        "theme_color": current.colours.accent,
        "background_color": "#f6f5f1",
        "icons": [{"src": "/icon.svg", "sizes": "any", "type": "image/svg+xml", "purpose": "any"}],
        "share_target": {
            "action": f"{home}/add",
            "method": "GET",
            "params": {"title": "title", "text": "text", "url": "url"},
        },
    }
    answer = responses.asset(json.dumps(told), "application/manifest+json", _KEPT)
    # Behind a sign-in, so for nobody else to keep.
    return answer.with_headers(Cache_Control=f"private, max-age={_KEPT}", Cross_Origin_Resource_Policy="same-origin")
