"""The rules of the house, checked by reading imports: who may know what, and in which direction."""

import ast
import subprocess
import sys
from collections.abc import Iterator
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
    {"audience"},
    {"bounces"},
    {"campaigns"},
    {"feeds", "following"},
    {"admin", "sightings"},
]
RANK = {room: rank for rank, rooms in enumerate(ORDER) for room in rooms}

MEANINGLESS = {"utils", "helpers", "base", "manager", "common", "misc"}
HEAVY = {"boto3", "css_inline", "cryptography", "email_validator", "feedparser", "jinja2", "jwt", "nh3", "zoneinfo"}
PYNAMODB_KERNEL = {"kernel/aws/tables.py", "kernel/limits.py", "kernel/locks.py"}


def _place(module: Path) -> str:
    return module.relative_to(HOUSE).as_posix()


def _room(module: Path) -> str:
    return module.relative_to(HOUSE).parts[0]


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


def _libraries(module: Path) -> set[str]:
    return {name.partition(".")[0] for name in _imports(ast.walk(_tree(module)))}


def _rooms_used(module: Path) -> set[tuple[str, str]]:
    """(room, module of it) for everything of the house this module imports."""
    names = (name.split(".") for name in _imports(ast.walk(_tree(module))) if name.startswith("chalicelib."))
    return {(parts[1], parts[2] if len(parts) > 2 else "") for parts in names}


def _offenders(breaks: dict[str, set[str]]) -> str:
    return "\n".join(f"{place}: {', '.join(sorted(what))}" for place, what in sorted(breaks.items()) if what)


def test_every_room_has_its_place_in_the_order():
    rooms = {path.name for path in HOUSE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert rooms <= set(RANK), "a new room: say in ORDER whom it may know"


def test_rooms_import_in_one_direction_only():
    breaks = {
        _place(module): {room for room, _ in _rooms_used(module) if RANK[room] > RANK[_room(module)]}
        for module in MODULES
        if _room(module) in RANK
    }
    assert not _offenders(breaks)


def test_rooms_of_one_line_form_no_circle():
    pairs = {
        (_room(module), room)
        for module in MODULES
        if _room(module) in RANK
        for room, _ in _rooms_used(module)
        if room != _room(module) and RANK[room] == RANK[_room(module)]
    }
    assert not {pair for pair in pairs if pair[::-1] in pairs}


def test_a_store_is_used_by_its_own_room_only():
    breaks = {
        _place(module): {
            f"{room}.{part}" for room, part in _rooms_used(module) if _is_store(part) and room != _room(module)
        }
        for module in MODULES
    }
    assert not _offenders(breaks), "call the other room's service"


def _is_store(name: str) -> bool:
    return name in ("store", "stores") or name.endswith("_store")


def test_only_settings_reads_the_environment():
    readers = {
        _place(module)
        for module in MODULES
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv"} and ast.unparse(node.value) == "os"
    }
    assert readers <= {"kernel/settings.py"}
    assert "os" not in _libraries(ROOT / "app.py")


def test_only_stores_and_the_kernels_tables_know_pynamodb():
    knowing = {_place(module) for module in MODULES if "pynamodb" in _libraries(module)}
    strangers = {place for place in knowing if not _is_store(Path(place).stem) and "/stores/" not in place}
    assert strangers <= PYNAMODB_KERNEL


def test_only_routes_web_and_access_know_chalice():
    knowing = {_place(module) for module in MODULES if "chalice" in _libraries(module)}
    assert not {p for p in knowing if p.split("/")[0] not in {"web", "access"} and not p.endswith("routes.py")}


def test_the_app_knows_nothing_of_how_it_is_run_locally_tested_or_deployed():
    foreign = {"local", "tests", "deploy", "bench", "moto", "pytest", "yaml"}
    breaks = {_place(module): _libraries(module) & foreign for module in MODULES}
    assert not _offenders(breaks)


def test_what_few_calls_need_is_not_imported_at_start_up():
    breaks = {
        _place(module): {name.partition(".")[0] for name in _imports(_at_start_up(_tree(module)))} & HEAVY
        for module in MODULES
    }
    assert not _offenders(breaks), "import it in the function that uses it"


def test_packages_hold_only_a_docstring_so_that_importing_one_module_loads_only_that():
    packages = [_tree(module) for module in MODULES if module.name == "__init__.py"]
    assert not [ast.unparse(package) for package in packages if package.body[1:] or not _is_documented(package)]


def _is_documented(package: ast.Module) -> bool:
    return not package.body or ast.get_docstring(package) is not None


def test_reading_a_feed_knows_only_the_kernel():
    reading = [module for module in MODULES if _place(module).startswith("feeds/reading/")]
    allowed = ("chalicelib.kernel.", "chalicelib.feeds.reading.")
    breaks = {
        _place(module): {
            name
            for name in _imports(ast.walk(_tree(module)))
            if name.startswith("chalicelib.") and not f"{name}.".startswith(allowed)
        }
        for module in reading
    }
    assert reading
    assert not _offenders(breaks)


def test_names_say_something():
    assert not [_place(module) for module in MODULES if module.stem in MEANINGLESS]


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
