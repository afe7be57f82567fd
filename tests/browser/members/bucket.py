"""The bucket of photos as a browser meets it: its CORS answers, its check of a signed form, its files. What it takes
in is in moto's bucket, where the app looks for it.

Neither moto in this process nor the emulator can be it: a browser does not reach the one, and the other has no CORS.
"""

import base64
import json
from urllib.parse import unquote, urlsplit

from chalicelib.kernel.aws import objects
from chalicelib.web import multipart
from local.gateway.gateway import Answer, Headers
from local.gateway.server import Server


class Bucket:
    """`broken` refuses every file, `gone` answers nobody."""

    def __init__(self) -> None:
        self.broken = self.gone = False
        self.site = ""
        self.taken: list[tuple[str, int]] = []  # type and size of every file
        self._server = Server(self._answer, 0)
        self.url = f"http://127.0.0.1:{self._server.port}"

    def start(self) -> None:
        self._server.start()

    def stop(self) -> None:
        self._server.stop()

    def _answer(self, method: str, target: str, headers: Headers, body: bytes, source_ip: str) -> Answer:
        if self.gone:
            raise ConnectionAbortedError
        given = {name.lower(): value for name, value in headers}
        cors = [("Access-Control-Allow-Origin", self.site)] if given.get("origin") == self.site else []
        if method == "OPTIONS":
            allowed = [("Access-Control-Allow-Methods", "POST"), ("Access-Control-Allow-Headers", "*")]
            return Answer(200, [*cors, *allowed], b"")
        if method == "POST":
            return Answer(403 if self.broken else self._take(given["content-type"], body), cors, b"")
        return self._give(unquote(urlsplit(target).path).removeprefix("/"))

    def _take(self, content_type: str, body: bytes) -> int:
        form = multipart.read_form(content_type, body, 50)
        policy = json.loads(base64.b64decode(form.fields["policy"]))
        rules = policy["conditions"]
        agreed = {name: value for rule in rules if isinstance(rule, dict) for name, value in rule.items()}
        least, most = next(rule[1:] for rule in rules if isinstance(rule, list) and "length" in rule[0])
        kept = all(form.fields[name] == agreed[name] for name in ("key", "Content-Type"))
        if not kept or not least <= len(form.files["file"]) <= most:
            return 403
        self.taken.append((agreed["Content-Type"], len(form.files["file"])))
        objects.put(agreed["key"], form.files["file"], agreed["Content-Type"])
        return 204

    def _give(self, key: str) -> Answer:
        found = objects.get(key, 10_000_000)
        if not found:
            return Answer(404, [], b"")
        return Answer(200, [("Content-Type", "image/jpeg"), ("Cache-Control", "private, max-age=600")], found.content)
