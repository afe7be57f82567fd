"""Answers requests: the API of SES under `/v2/email`, faults under `/control`, and the mailbox."""

import asyncio
import json
import re
from pathlib import Path

from local.ses.api import Api
from local.ses.checks import Refusal
from local.ses.events import Publisher
from local.ses.faults import Faults
from local.ses.mailbox import MOST_LISTED, Mailbox
from local.ses.wire import Reply, Request, json_reply

_PAGE = Path(__file__).parent / "mailbox.html"
_SUMMARY = ("id", "at", "to", "from", "subject")
_DARK_QUERY = re.compile(r"\(\s*prefers-color-scheme\s*:\s*dark\s*\)")
_PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
    "frame-src 'self'"
)
# A mail is untrusted: no scripts, no frames, and its links open in a new tab.
_MAIL_POLICY = (
    "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src https: http: data:; "
    "style-src 'unsafe-inline'; font-src https:"
)


class Server:
    """Answers requests on one event loop, so that nothing here needs a lock."""

    def __init__(self, data: Path | None, sink: bool = False, publisher: Publisher | None = None) -> None:
        self.faults = Faults()
        self.publisher = publisher or Publisher()
        self.mailbox = Mailbox(data)
        self.api = Api(None if sink else self.mailbox, self.faults, self.publisher)

    async def answer(self, request: Request) -> Reply | None:
        if request.path.startswith("/v2/email/"):
            return await self._api(request)
        if request.path.startswith("/control"):
            return self._control(request)
        return self._pages(request)

    async def _api(self, request: Request) -> Reply | None:
        if self.faults.delay_ms:
            await asyncio.sleep(self.faults.delay_ms / 1000)
        operation = _operation(request)
        self.api.tally.calls[operation] += 1
        if self.faults.down:
            self.api.tally.answers["none"] += 1
            return None
        reply = self._operate(operation, request)
        if operation.startswith("Send") and self.faults.loses_answer():
            self.api.tally.answers["none"] += 1
            return None
        self.api.tally.answers[str(reply.status)] += 1
        return reply

    def _operate(self, operation: str, request: Request) -> Reply:
        try:
            if operation.startswith("Send") and (failure := self.faults.call_failure()):
                status, code, message = failure
                raise Refusal(code, message, status)
            if operation.startswith("Send"):
                self.api.check_pace()
            match operation:
                case "SendEmail":
                    return self.api.send_email(request.body)
                case "SendBulkEmail":
                    return self.api.send_bulk_email(request.body)
                case "GetAccount":
                    return self.api.account()
                case "GetEmailIdentity":
                    return self.api.identity(request.path.rpartition("/")[2])
            raise Refusal("NotFoundException", "Not an operation of the local SES.")
        except Refusal as refusal:
            return refusal.reply

    def _control(self, request: Request) -> Reply:
        match request.method, request.path:
            case "POST", "/control":
                try:
                    self.faults.tell(json.loads(request.body or b"{}"))
                except (ValueError, AttributeError) as failure:
                    return json_reply({"error": str(failure)}, 400)
                return json_reply(self.faults.state())
            case "GET", "/control":
                return json_reply(self.faults.state())
            case "GET", "/control/stats":
                return json_reply(self.api.tally.state(request.query.get("addresses") != "false"))
            case "DELETE", "/control/stats":
                self.api.tally.forget()
                self.publisher.recent.clear()
                return Reply(204)
            case "GET", "/control/events":
                return json_reply(list(self.publisher.recent))
        return Reply(404)

    def _pages(self, request: Request) -> Reply:
        match request.method, request.path:
            case (("GET" | "HEAD"), "/"):
                headers = {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": _PAGE_POLICY}
                return Reply(200, _PAGE.read_bytes(), headers)
            case "GET", "/mailbox.json":
                return self._list(request.query)
            case "DELETE", "/mailbox.json":
                self.mailbox.clear()
                return Reply(204)
        if request.method == "GET" and request.path.startswith("/mailbox/"):
            return self._mail(request.path.removeprefix("/mailbox/"), request.query.get("scheme", ""))
        return Reply(404, b"Nothing here", {"Content-Type": "text/plain"})

    def _list(self, query: dict[str, str]) -> Reply:
        limit = query.get("limit", "")
        found = self.mailbox.list(
            query.get("to", ""), query.get("q", ""), int(limit) if limit.isdigit() else MOST_LISTED
        )
        if "summary" in query:
            mails = [{name: mail[name] for name in _SUMMARY} for mail in found]
            return json_reply({"count": self.mailbox.count(), "mails": mails})
        return json_reply(list(found))

    def _mail(self, name: str, scheme: str) -> Reply:
        mail_id, _, form = name.rpartition(".")
        mail = self.mailbox.get(mail_id)
        if mail is None or form not in ("html", "json"):
            return Reply(404, b"Nothing here", {"Content-Type": "text/plain"})
        if form == "json":
            return json_reply(mail)
        headers = {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": _MAIL_POLICY}
        return Reply(200, _in_scheme(_linked_outside(mail["html"]), scheme).encode(), headers)


def _linked_outside(html: str) -> str:
    """After the doctype, or the browser would show the mail in quirks mode."""
    base = '<base target="_blank">'
    return html.replace("<head>", f"<head>{base}", 1) if "<head>" in html else base + html


def _in_scheme(html: str, scheme: str) -> str:
    """Light or dark as requested, whatever the browser prefers: the media query of the mail gets a fixed answer."""
    if scheme not in ("light", "dark"):
        return html
    html = _DARK_QUERY.sub("(min-width: 0)" if scheme == "dark" else "(max-width: 0)", html)
    return html.replace('name="color-scheme" content="light dark"', f'name="color-scheme" content="{scheme}"')


def _operation(request: Request) -> str:
    match request.method, request.path.removeprefix("/v2/email/"):
        case "POST", "outbound-emails":
            return "SendEmail"
        case "POST", "outbound-bulk-emails":
            return "SendBulkEmail"
        case "GET", "account":
            return "GetAccount"
        case "GET", path if path.startswith("identities/"):
            return "GetEmailIdentity"
    return "Unknown"
