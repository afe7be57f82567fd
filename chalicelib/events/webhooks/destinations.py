"""Which destinations there are, what each wants to receive and what it is owed: all the outbox knows of webhooks."""

from datetime import datetime

from chalicelib.events.model import Event
from chalicelib.events.webhooks import store
from chalicelib.events.webhooks.model import BUS, Webhook
from chalicelib.kernel import clock, settings
from chalicelib.kernel.aws import tables


def list_webhooks() -> list[Webhook]:
    return store.list_webhooks()


def wanting(event: Event, webhooks: list[Webhook]) -> list[str]:
    """The ids of these webhooks that want the event, and the bus, which wants every event."""
    wanted_by = [webhook.id for webhook in webhooks if webhook.wants(event.type)]
    return [*wanted_by, BUS] if settings.current().event_bus else wanted_by


def owe_write(destination: str, event: Event, moment: datetime) -> tables.Put:
    return store.owe_write(destination, event, moment)


def list_waiting(reached: set[str]) -> list[str]:
    """Destinations that can be sent something and are owed it (those just reached are), and those whose disabling
    has yet to be mailed to the admin."""
    now = clock.now()
    webhooks = store.list_webhooks()
    ready = [webhook.id for webhook in webhooks if webhook.ready(now)] + [BUS] * bool(settings.current().event_bus)
    owed = [id for id in ready if id in reached or store.list_due(id, now, 1)]
    return owed + [webhook.id for webhook in webhooks if webhook.notice_pending]
