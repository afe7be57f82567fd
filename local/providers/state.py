"""Everything a small provider remembers, in one file that is written anew after each change."""

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from local.providers import catalogue
from local.providers.faults import Faults
from local.providers.model import Episode, Video

NAMES = ("youtube", "spotify")


@dataclass
class Grant:
    """One consent of the person. `access` has the tokens and when each ends; `spent` the refresh tokens that were
    replaced by `refresh`."""

    id: str
    provider: str
    scope: str
    at: float
    refresh: str
    access: dict[str, float] = field(default_factory=dict)
    spent: list[str] = field(default_factory=list)
    revoked: bool = False


@dataclass(frozen=True)
class Code:
    """What a code was given out for. It is used once, within minutes, so it is not kept in the file."""

    provider: str
    redirect_uri: str
    challenge: str
    scope: str
    offline: bool
    at: float


@dataclass(frozen=True)
class Lease:
    """A subscription at the hub."""

    callback: str
    topic: str
    secret: str
    until: float


class State:
    """One process writes; the lock is for its threads."""

    def __init__(self, folder: Path | None) -> None:
        self.lock = threading.RLock()
        self.shift = 0.0  # seconds this clock is ahead, for tests
        self._file = folder / "providers.json" if folder else None
        self.reset(save=False)
        if self._file and self._file.exists():
            self._read(json.loads(self._file.read_text()))
        else:
            self._save()

    def reset(self, save: bool = True) -> None:
        """As if just started on an empty directory."""
        with self.lock:
            self.shift = 0.0
            self.serial = 100
            self.videos = {video.id: video for video in catalogue.first_videos(self.now())}
            self.episodes = {episode.id: episode for episode in catalogue.first_episodes(self.now())}
            self.faults = {name: Faults() for name in NAMES}
            self.grants: list[Grant] = []
            self.codes: dict[str, Code] = {}
            self.leases: list[Lease] = []
            self.calls: Counter[tuple[str, str]] = Counter()
            if save:
                self._save()

    def now(self) -> float:
        return time.time() + self.shift

    def next_serial(self) -> int:
        self.serial += 1
        return self.serial

    @contextmanager
    def change(self) -> Iterator[None]:
        with self.lock:
            yield
            self._save()

    def _save(self) -> None:
        if not self._file:
            return
        kept: dict[str, Any] = {
            "serial": self.serial,
            "videos": [asdict(video) for video in self.videos.values()],
            "episodes": [asdict(episode) for episode in self.episodes.values()],
            "faults": {name: faults.state() for name, faults in self.faults.items()},
            "grants": [asdict(grant) for grant in self.grants],
            "leases": [asdict(lease) for lease in self.leases],
        }
        self._file.parent.mkdir(parents=True, exist_ok=True)
        part = self._file.with_suffix(".part")
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as stream:
            json.dump(kept, stream, ensure_ascii=False)
        os.replace(part, self._file)

    def _read(self, kept: dict[str, Any]) -> None:
        self.serial = kept["serial"]
        self.videos = {each["id"]: Video(**each) for each in kept["videos"]}
        self.episodes = {each["id"]: Episode(**each) for each in kept["episodes"]}
        self.faults = {name: Faults(**kept["faults"][name]) for name in NAMES}
        self.grants = [Grant(**each) for each in kept["grants"]]
        self.leases = [Lease(**each) for each in kept["leases"]]
