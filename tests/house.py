"""The modules of the house, and what can be read off them: what each imports, and which of them are stores."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
HOUSE = ROOT / "chalicelib"
MODULES = sorted(HOUSE.rglob("*.py"))


def place(module: Path) -> str:
    return module.relative_to(HOUSE).as_posix()


def room_of(module: Path) -> str:
    return module.relative_to(HOUSE).parts[0]


@cache
def tree(module: Path) -> ast.Module:
    return ast.parse(module.read_text(), str(module))


def imports(nodes: Iterator[ast.AST]) -> Iterator[str]:
    """Dotted names that are imported; `from a import b` counts as `a.b`, which is a module or something in one."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def at_start_up(node: ast.AST) -> Iterator[ast.AST]:
    """What runs when the module is imported: everything outside functions and `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            continue
        yield child
        yield from at_start_up(child)


@cache
def libraries(module: Path) -> frozenset[str]:
    return frozenset(name.partition(".")[0] for name in imports(ast.walk(tree(module))))


@cache
def used(module: Path) -> frozenset[str]:
    """The modules of the house this one imports, as paths below it without their ending."""
    names = (name for name in imports(ast.walk(tree(module))) if name.startswith("chalicelib."))
    return frozenset(found for name in names if (found := module_of(name)))


def module_of(name: str) -> str:
    """`audience/stores/emails` of `chalicelib.audience.stores.emails.EmailRow`; a package is what it is."""
    parts = name.split(".")[1:]
    while parts and not (HOUSE.joinpath(*parts).with_suffix(".py").exists() or HOUSE.joinpath(*parts).is_dir()):
        parts = parts[:-1]
    return "/".join(parts)


def offenders(breaks: dict[str, set[str]]) -> str:
    return "\n".join(f"{place}: {', '.join(sorted(what))}" for place, what in sorted(breaks.items()) if what)


def is_store(place: str) -> bool:
    folder, _, name = place.rpartition("/")
    return name in ("store", "stores") or name.endswith("_store") or folder.endswith("/stores")


def home(store: str) -> str:
    """The folder whose modules may use it; a folder `stores` belongs to the one it is in."""
    return store.rpartition("/")[0].removesuffix("/stores")
