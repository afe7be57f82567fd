"""A proxy between the app and the embedded AWS that can refuse, delay or lose answers."""

import contextlib
import random
import socket
import threading
import time


class Proxy:
    """`mode` is one of: `pass`; `refuse` hangs up on everybody; `delay` lets every answer wait for `seconds`;
    `lose` passes requests on and hangs up instead of answering, so that what was asked for is done unheard; `flaky`
    does any of these now and then."""

    def __init__(self, seed: int = 1) -> None:
        self._chance = random.Random(seed)
        self.mode = "pass"
        self.seconds = 0.0
        self.lost = 0
        self.upstream = 0
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def start(self, upstream: int) -> None:
        self.upstream = upstream
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self) -> None:
        self._listener.close()

    def _now(self) -> str:
        if self.mode != "flaky":
            return self.mode
        return self._chance.choices(("pass", "refuse", "delay", "lose"), (70, 5, 10, 15))[0]

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                if self._now() == "refuse":
                    raise ConnectionError
                server = socket.create_connection(("127.0.0.1", self.upstream), 5)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            for pair in ((client, server, False), (server, client, True)):
                threading.Thread(target=self._pump, args=pair, daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, answers: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                mode = self._now()
                if mode == "refuse" or (answers and mode == "lose"):
                    self.lost += 1
                    break
                if answers and mode == "delay":
                    time.sleep(self.seconds)
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
