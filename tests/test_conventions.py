"""Names and sizes: what builds writes says so, no name says nothing, no module is too long."""

import ast

from tests.house import MODULES, ROOT, is_store, place, tree

MEANINGLESS = {"utils", "helpers", "base", "manager", "common", "misc"}
VAGUE = {"of", "at", "one", "told", "left", "having", "shown"}
WRITES = ("Write", "Put", "Update", "Delete")
LONGEST_MODULE = 300


def test_what_builds_writes_says_so_in_its_name():
    """And what is called so builds writes: a bare verb does input or output."""
    built = {
        (place(module), node.name, any(word in ast.unparse(node.returns) for word in WRITES))
        for module in MODULES
        if is_store(place(module).removesuffix(".py"))
        for node in tree(module).body
        if isinstance(node, ast.FunctionDef) and node.returns and not node.name.startswith("_")
    }
    assert len(built) > 100
    wrong = {(place, name) for place, name, writes in built if writes is not _is_named_write(name)}
    assert not wrong


def _is_named_write(name: str) -> bool:
    return name.endswith(("_write", "_writes")) or "_writes_" in name


def test_names_say_something():
    assert not [place(module) for module in MODULES if module.stem in MEANINGLESS]
    vague = {
        f"{place(module)}: {node.name}"
        for module in MODULES
        for node in ast.walk(tree(module))
        if isinstance(node, ast.FunctionDef) and node.name.lstrip("_") in VAGUE
    }
    assert not vague, "a verb and a noun: parse_state, departure_write, with_headers"


def test_no_module_is_longer_than_a_person_reads_at_once():
    places = [*MODULES, ROOT / "app.py", *(ROOT / "local").rglob("*.py"), *(ROOT / "deploy").rglob("*.py")]
    long = {str(place.relative_to(ROOT)): len(place.read_text().splitlines()) for place in places}
    assert not {place: lines for place, lines in long.items() if lines > LONGEST_MODULE}
