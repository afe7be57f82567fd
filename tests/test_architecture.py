"""The rules of the house, checked by reading imports: who may know what, and in which direction."""

import ast
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.house import (
    HOUSE,
    MODULES,
    ROOT,
    at_start_up,
    home,
    imports,
    is_store,
    libraries,
    offenders,
    place,
    room_of,
    tree,
    used,
)

# A room may import from rooms of earlier lines; within a line, as long as no circle comes of it.
ORDER = [
    {"kernel"},
    {"web", "mail", "access"},
    {"events"},
    {"media", "site"},
    {"audience"},
    {"bounces"},
    {"campaigns"},
    {"feeds", "members"},
    {"inbox"},
    {"sightings", "following"},
    {"admin"},
]
RANK = {room: rank for rank, rooms in enumerate(ORDER) for room in rooms}
# What every room is built on: all of it may be used, except where a rule below says otherwise.
GROUND = {"kernel", "web", "mail", "access"}
ALWAYS_PUBLIC = {"service", "model"}

HEAVY = {
    "PIL",
    "bcrypt",
    "boto3",
    "css_inline",
    "cryptography",
    "email_validator",
    "feedparser",
    "jinja2",
    "jwt",
    "nh3",
    "zoneinfo",
}
PYNAMODB_KERNEL = {"kernel/aws/connection.py", "kernel/aws/tables.py", "kernel/limits.py", "kernel/locks.py"}
# Signing and sending by hand is for hot paths alone: docs/decisions/0082 has the figures.
RAW = "kernel/aws/raw"
RAW_OUTSIDE_STORES = {"kernel/aws/queues.py", "mail/bulk.py"}


def test_every_room_has_its_folderin_the_order():
    rooms = {path.name for path in HOUSE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert rooms <= set(RANK), "a new room: say in ORDER whom it may know"


def test_rooms_import_in_one_direction_only():
    breaks = {
        place(module): {used for used in used(module) if RANK.get(used.split("/")[0], 0) > RANK[room_of(module)]}
        for module in MODULES
        if room_of(module) in RANK
    }
    assert not offenders(breaks)


def test_rooms_of_one_line_form_no_circle():
    pairs = {
        (room_of(module), room)
        for module in MODULES
        if room_of(module) in RANK
        for room in (used.split("/")[0] for used in used(module))
        if room in RANK and room != room_of(module) and RANK[room] == RANK[room_of(module)]
    }
    assert not {pair for pair in pairs if pair[::-1] in pairs}


def test_a_store_is_used_by_its_own_folder_and_those_inside_it():
    """A folder within a room keeps its stores to itself: `events/webhooks/store` is not for `events`."""
    breaks = {
        place(module): {
            used for used in used(module) if is_store(used) and not place(module).startswith(home(used) + "/")
        }
        for module in MODULES
    }
    assert not offenders(breaks), "call the service beside that store"


def test_what_reads_tables_is_called_a_store():
    """By what it does, whatever its name: pynamodb's rows, or bare calls to DynamoDB."""
    knowing = {place(module) for module in MODULES if "pynamodb" in libraries(module)}
    knowing |= {place(module) for module in MODULES if _is_raw(module)}
    strangers = {place for place in knowing if not is_store(place.removesuffix(".py"))}
    assert strangers <= PYNAMODB_KERNEL | RAW_OUTSIDE_STORES


def _is_raw(module: Path) -> bool:
    return RAW in used(module)


def test_bare_calls_are_confined_to_hot_paths():
    users = {place(module) for module in MODULES if _is_raw(module)}
    hot = {
        "audience/stores/capture_metadata.py",
        "audience/stores/listing.py",
        "audience/stores/places.py",
        "audience/stores/recipients.py",
        "audience/stores/search.py",
        "campaigns/sending/part_row_store.py",
        "campaigns/sending/part_store.py",
        "campaigns/sending/wave_store.py",
        "site/current_store.py",
    }
    assert users == RAW_OUTSIDE_STORES | hot


def test_a_room_is_used_through_its_public_face():
    """`service` and `model`, and what the room's docstring names after "Other rooms use:"."""
    breaks = {
        place(module): {used for used in used(module) if not _is_public(used, room_of(module))} for module in MODULES
    }
    assert not offenders(breaks), "import the room's service or model, or name the module in its docstring"


def _is_public(used: str, by: str) -> bool:
    room, _, rest = used.partition("/")
    faces = ALWAYS_PUBLIC | _named_public(room) if room not in GROUND | {by} else set()
    return room in GROUND | {by} or any(rest == face or rest.startswith(f"{face}/") for face in faces)


@cache
def _named_public(room: str) -> set[str]:
    """Names in backticks, up to the end of the paragraph."""
    docstring = ast.get_docstring(tree(HOUSE / room / "__init__.py")) or ""
    paragraph = docstring.partition("Other rooms use:")[2].partition("\n\n")[0]
    return {name.replace(".", "/") for name in re.findall(r"`([a-z_.]+)`", paragraph)}


def test_what_a_room_names_as_public_is_there():
    rooms = [path.name for path in HOUSE.iterdir() if (path / "__init__.py").exists()]
    named = {f"{room}/{name}" for room in rooms for name in _named_public(room)}
    assert {"audience/recipients", "feeds/reading", "campaigns/sending/progress"} <= named
    assert not [place for place in named if not ((HOUSE / f"{place}.py").exists() or (HOUSE / place).is_dir())]
    assert _is_public("feeds/reading/reader", "following")
    assert not _is_public("audience/jobs", "admin")
    assert not _is_public("audience", "admin")


def test_handlers_and_bodies_are_used_by_their_own_folder_and_those_inside_it():
    def is_private(used: str) -> bool:
        name = used.rpartition("/")[2]
        return name.endswith("handlers") or name in ("bodies", "routes") or used.startswith("admin/pages/")

    breaks = {
        place(module): {
            used
            for used in used(module)
            if is_private(used) and not place(module).startswith(used.rpartition("/")[0] + "/")
        }
        for module in MODULES
    }
    assert not offenders(breaks), "what two rooms need belongs to a service"


def test_route_tables_are_data_and_name_functions_that_exist():
    from chalicelib.web import routing

    for table in HOUSE.glob("*/routes.py"):
        assert used(table) == {"web/routing"}, f"{place(table)}: handlers are imported at their first request"
    routes = list(routing.all_routes())
    assert all(callable(routing.load(route.handler)) and callable(routing.load(route.errors)) for route in routes)
    assert {table.parent.name for table in HOUSE.glob("*/routes.py")} == set(routing.ROOMS)


def test_api_gateway_has_room_for_every_path():
    """It allows 300 resources: every part of every path is one, and the root is another."""
    from chalicelib.web import routing

    paths = {route.path.strip("/") for route in routing.all_routes()}
    parts = [path.split("/") for path in paths if path]
    resources = {tuple(names[:length]) for names in parts for length in range(1, len(names) + 1)}
    assert len(resources) + 1 <= 300


def test_only_settings_reads_the_environment():
    readers = {
        place(module)
        for module in MODULES
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv"} and ast.unparse(node.value) == "os"
    }
    readers |= {
        place(module)
        for module in MODULES
        for node in ast.walk(tree(module))
        if (isinstance(node, ast.ImportFrom) and node.module == "os")
        or (isinstance(node, ast.Import) and any(alias.name == "os" and alias.asname for alias in node.names))
    }
    assert readers <= {"kernel/settings.py"}
    assert "os" not in libraries(ROOT / "app.py")


def test_only_the_session_knows_boto3_and_only_it_makes_clients_for_tables():
    assert {place(module) for module in MODULES if "boto3" in libraries(module)} == {"kernel/aws/session.py"}
    knowing = {place(module) for module in MODULES if "botocore" in libraries(module)}
    assert knowing <= {"kernel/aws/session.py", "kernel/aws/raw.py", "mail/failures.py"}
    clients = {
        place(module)
        for module in MODULES
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("call", "client", "resource")
        if node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value == "dynamodb"
    }
    assert not clients, "tables are reached through a store"


def test_only_the_routing_knows_chalice():
    knowing = {place(module) for module in MODULES if "chalice" in libraries(module)}
    assert knowing == {"web/routing.py"}


def test_the_app_knows_nothing_of_how_it_is_run_locally_tested_or_deployed():
    foreign = {"local", "tests", "deploy", "bench", "moto", "pytest", "yaml"}
    breaks = {place(module): set(libraries(module) & foreign) for module in MODULES}
    assert not offenders(breaks)


def test_what_few_calls_need_is_not_imported_at_start_up():
    breaks = {
        place(module): {name.partition(".")[0] for name in imports(at_start_up(tree(module)))} & HEAVY
        for module in MODULES
    }
    assert not offenders(breaks), "import it in the function that uses it"


def test_a_package_holds_at_most_a_docstring_so_that_importing_one_module_loads_only_that():
    filled = [module for module in MODULES if module.name == "__init__.py" and tree(module).body]
    assert not [
        place(module) for module in filled if len(tree(module).body) > 1 or not ast.get_docstring(tree(module))
    ]


def test_reading_a_feed_knows_only_the_kernel():
    reading = [module for module in MODULES if place(module).startswith("feeds/reading/")]
    breaks = {
        place(module): {used for used in used(module) if not used.startswith(("kernel/", "feeds/reading/"))}
        for module in reading
    }
    assert reading
    assert not offenders(breaks), "followed feeds are read by it too"


def test_reading_an_import_knows_no_tables_and_no_web():
    folder = "audience/imports/reading/"
    known = ("kernel/addresses", "kernel/clock", "kernel/errors", "kernel/spreadsheets", "audience/model", folder)
    reading = [module for module in MODULES if place(module).startswith(folder)]
    breaks = {place(module): {used for used in used(module) if not used.startswith(known)} for module in reading}
    assert reading
    assert not offenders(breaks), "it turns bytes into rows, and nothing else"


_IMPORT_EVERYTHING = """
import importlib, socket, sys

def refuse(*args, **kwargs):
    raise SystemExit("the network was touched while importing " + name)

socket.socket.connect = socket.getaddrinfo = refuse
for name in ["app", *sys.argv[1:]]:
    importlib.import_module(name)
"""


@pytest.mark.parametrize("deployed", [False, True])
def test_nothing_calls_aws_while_it_is_being_imported(deployed):
    names = [".".join(module.relative_to(ROOT).with_suffix("").parts) for module in MODULES]
    environment = {"PATH": "", "AWS_DEFAULT_REGION": "eu-west-1"}
    if deployed:
        environment |= {"AWS_LAMBDA_FUNCTION_NAME": "gna-test", "SECRETS_PATH": "/gna/test"}
    command = [sys.executable, "-W", "error", "-c", _IMPORT_EVERYTHING, *names]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr


_FIRST_REQUEST = """
import json, sys
from tests import conftest
from tests.fixtures.client import Client
from local.gateway.gateway import Gateway
before = set(sys.modules)
import app
Client(Gateway(app.app)).get("/embed.js")
print(json.dumps(sorted(name for name in sys.modules if name.startswith("chalicelib."))))
"""


def test_a_public_request_loads_no_room_it_does_not_visit():
    run = subprocess.run(
        [sys.executable, "-c", _FIRST_REQUEST], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    loaded = [name for name in json.loads(run.stdout.splitlines()[-1]) if name.count(".") > 1]
    others = ("access", "admin", "bounces", "campaigns", "events", "feeds", "mail")
    assert "chalicelib.audience.embed_handlers" in loaded
    tables = (".routes", ".use_keepers")  # what app.py reads, or registers with
    assert not [name for name in loaded if name.split(".")[1] in others and not name.endswith(tables)]
