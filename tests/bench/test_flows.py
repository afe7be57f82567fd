"""The benchmarks that use the app as a reader and an editor do: once in memory, so that they break with a change and
not at the next `make bench`."""

import app
from bench import admin, audience, following, imports, members
from chalicelib.kernel import settings
from chalicelib.kernel.aws import session
from chalicelib.kernel.aws.items import typed
from local.gateway.gateway import Gateway
from tests.fixtures.client import Client
from tests.rooms.campaigns.crowd import gather


def test_a_readers_way_can_be_measured(aws, ses):
    counts = {}
    audience._flow(Client(Gateway(app.app)), "ada", counts)
    assert {call for call, sums in counts.items() if not sums["requests"]} == set()


def test_every_list_of_the_dashboard_can_be_measured(aws, ses, configure):
    configure(DISABLE_AUTH="true")
    ask = Client(Gateway(app.app)).get
    gather(3)
    for path in ("/admin/subscribers", "/admin/campaigns", admin._SEARCH):
        assert admin._cost(ask, path)["requests"]


def test_a_members_calls_can_be_measured(aws, configure):
    from chalicelib.members import service

    configure(MEMBERS="open")
    _, value = service.sign_up("ada@example.net", members._PASSWORD, members._PASSWORD, None, "192.0.2.1")
    cookie = {"Cookie": f"__Host-session={value}"}
    for path in (members._ME, members._LIST, members._TEN, members._SEARCH):
        assert members.cost(Client(Gateway(app.app)), "GET", path, cookie)["requests"]


def test_polls_sweeps_and_the_inbox_can_be_measured(aws, providers, configure):
    configure(DISABLE_AUTH="true")
    found = following.measure_polls(providers, (1, 3))
    assert [found[kind]["3"]["quota"] for kind in ("quiet", "news")] == [1, 2]
    assert following.measure_ingest()["requests"]
    sweeps = following.measure_sweeps((10, 20), _fill)
    assert sweeps["10"]["requests"] == sweeps["20"]["requests"] > 1
    pages = following.measure_pages((100, 110), _fill)
    assert [{cost["requests"] for cost in costs.values()} for costs in pages.values()] == [{4}, {6}]


def _fill(table, items):
    for item in items:
        row = {name: typed(value) for name, value in item.items()}
        session.client("dynamodb").put_item(TableName=f"{settings.current().prefix}-{table}", Item=row)


def test_a_day_of_a_thousand_channels_stays_within_the_quota():
    """By the rules for when they are polled; all begin at once."""
    (spent,) = following.simulate(2, 1, days=1).values()
    assert 1_000 < spent <= 6_000


def test_an_import_can_be_measured(aws, media_bucket):
    assert imports.import_units(3) >= 0
    assert imports.read_twice(10)["megabytes"] > 1
