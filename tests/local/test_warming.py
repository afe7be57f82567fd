"""Workers and app may be started before AWS answers."""

import threading

from chalicelib.kernel import limits
from chalicelib.kernel.errors import Unavailable
from local.warming import warm_up


def test_a_process_that_starts_too_early_waits(aws, monkeypatch):
    really, asked = limits.probe, []

    def probe():
        asked.append(1)
        if len(asked) == 1:
            raise Unavailable
        really()

    monkeypatch.setattr(limits, "probe", probe)
    warm_up(threading.Event())
    assert len(asked) == 2


def test_a_waiting_process_stops_when_asked_to(aws, monkeypatch):
    ended = threading.Event()

    def probe():
        ended.set()
        raise Unavailable

    monkeypatch.setattr(limits, "probe", probe)
    warm_up(ended)
