"""Checks of a deployed site from outside, without credentials."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from chalicelib.kernel.findings import Finding, error, note

_WEBHOOKS = ("/api/webhooks/feed", "/api/webhooks/websub/doctor")
_ACCESS = "cloudflareaccess.com"


@dataclass(frozen=True)
class Answer:
    status: int
    location: str
    body: bytes


def check_health(site_url: str) -> Iterator[Finding]:
    answer = _ask("GET", f"{site_url}/health")
    if answer is None:
        yield error(f"{site_url} does not respond", "readers cannot reach it", "Check the domain and the deployment")
    elif answer.status != 200:
        why = "something it depends on does not respond"
        yield error(f"/health returns {answer.status}", why, "Look for errors in the log of the API's function")


def check_authentication(url: str) -> Iterator[Finding]:
    """Whether /admin refuses requests without a token. To be called for the site's own URL and for API Gateway's."""
    for path in ("/admin", "/admin/api/subscribers"):
        answer = _ask("GET", url + path)
        if answer is None or answer.status in (401, 403):
            continue
        if answer.status in (302, 303) and _ACCESS in answer.location:
            continue
        if answer.status == 500:
            why = "CF_ACCESS_TEAM_NAME or CF_ACCESS_AUD is missing there"
            yield error(f"{url}{path} returns 500", why, "Set them and deploy again")
        elif answer.status != 404:
            why = "it should reject requests without a token"
            yield error(f"{url}{path} returns {answer.status} without a token", why, "Take it offline and redeploy")


def check_endpoint(url: str, *, disabled: bool) -> Iterator[Finding]:
    """API Gateway's own URL, once the site has a domain. To be called only if it has one."""
    answer = _ask("GET", f"{url}/health")
    if answer is None or answer.status == 403:
        return
    if disabled:
        yield error(f"{url} still answers", "DISABLE_EXECUTE_API is set but not in effect", "Deploy again")
    else:
        why = "whoever calls it there gets around Cloudflare, and can pretend to be another client to the rate limits"
        yield note(f"the API also answers at {url}", why, "Set DISABLE_EXECUTE_API=true and deploy again")


def check_webhooks(site_url: str) -> Iterator[Finding]:
    for path in _WEBHOOKS:
        answer = _ask("POST", site_url + path)
        if answer and 300 <= answer.status < 400:
            why = "its callers do not follow redirects"
            fix = "Exclude /api from the Access application and from redirect rules"
            yield error(f"{path} returns a redirect", why, fix)


def check_keys(certs_url: str) -> Iterator[Finding]:
    answer = _ask("GET", certs_url) if certs_url else None
    try:
        found: Any = json.loads(answer.body) if answer else {}
    except ValueError:
        found = {}
    if certs_url and not (isinstance(found, dict) and found.get("keys")):
        fix = "Check CF_ACCESS_TEAM_NAME; open the address in a browser"
        yield error(f"{certs_url} returns no keys", "every administrator gets a 503", fix)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirect)


def _ask(method: str, url: str) -> Answer | None:
    request = urllib.request.Request(url, b"{}" if method == "POST" else None, method=method)  # noqa: S310
    request.add_header("Content-Type", "application/json")
    request.add_header("User-Agent", "gna-doctor")
    try:
        with _opener.open(request, timeout=10) as answer:
            return Answer(answer.status, answer.headers.get("Location", ""), answer.read(65_536))
    except urllib.error.HTTPError as refusal:
        with refusal:
            return Answer(refusal.code, refusal.headers.get("Location", ""), refusal.read(65_536))
    except OSError:
        return None
