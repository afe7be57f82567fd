"""The process that answers people: the app behind the local gateway, and the demo site beside it."""

import os
import signal
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

from chalicelib.feeds import service as feeds
from chalicelib.feeds.state import Result, Trigger
from chalicelib.kernel import settings
from local.blog.site import Site
from local.gateway.gateway import Answer, Gateway, Headers
from local.gateway.server import Handle, Server
from local.warming import warm_up


def main() -> int:
    import app

    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    warm_up(ended)
    mailbox = f"http://127.0.0.1:{os.environ['MAIL_PORT']}/"
    site = Site(Path(os.environ["LOCAL_DIR"]) / "site", Gateway(app.app).handle, _check_feed_first, mailbox)
    try:
        server = Server(_for_own_host_only(site.handle), int(os.environ["PORT"]))
    except OSError as failure:
        print(f"gna: port {os.environ['PORT']} cannot be used: {failure.strerror}", file=sys.stderr)
        return 1
    server.start()
    ended.wait()
    server.stop()
    return 0


def _check_feed_first() -> None:
    """The first check of a feed records its entries and mails nothing: it must not come after the first post."""
    for _ in range(50):
        if feeds.view().state.watermark or feeds.check(Trigger.ADMIN).result is not Result.BUSY:
            return
        time.sleep(0.2)


def _for_own_host_only(handle: Handle) -> Handle:
    """/admin may be without authentication here: no website may reach it by pointing its own name to our address."""
    names = {"127.0.0.1", "localhost", urlsplit(settings.current().site_url).hostname}

    def checked(method: str, target: str, headers: Headers, body: bytes, source_ip: str) -> Answer:
        host = next((value for name, value in headers if name.lower() == "host"), "")
        if urlsplit(f"//{host}").hostname not in names:
            return Answer(421, [("Content-Type", "application/json")], b'{"error": "Not a host of this site"}')
        return handle(method, target, headers, body, source_ip)

    return checked


if __name__ == "__main__":
    sys.exit(main())
