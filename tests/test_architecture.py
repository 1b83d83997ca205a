"""The subpackages of docs/architecture.md: their order, imports, and base classes."""

import ast
import sys
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

import draw_architecture  # noqa: E402 (scripts/ is not a package)
import write_exports  # noqa: E402
from subpackages import ORDER, SHARED, SOURCE, imports, module_name  # noqa: E402

# Imports against the order that still exist: (importing module, imported name). Only remove lines.
AGAINST_ORDER = set()


def is_against_order(own, module, name):
    parts = [*module.split(".")[1:], name]
    if parts[0] == own or parts[0] in {"", *SHARED}:  # "": `import textkin`, whose names are lazy
        return False
    if parts[0] not in ORDER:  # a public name of the top level
        return own not in ("cli", "web")
    return ORDER.index(parts[0]) > ORDER.index(own)


def is_private(own, module, name):
    """Return True if an import reaches into another subpackage past its `__init__`."""
    parts = module.split(".")[1:]
    if not parts or parts[0] == own or parts[0] in SHARED:
        return False
    return len(parts) > 1 or (name.startswith("_") and name not in ORDER)


MODULES = sorted(path for path in SOURCE.rglob("*.py") if path.parent != SOURCE)


def test_imports_follow_the_order_and_use_init_only():
    wrong, private = set(), set()
    for path in MODULES:
        own = path.relative_to(SOURCE).parts[0]
        assert own in ORDER, f"{own}/ is not a subpackage of the architecture"
        for module, name in imports(path):
            line = module_name(path), f"{module}.{name}"
            if is_against_order(own, module, name) and line not in AGAINST_ORDER:
                wrong.add(line)
            if is_private(own, module, name):
                private.add(line)
    assert not wrong, "the importing module comes before these in the order of imports"
    assert not private, "import these names from the subpackage itself"


# The nested packages of `index`, each importing from those before it only, through `__init__`.
NESTED = ["index.store", "index.search", "index.distributed"]


def test_nested_packages_of_index_follow_their_order():
    for path in (SOURCE / "index").rglob("*.py"):
        own = next(
            (
                at
                for at, name in enumerate(NESTED)
                if f"{module_name(path)}.".startswith(f"{name}.")
            ),
            3,
        )
        for module, _ in imports(path):
            for at, name in enumerate(NESTED):
                if f"{module}.".startswith(f"textkin.{name}."):
                    told = f"{module_name(path)} imports {module}"
                    assert at <= own, told
                    if at < own and path.name != "__init__.py":
                        assert module == f"textkin.{name}", f"{told}: import from textkin.{name}"


# ------------------------------------------------------------------ private attributes

NAMED_TUPLE = {"_asdict", "_fields", "_make", "_replace"}  # public methods of named tuples


def unit_of(path):
    """Return the subpackage of a module; the nested packages of `index` are separate."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    nested = ".".join(parts[:2])
    return nested if nested in NESTED else parts[0]


def private_definitions(tree):
    """Return the private names that classes and functions of a module define."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):  # class attributes, fields, and slots
            for statement in node.body:
                if isinstance(statement, ast.Assign | ast.AnnAssign):
                    names |= {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
                    names |= {n.value for n in ast.walk(statement) if isinstance(n, ast.Constant)}
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr if ast.unparse(node.value) in ("self", "cls") else "")
    return {name for name in names if isinstance(name, str) and name.startswith("_")}


def private_uses(tree):
    """Yield the private attributes of objects other than `self`, `cls`, and `super()`."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and node.attr.startswith("_")
            and not node.attr.startswith("__")
            and node.attr not in NAMED_TUPLE
            and ast.unparse(node.value) not in ("self", "cls", "super()")
        ):
            yield node


def foreign_private_uses(trees):
    """Return the uses of private attributes that only other subpackages define.

    `trees` maps (subpackage, module) to a syntax tree. Attributes of other libraries are ignored.
    """
    defined = {}
    for (unit, _), tree in trees.items():
        defined.setdefault(unit, set()).update(private_definitions(tree))
    anywhere = set().union(*defined.values())
    return {
        f"{module}:{use.lineno}: {ast.unparse(use)}"
        for (unit, module), tree in trees.items()
        for use in private_uses(tree)
        if use.attr in anywhere - defined[unit]
    }


def test_no_private_attributes_of_other_subpackages_are_used():
    trees = {
        (unit_of(path), module_name(path)): ast.parse(path.read_text(encoding="utf-8"))
        for path in SOURCE.rglob("*.py")
    }
    assert not foreign_private_uses(trees), "give these attributes a public or shared name"


def test_private_uses_are_found():
    owner = ast.parse(
        "class Owner:\n    _kind: int = 1\n    __slots__ = ('_slot',)\n"
        "    def _method(self): self._set = 2\n"
    )
    used = "x._kind\nx._slot\nx.y._method()\nx._set\n"
    allowed = "self._kind\ncls._set\nsuper()._method()\nx._replace()\nx.__name__\nos._exit(1)\n"
    trees = {("a", "a._x"): owner, ("b", "b._y"): ast.parse(used + allowed)}
    assert foreign_private_uses(trees) == {
        "b._y:1: x._kind",
        "b._y:2: x._slot",
        "b._y:3: x.y._method",
        "b._y:4: x._set",
    }
    assert not foreign_private_uses({("a", "a._x"): owner, ("a", "a._y"): ast.parse(used)})


def test_nested_packages_of_index_are_separate():
    assert unit_of(SOURCE / "index/search/rankings/_terms.py") == "index.search"
    assert unit_of(SOURCE / "index/_index.py") == "index"
    assert unit_of(SOURCE / "models/topics/_plsa.py") == "models"


# Imports of `web` and `cli` from past the public names of a subpackage. Only remove lines.
PAST_PUBLIC_NAMES: dict[str, set[str]] = {}


def public_names(subpackage):
    tree = ast.parse((SOURCE / subpackage / "__init__.py").read_text(encoding="utf-8"))
    (names,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    return set(names)


@pytest.mark.parametrize("own", ["web", "cli"])
def test_web_and_cli_import_public_names_only(own):
    found = set()
    for path in (SOURCE / own).rglob("*.py"):
        for module, name in imports(path) - {("textkin._base", "lazy_names")}:
            subpackage = module.removeprefix("textkin").removeprefix(".").partition(".")[0]
            if subpackage not in ("", own, "exceptions") and (
                subpackage == "_base" or name not in public_names(subpackage)
            ):
                found.add(f"{subpackage}.{name}")
    known = PAST_PUBLIC_NAMES.get(own, set())
    assert found <= known, "import names in `__all__` of a subpackage, and none of `_base`"
    assert found == known, "remove these lines of PAST_PUBLIC_NAMES"


def test_listed_violations_still_exist():
    """Fail on a line of `AGAINST_ORDER` whose import no longer exists."""
    for importer, name in AGAINST_ORDER:
        path = SOURCE / f"{importer.replace('.', '/')}.py"
        assert tuple(name.rsplit(".", 1)) in imports(path), (importer, name)


def test_wrong_imports_are_found():
    assert is_against_order("text", "textkin.transport", "WordMover")
    assert not is_against_order("cli", "textkin.transport", "WordMover")
    assert is_private("web", "textkin.index.store._session", "Session")
    assert is_private("web", "textkin.index", "_files")
    assert not is_private("web", "textkin.index", "Index")
    assert not is_private("index", "textkin.index.store._session", "Session")


@pytest.mark.parametrize("name", ["exceptions"])
def test_shared_modules_import_no_subpackage(name):
    assert imports(SOURCE / f"{name}.py") <= {("textkin", "_core")}


PACKAGES = sorted(p for p in SOURCE.rglob("__init__.py") if "lazy_names(" in p.read_text("utf-8"))


@pytest.mark.parametrize("path", PACKAGES, ids=lambda path: path.parent.name)
def test_typing_block_agrees_with_table_of_names(path):
    assert write_exports.updated(path) == path.read_text(encoding="utf-8"), (
        "run python scripts/write_exports.py"
    )


@pytest.mark.parametrize("path", PACKAGES, ids=lambda path: path.parent.name)
def test_public_names_are_in_the_table(path):
    text = path.read_text(encoding="utf-8")
    _, table = write_exports.table_of(text)
    listed = {name for names in table.values() for name in names}
    assert len(listed) == sum(map(len, table.values())), "a name has two modules"
    (public,) = (
        ast.literal_eval(node.value)
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    assert set(public) - {"__version__"} <= listed


# Base classes with exactly one subclass that still exist: write such a pair as one class, or
# compose. Only remove lines.
SINGLE_SUBCLASS = set()


def defined_classes(trees):
    """Return the classes at the top level of modules, by full name."""
    return {
        f"{module}.{node.name}": node
        for module, tree in trees.items()
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }


def class_names(module, tree, classes):
    """Return the full names of the classes that a module defines or imports, by local name."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("textkin"):
            source = node.module.removeprefix("textkin").removeprefix(".")
            for alias in node.names:
                for name in classes:  # `from textkin.web import _answers as answers`
                    if name.rpartition(".")[0] == f"{source}.{alias.name}":
                        names[f"{alias.asname or alias.name}.{name.rpartition('.')[2]}"] = name
                found = [
                    name
                    for name in classes
                    if name.rpartition(".")[2] == alias.name and f"{name}.".startswith(f"{source}.")
                ]
                if len(found) == 1:
                    names[alias.asname or alias.name] = found[0]
    own = {name.rpartition(".")[2]: name for name in classes if name.rpartition(".")[0] == module}
    return names | own


def single_subclasses(trees):
    """Return the abstract base classes with exactly one subclass.

    Protocols, exceptions, and classes that are instantiated themselves are not reported.
    """
    classes = defined_classes(trees)
    subclasses = {name: set() for name in classes}
    instantiated = set()
    for module, tree in trees.items():
        names = class_names(module, tree, classes)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                for base in node.bases:
                    target = base.value if isinstance(base, ast.Subscript) else base
                    if isinstance(target, ast.Name) and target.id in names:
                        subclasses[names[target.id]].add(f"{module}.{node.name}")
            elif isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                # matches both `Base()` and `Base.of()`
                for name in (called, called.rpartition(".")[0]):
                    if name in names:
                        instantiated.add(names[name])
    return {
        name
        for name, found in subclasses.items()
        if len(found) == 1
        and name not in instantiated
        and not name.endswith(("Error", "Warning"))
        and "Protocol" not in map(ast.unparse, classes[name].bases)
    }


def test_no_base_class_has_exactly_one_subclass():
    trees = {module_name(path): ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}
    found = single_subclasses(trees)
    assert found <= SINGLE_SUBCLASS, "write the base class and its subclass as one class"
    assert found == SINGLE_SUBCLASS, "remove these lines of SINGLE_SUBCLASS"


def test_single_subclasses_are_found():
    code = {
        "a._x": "class Part: ...\nclass Used: ...\nclass Twice: ...\nclass P(Protocol): ...",
        "a._y": "from textkin.a._x import Part, Used, Twice, P\n"
        "class One(Part, Used, Twice, P): ...\nclass Two(Twice): ...\nUsed()",
    }
    assert single_subclasses({name: ast.parse(text) for name, text in code.items()}) == {
        "a._x.Part"
    }


# ------------------------------------------------------------------ the figure


def test_figure_of_the_subpackages_is_up_to_date():
    svg = draw_architecture.FILE.read_text(encoding="utf-8")
    assert draw_architecture.drawn() == svg, "run python scripts/draw_architecture.py"


def test_figure_omits_imports_that_follow_from_others():
    graph = {"a": set(), "b": {"a"}, "c": {"a", "b"}, "d": {"a", "c"}}
    assert draw_architecture.reduced(graph) == {"a": set(), "b": {"a"}, "c": {"b"}, "d": {"c"}}


def test_figure_has_importers_above_imported_subpackages():
    graph = draw_architecture.reduced(draw_architecture.import_graph())
    rows = draw_architecture.rows_of(graph)
    assert all(rows[name] > rows[used] for name, uses in graph.items() for used in uses)
    assert list(graph) == ORDER


def test_figure_keeps_boxes_apart():
    graph = draw_architecture.reduced(draw_architecture.import_graph())
    layout = draw_architecture.Layout(graph)
    for row in layout.order:
        sides = [(layout.x[item], layout.width(item) / 2) for item in row]
        for (x, half), (other, other_half) in pairwise(sides):
            assert other - other_half >= x + half - 1e-6
