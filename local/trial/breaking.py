"""Everything that can be broken on purpose, one function each. `random.Random` decides how long and how often."""

import random
import threading
import time
from collections.abc import Callable

from local.options import PREFIX
from local.trial.receiver import Receiver
from local.trial.sources import Sources
from local.trial.stack import Stack

QUEUES = ("audience", "deliveries", "sending", "mail-events", "events", "feed")
_SHORT = 8  # a message comes again while the first worker is still processing it
CALM = 30
_emulator = threading.Lock()  # one fault at a time: while frozen it could not save its data for a restart
_processes = threading.Lock()


class Breaker:
    def __init__(self, stack: Stack, receiver: Receiver, seed: int) -> None:
        self._stack, self._receiver = stack, receiver
        self._sources = Sources(stack.options.providers_url)
        self._chance = random.Random(seed)
        self.done: dict[str, int] = {}

    def go_on(self, seconds: float) -> None:
        """One fault after another with a short pause between, all of them before any is repeated; now and then two at
        once."""
        until, deck = time.monotonic() + seconds, list[Callable[[], None]]()
        while time.monotonic() < until:
            time.sleep(self._chance.uniform(0.5, 5))
            if len(deck) < 2:
                deck = self._chance.sample(self._faults(), len(self._faults()))
            faults = [deck.pop() for _ in range(2 if self._chance.random() < 0.4 else 1)]
            threads = [threading.Thread(target=self._break, args=(fault,)) for fault in faults]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.stop()

    def stop(self) -> None:
        assert self._stack.proxy
        self._stack.proxy.mode = "pass"
        self._stack.thaw()
        self._stack.mailbox.tell(reset=True)
        self._receiver.down = False
        self._sources.tell(reset=True)
        self._stack.tend()

    def _faults(self) -> list[Callable[[], None]]:
        return [
            self.freeze_emulator,
            self.restart_emulator,
            self.refuse,
            self.delay,
            self.lose,
            self.be_flaky,
            self.kill_workers,
            self.kill_app,
            self.kill_in_flight,
            self.freeze_workers,
            self.freeze_app,
            self.freeze_ses,
            self.lose_answers_of_ses,
            self.refuse_at_ses,
            self.stop_receiver,
            self.freeze_providers,
            self.stop_providers,
            self.slow_providers,
            self.break_answers_of_providers,
            self.stop_hub,
        ]

    def _break(self, fault: Callable[[], None]) -> None:
        name = fault.__name__.replace("_", " ")
        self.done[name] = self.done.get(name, 0) + 1
        fault()

    def freeze_emulator(self) -> None:
        with _emulator:
            self._frozen("emulator", 0.5, 12)

    def restart_emulator(self) -> None:
        with _emulator:
            self._stack.restart_emulator()
            hurry(self._stack)

    def refuse(self) -> None:
        self._misbehave("refuse", 0.5, 4)

    def delay(self) -> None:
        assert self._stack.proxy
        self._stack.proxy.seconds = self._chance.uniform(0.1, 1.5)
        self._misbehave("delay", 1, 5)

    def lose(self) -> None:
        """Requests are carried out, and the answers are lost."""
        self._misbehave("lose", 0.2, 3)

    def be_flaky(self) -> None:
        """Only some answers, so that a retry gets through and meets what the first attempt did."""
        self._misbehave("flaky", 3, 9)

    def kill_workers(self) -> None:
        self._killed("workers")

    def kill_app(self) -> None:
        self._killed("app")

    def kill_in_flight(self) -> None:
        """Requests of a killed process are carried out after its end."""
        with _emulator:
            self._stack.freeze("emulator")
            time.sleep(self._chance.uniform(0.1, 2))
            with _processes:
                for name in ("workers", "app"):
                    self._stack.kill(name)
                self._stack.thaw_one("emulator")
                for name in ("workers", "app"):
                    self._stack.begin(name)

    def freeze_workers(self) -> None:
        self._frozen("workers", 1, 8)

    def freeze_app(self) -> None:
        self._frozen("app", 1, 5)

    def freeze_ses(self) -> None:
        self._frozen("mailbox", 1, 25)  # also longer than a worker waits for it

    def lose_answers_of_ses(self) -> None:
        self._stack.tell_ses(lose_answers=self._chance.randint(1, 4))

    def refuse_at_ses(self) -> None:
        fault = {"code": "InternalFailure", "status": 500, "share": 0.5}
        self._stack.tell_ses(fail=fault, throttle=0.3, entries={"*": "TRANSIENT_FAILURE"}, entries_share=0.02)
        time.sleep(self._chance.uniform(1, 4))
        self._stack.tell_ses(fail=None, throttle=0.0, entries={})

    def stop_receiver(self) -> None:
        self._receiver.down = True
        time.sleep(self._chance.uniform(1, 3))
        self._receiver.down = False

    def freeze_providers(self) -> None:
        self._frozen("providers", 1, 12)  # also longer than a poll waits

    def stop_providers(self) -> None:
        self._fail("outage", True, 2, 10)

    def slow_providers(self) -> None:
        self._fail("slow", self._chance.uniform(0.5, 4), 2, 8)

    def break_answers_of_providers(self) -> None:
        self._fail("broken", True, 1, 6)

    def stop_hub(self) -> None:
        """Nothing is pushed, and only polls find what is new."""
        self._fail("hub_down", True, 5, 15)

    def _fail(self, fault: str, value: bool | float, shortest: float, longest: float) -> None:
        self._sources.tell(**{fault: value})
        time.sleep(self._chance.uniform(shortest, longest))
        self._sources.tell(**{fault: type(value)()})

    def _misbehave(self, mode: str, shortest: float, longest: float) -> None:
        assert self._stack.proxy
        self._stack.proxy.mode = mode
        time.sleep(self._chance.uniform(shortest, longest))
        self._stack.proxy.mode = "pass"

    def _frozen(self, name: str, shortest: float, longest: float) -> None:
        self._stack.freeze(name)
        time.sleep(self._chance.uniform(shortest, longest))
        self._stack.thaw_one(name)

    def _killed(self, name: str) -> None:
        with _processes:
            self._stack.kill(name)
            time.sleep(self._chance.uniform(0, 2))
            self._stack.begin(name)


def hurry(stack: Stack, seconds: int = _SHORT) -> None:
    """Shorten the time after which a message that is being processed comes again."""
    sqs = stack.aws("sqs")
    for queue in QUEUES:
        url = sqs.get_queue_url(QueueName=f"{PREFIX}-{queue}")["QueueUrl"]
        sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": str(seconds)})
