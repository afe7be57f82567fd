"""The benchmarks that use the app as a reader and an editor do: once in memory, so that they break with a change and
not at the next `make bench`."""

import app
from bench import admin, audience, members
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
