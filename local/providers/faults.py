"""What a small provider is set to do wrong."""

from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass
class Faults:
    """Settable by `POST /control/faults`, field by field; `{"reset": true}` puts everything back first.

    outage        503 from everything but the pages
    revoked       the person has withdrawn their consent: refreshing is refused, and tokens are not accepted
    quota         nothing is left of the day
    search_quota  nothing is left of the day's searches (YouTube counts them apart)
    rate_limit    too many requests; this many seconds to wait
    slow          this many seconds before every answer
    short_pages   at most so many items on a page, though more were asked for
    broken        answers that are not JSON
    hub_down      the hub takes no subscriptions and pushes nothing (YouTube)
    """

    outage: bool = False
    revoked: bool = False
    quota: bool = False
    search_quota: bool = False
    rate_limit: int = 0
    slow: float = 0.0
    short_pages: int = 0
    broken: bool = False
    hub_down: bool = False

    def tell(self, orders: dict[str, Any]) -> None:
        kinds = {each.name: type(each.default) for each in fields(self)}
        for name, value in orders.items():
            if name != "reset" and name not in kinds:
                raise ValueError(f"unknown: {name}")
            if name != "reset" and not _fits(value, kinds[name]):
                raise ValueError(f"{name} must be {kinds[name].__name__}")
        if orders.get("reset"):
            self.__dict__.update(Faults().__dict__)
        self.__dict__.update({name: value for name, value in orders.items() if name != "reset"})

    def state(self) -> dict[str, Any]:
        return asdict(self)

    def active(self) -> list[str]:
        return [name for name, value in self.state().items() if value]


def _fits(value: Any, kind: type) -> bool:
    if kind is bool:
        return isinstance(value, bool)
    whole = isinstance(value, int) and not isinstance(value, bool)
    return (whole or (kind is float and isinstance(value, float))) and value >= 0
