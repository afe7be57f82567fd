"""What a million mails would cost on AWS, from the requests, units and CPU seconds of a real run, and whether a mail
costs the same in a small delivery as in a large one."""

from bench import sending
from bench.sending import Run
from bench.table import Row, at_most, growth
from chalicelib.campaigns.review import prices

_MEMORY_GB = 0.5
# A function gets a full CPU at 1,769 MB, and a share of one below.
_CPU_SHARE = 512 / 1769
_MILLION = 1_000_000


def rows() -> list[Row]:
    _, runs = sending.measured()
    large = runs[-1]
    shares = ", ".join(f"{name} ${price * _MILLION / large.people:.3f}" for name, price in _dollars(large).items())
    return [
        at_most("cost: a million mails beside SES's $100", _per_mail(large) * _MILLION, 0.10, " $", shares),
        growth(
            "cost: a mail in millionths of a dollar", {run.people: _per_mail(run) * _MILLION for run in runs}, 1.1
        ),
        Row("cost: write units per 1,000 mails", "", f"{large.measured['write_units'] / large.people * 1000:.1f}"),
        Row("cost: read units per 1,000 mails", "", f"{large.measured['read_units'] / large.people * 1000:.1f}"),
    ]


def _per_mail(run: Run) -> float:
    return sum(_dollars(run).values()) / run.people


def _dollars(run: Run) -> dict[str, float]:
    measured = run.measured
    seconds = max(measured["wall"], measured["cpu"] / _CPU_SHARE)
    return {
        "Lambda": seconds * _MEMORY_GB * prices.LAMBDA_PER_GB_SECOND + prices.LAMBDA_PER_REQUEST,
        "DynamoDB": measured["write_units"] * prices.DYNAMODB_PER_WRITE_UNIT
        + measured["read_units"] * prices.DYNAMODB_PER_READ_UNIT,
        "SQS": measured["queue_requests"] * prices.SQS_PER_REQUEST,
    }
