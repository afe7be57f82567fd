"""`make demo`: adds a few hundred subscribers and some campaigns to a local Gna, running or stopped."""

import fcntl
import json
import os
import random
import sys
from contextlib import ExitStack
from datetime import datetime, timedelta

from local import options as _options
from local.emulator import Emulator, EmulatorFailed
from local.options import PREFIX, BadOption, Options

_SUBSCRIBERS = 300
_NAMES = """
Ada Amira Anton Aoife Beatriz Bo Chidi Clara Dana Diego Edith Elif Emeka Esme Farid Fatou Finn Greta Hana Hugo Ines
Ivo Jamal Jun Kaia Kofi Lena Liam Lucía Maeve Malik Marta Mei Milo Nadia Nils Noor Olga Omar Otto Pia Priya Quinn
Rania Rosa Sami Sanne Sofia Tariq Tess Uma Vera Wanda Xin Yara Yusuf Zeynep Zoë
"""
_SOURCES = (("demo-blog", ("garden",)), ("footer", ()), ("seed-swap", ("seeds", "local")))
_LETTERS = (
    (
        "What to do in the garden when it rains",
        "<p>Mostly: nothing. Sharpen the hoe, label last year’s seed, drink something hot.</p>"
        "<p>The rain does the rest, and it does not need to be told where the beans are.</p>",
    ),
    (
        "Seven beans worth the string",
        "<p>A short list, in the order of how sorry I would be to lose them.</p>"
        "<ol><li>Borlotti</li><li>Cherokee Trail of Tears</li><li>Blauhilde</li><li>Greek Gigantes</li></ol>"
        "<p>The other three are on the blog.</p>",
    ),
)


def main() -> int:
    try:
        options = _options.read(os.environ)
        with ExitStack() as ending:
            os.environ.update(_environment(options, ending))
            people, campaigns = fill(_SUBSCRIBERS)
    except (BadOption, EmulatorFailed) as failure:
        print(f"gna: {failure}", file=sys.stderr)
        return 1
    print(f"gna: added {people} subscribers and {campaigns} campaigns")
    return 0


def _environment(options: Options, ending: ExitStack) -> dict[str, str]:
    """The environment of the running Gna, or of an emulator started just now on the same data."""
    options.folder.mkdir(parents=True, exist_ok=True)
    lock = ending.enter_context((options.folder / "lock").open("w"))
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        running = options.folder / "running.json"
        if not running.exists():
            raise BadOption("Gna is just starting or stopping: try again in a moment") from None
        return {str(name): str(value) for name, value in json.loads(running.read_text()).items()}
    emulator = Emulator(options.folder / "emulator")
    ending.callback(emulator.stop)
    emulator.start()
    emulator.deploy(PREFIX)
    return _options.environment(options, os.environ) | emulator.environment


def fill(subscribers: int) -> tuple[int, int]:
    """Imports come late: the environment at import time fixes the names of the tables."""
    chance = random.Random()
    people = sum(_add_subscriber(chance) for _ in range(subscribers))
    return people, _add_campaigns()


def _add_subscriber(chance: random.Random) -> bool:
    from chalicelib.kernel import clock
    from chalicelib.kernel.aws.failures import Stale

    name, (source, tags) = chance.choice(_NAMES.split()), chance.choice(_SOURCES)
    now = clock.now()
    pending = chance.random() < 0.1
    asked = now - (timedelta(hours=chance.random() * 20) if pending else timedelta(days=90 * chance.random() ** 2))
    confirmed = None if pending else min(now, asked + timedelta(minutes=chance.randrange(1, 90)))
    try:
        sign_up(f"{_plain(name)}.{chance.randrange(10**6)}@example.org", name, (source, tags), asked, confirmed)
    except Stale:
        return False  # there is somebody with that name already
    return True


def sign_up(
    email: str,
    nickname: str | None,
    came_from: tuple[str, tuple[str, ...]],
    asked: datetime,
    confirmed: datetime | None,
) -> str:
    """Somebody who signed up then, at a source and with tags, and confirmed or did not; their id."""
    from chalicelib.audience import counts, model
    from chalicelib.audience.stores import captures
    from chalicelib.audience.stores import subscribers as store
    from chalicelib.kernel import ids
    from chalicelib.kernel.aws import tables

    source, tags = came_from
    person = model.Subscriber(
        id=ids.new(),
        email=email,
        nickname=nickname,
        status=model.PENDING,
        unsubscribe_secret=ids.secret(),
        created_at=asked,
        activated_at=None,
        confirmation_expires_at=asked + model.CONFIRMATION_LIFE,
        sources=frozenset(),
        tags=frozenset(),
        requested_sources=frozenset({source}),
    )
    capture = model.parse_capture(source, list(tags), None, None)
    request = model.Request(ids.new(), capture, nickname, asked, asked + model.CONFIRMATION_LIFE)
    tables.transact(*store.create_writes(person, asked), captures.request_write(person, request))
    if confirmed:
        tables.transact(
            *store.activate_writes(person, request, confirmed, keep_waiting=False),
            captures.confirm_write(person.id, request, request, confirmed, keep_waiting=False),
            *counts.move_writes(confirmed, joined=[person]),
        )
    return person.id


def _add_campaigns() -> int:
    """Two sent campaigns, one scheduled for next week, one draft."""
    from chalicelib.campaigns import service
    from chalicelib.kernel import clock

    for subject, body in _LETTERS:
        service.send_now(service.create(service.Draft(subject, body)).campaign.id)
    waiting = service.create(service.Draft("The bench, one year on", "<p>It has been sat on.</p>"))
    service.schedule(waiting.campaign.id, clock.text(clock.now() + timedelta(days=7)))
    service.create(service.Draft("Untitled thoughts about compost", "<p>Warm, and getting warmer.</p>"))
    return len(_LETTERS) + 2


def _plain(name: str) -> str:
    return name.lower().replace("í", "i").replace("ë", "e")


if __name__ == "__main__":
    sys.exit(main())
