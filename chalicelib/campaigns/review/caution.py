"""What an editor should know before the first campaign to people who were imported."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from chalicelib.bounces.failing import PAUSED_AT, REVIEWED_AT
from chalicelib.campaigns.model import Delivery
from chalicelib.campaigns.sending import waves
from chalicelib.kernel import settings
from chalicelib.kernel.findings import Finding, Level
from chalicelib.kernel.plurals import count_of

# What SES does: https://docs.aws.amazon.com/ses/latest/dg/reputationdashboardmessages.html
COMPLAINTS_REVIEWED_AT, COMPLAINTS_PAUSED_AT = "0.1%", "0.5%"


def check_imported(imported: int, deliveries: Sequence[Delivery]) -> Iterator[Finding]:
    """How many were never written to, what SES does at which rate, and what is done about it."""
    if not imported:
        return
    message = f"{count_of(imported, 'recipient was', 'recipients were')} imported and never sent a campaign"
    why = (
        f"SES reviews an account at {REVIEWED_AT} bounces or {COMPLAINTS_REVIEWED_AT} complaints, and pauses it at "
        f"{PAUSED_AT} or {COMPLAINTS_PAUSED_AT}"
    )
    few = len(waves.sizes(imported)) == 1
    yield Finding(Level.NOTE if few else Level.WARNING, "imported", message, why, describe(imported, deliveries))


def describe(imported: int, deliveries: Sequence[Delivery]) -> str:
    """What will happen, in one sentence."""
    if not _has_waves(deliveries):
        return "They get it at once, like everybody else"
    sizes = waves.sizes(imported)
    limits = f"{waves.BOUNCED_PERCENT:g}% bounces or {waves.COMPLAINED_PERCENT:g}% complaints"
    if len(sizes) == 1:
        return "They get it after everybody else"
    listed = " and ".join((", ".join(f"{size:,}" for size in sizes[:-1]), f"{sizes[-1]:,}"))
    wait = count_of(settings.current().wave_wait, "minute")
    return f"They get it in waves of {listed}, {wait} apart, and it stops by itself at {limits} of a wave"


def waits(imported: int, deliveries: Sequence[Delivery]) -> timedelta:
    """How much longer it takes because of the waves."""
    between = max(0, len(waves.sizes(imported)) - 1) if _has_waves(deliveries) else 0
    return timedelta(minutes=between * settings.current().wave_wait)


def _has_waves(deliveries: Sequence[Delivery]) -> bool:
    return all(delivery.waves for delivery in deliveries)
