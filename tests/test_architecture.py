"""The rules of the house, checked by reading imports: who may know what, and in which direction."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HOUSE = ROOT / "chalicelib"
MODULES = sorted(HOUSE.rglob("*.py"))

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
    {"sightings", "following"},
    {"inbox"},
    {"admin"},
]
RANK = {room: rank for rank, rooms in enumerate(ORDER) for room in rooms}
# What every room is built on: all of it may be used, except where a rule below says otherwise.
GROUND = {"kernel", "web", "mail", "access"}
ALWAYS_PUBLIC = {"service", "model"}

MEANINGLESS = {"utils", "helpers", "base", "manager", "common", "misc"}
VAGUE = {"of", "at", "one", "told", "left", "having", "shown"}
HEAVY = {"boto3", "css_inline", "cryptography", "email_validator", "feedparser", "jinja2", "jwt", "nh3", "zoneinfo"}
PYNAMODB_KERNEL = {"kernel/aws/tables.py", "kernel/limits.py", "kernel/locks.py"}
# Signing and sending by hand is for hot paths alone: docs/decisions/0082 has the figures.
RAW = "chalicelib.kernel.aws.raw"
RAW_OUTSIDE_STORES = {"kernel/aws/queues.py", "mail/bulk.py"}
LONGEST_MODULE = 300


def _place(module: Path) -> str:
    return module.relative_to(HOUSE).as_posix()


def _room(module: Path) -> str:
    return module.relative_to(HOUSE).parts[0]


@cache
def _tree(module: Path) -> ast.Module:
    return ast.parse(module.read_text(), str(module))


def _imports(nodes: Iterator[ast.AST]) -> Iterator[str]:
    """Dotted names that are imported; `from a import b` counts as `a.b`, which is a module or something in one."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _at_start_up(node: ast.AST) -> Iterator[ast.AST]:
    """What runs when the module is imported: everything outside functions and `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            continue
        yield child
        yield from _at_start_up(child)


@cache
def _libraries(module: Path) -> frozenset[str]:
    return frozenset(name.partition(".")[0] for name in _imports(ast.walk(_tree(module))))


@cache
def _used(module: Path) -> frozenset[str]:
    """The modules of the house this one imports, as paths below it without their ending."""
    names = (name for name in _imports(ast.walk(_tree(module))) if name.startswith("chalicelib."))
    return frozenset(found for name in names if (found := _module_of(name)))


def _module_of(name: str) -> str:
    """`audience/stores/emails` of `chalicelib.audience.stores.emails.EmailRow`."""
    parts = name.split(".")[1:]
    while parts and not (HOUSE.joinpath(*parts).with_suffix(".py").exists()):
        parts = parts[:-1]
    return "/".join(parts)


def _offenders(breaks: dict[str, set[str]]) -> str:
    return "\n".join(f"{place}: {', '.join(sorted(what))}" for place, what in sorted(breaks.items()) if what)


def _is_store(place: str) -> bool:
    folder, _, name = place.rpartition("/")
    return name == "store" or name.endswith("_store") or folder.endswith("/stores")


def _home(store: str) -> str:
    """The folder whose modules may use it; a folder `stores` belongs to the one it is in."""
    return store.rpartition("/")[0].removesuffix("/stores")


def test_every_room_has_its_place_in_the_order():
    rooms = {path.name for path in HOUSE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert rooms <= set(RANK), "a new room: say in ORDER whom it may know"


def test_rooms_import_in_one_direction_only():
    breaks = {
        _place(module): {used for used in _used(module) if RANK.get(used.split("/")[0], 0) > RANK[_room(module)]}
        for module in MODULES
        if _room(module) in RANK
    }
    assert not _offenders(breaks)


def test_rooms_of_one_line_form_no_circle():
    pairs = {
        (_room(module), room)
        for module in MODULES
        if _room(module) in RANK
        for room in (used.split("/")[0] for used in _used(module))
        if room in RANK and room != _room(module) and RANK[room] == RANK[_room(module)]
    }
    assert not {pair for pair in pairs if pair[::-1] in pairs}


def test_a_store_is_used_by_its_own_folder_and_those_inside_it():
    """A folder within a room keeps its stores to itself: `events/webhooks/store` is not for `events`."""
    breaks = {
        _place(module): {
            used for used in _used(module) if _is_store(used) and not _place(module).startswith(_home(used) + "/")
        }
        for module in MODULES
    }
    assert not _offenders(breaks), "call the service beside that store"


def test_what_reads_tables_is_called_a_store():
    """By what it does, whatever its name: pynamodb's rows, or bare calls to DynamoDB."""
    knowing = {_place(module) for module in MODULES if "pynamodb" in _libraries(module)}
    knowing |= {_place(module) for module in MODULES if _is_raw(module)}
    strangers = {place for place in knowing if not _is_store(place.removesuffix(".py"))}
    assert strangers <= PYNAMODB_KERNEL | RAW_OUTSIDE_STORES


def _is_raw(module: Path) -> bool:
    return RAW in set(_imports(ast.walk(_tree(module))))


def test_bare_calls_are_confined_to_hot_paths():
    users = {_place(module) for module in MODULES if _is_raw(module)}
    hot = {"audience/stores/listing.py", "audience/stores/recipients.py", "campaigns/sending/part_store.py"}
    assert users == RAW_OUTSIDE_STORES | hot


def test_a_room_is_used_through_its_public_face():
    """`service` and `model`, and what the room's docstring names after "Other rooms use:"."""
    breaks = {
        _place(module): {used for used in _used(module) if not _is_public(used, _room(module))} for module in MODULES
    }
    assert not _offenders(breaks), "import the room's service or model, or name the module in its docstring"


def _is_public(used: str, by: str) -> bool:
    room, _, rest = used.partition("/")
    return room in GROUND or room == by or not rest or rest in ALWAYS_PUBLIC | _named_public(room)


@cache
def _named_public(room: str) -> set[str]:
    said = ast.get_docstring(_tree(HOUSE / room / "__init__.py")) or ""
    named = re.search(r"Other rooms use:(.*)", said, re.DOTALL)
    return {name.replace(".", "/") for name in re.findall(r"[a-z_]+(?:\.[a-z_]+)*", named[1])} if named else set()


def test_no_room_uses_the_handlers_or_bodies_of_another():
    def is_private(used: str) -> bool:
        name = used.rpartition("/")[2]
        return name.endswith("handlers") or name in ("bodies", "routes") or used.startswith("admin/pages/")

    breaks = {
        _place(module): {used for used in _used(module) if is_private(used) and used.split("/")[0] != _room(module)}
        for module in MODULES
    }
    assert not _offenders(breaks), "what two rooms need belongs to a service"


def test_route_tables_are_data_and_name_functions_that_exist():
    from chalicelib.web import routing

    for table in HOUSE.glob("*/routes.py"):
        assert _used(table) == {"web/routing"}, f"{_place(table)}: handlers are imported at their first request"
    routes = list(routing.all_routes())
    assert all(callable(routing.load(route.handler)) and callable(routing.load(route.errors)) for route in routes)
    assert {table.parent.name for table in HOUSE.glob("*/routes.py")} == set(routing.ROOMS)


def test_only_settings_reads_the_environment():
    readers = {
        _place(module)
        for module in MODULES
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv"} and ast.unparse(node.value) == "os"
    }
    assert readers <= {"kernel/settings.py"}
    assert "os" not in _libraries(ROOT / "app.py")


def test_only_the_routing_knows_chalice():
    knowing = {_place(module) for module in MODULES if "chalice" in _libraries(module)}
    assert knowing == {"web/routing.py"}


def test_the_app_knows_nothing_of_how_it_is_run_locally_tested_or_deployed():
    foreign = {"local", "tests", "deploy", "bench", "moto", "pytest", "yaml"}
    breaks = {_place(module): set(_libraries(module) & foreign) for module in MODULES}
    assert not _offenders(breaks)


def test_what_few_calls_need_is_not_imported_at_start_up():
    breaks = {
        _place(module): {name.partition(".")[0] for name in _imports(_at_start_up(_tree(module)))} & HEAVY
        for module in MODULES
    }
    assert not _offenders(breaks), "import it in the function that uses it"


def test_a_package_holds_at_most_a_docstring_so_that_importing_one_module_loads_only_that():
    filled = [module for module in MODULES if module.name == "__init__.py" and _tree(module).body]
    assert not [
        _place(module) for module in filled if len(_tree(module).body) > 1 or not ast.get_docstring(_tree(module))
    ]


def test_reading_a_feed_knows_only_the_kernel():
    reading = [module for module in MODULES if _place(module).startswith("feeds/reading/")]
    breaks = {
        _place(module): {used for used in _used(module) if not used.startswith(("kernel/", "feeds/reading/"))}
        for module in reading
    }
    assert reading
    assert not _offenders(breaks), "followed feeds are read by it too"


def test_names_say_something():
    assert not [_place(module) for module in MODULES if module.stem in MEANINGLESS]
    vague = {
        f"{_place(module)}: {node.name}"
        for module in MODULES
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.FunctionDef) and node.name.lstrip("_") in VAGUE
    }
    assert not vague, "a verb and a noun: parse_state, departure_write, with_headers"


def test_no_module_is_longer_than_a_person_reads_at_once():
    places = [*MODULES, ROOT / "app.py", *(ROOT / "local").rglob("*.py"), *(ROOT / "deploy").rglob("*.py")]
    long = {str(place.relative_to(ROOT)): len(place.read_text().splitlines()) for place in places}
    assert not {place: lines for place, lines in long.items() if lines > LONGEST_MODULE}


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
