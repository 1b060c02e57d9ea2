"""Imports point one way: every module is parsed, imports inside functions count too."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "refprep"

# A part imports from layers above its own line. Within a line the parts stand beside each other; the few that do
# import a neighbour are listed.
LAYERS = (
    ("types", "units", "errors", "alone", "atomic", "memory", "environment", "precision"),
    ("protocols", "config", "manifest", "text", "dsp", "engine", "moss"),
    ("linter", "identity", "guard"),
    ("pipeline", "backends"),
    ("models", "voice", "utterances", "report", "measure", "fix"),
    ("export", "corpus", "scoring"),
    ("cloning", "bench", "audit", "compare"),
    ("api", "api_build", "api_score", "api_encode", "api_clone", "api_audit", "api_compare"),
    ("cli",),
    ("__main__",),
)
NEIGHBOURS = {
    ("alone", "errors"),
    ("atomic", "errors"),
    ("precision", "errors"),
    ("moss", "engine"),
    ("voice", "report"),
    ("api_score", "api"),
    ("api_score", "api_build"),
    ("api_audit", "api_build"),
    ("api_compare", "api_clone"),
    ("api_compare", "api_score"),
    ("api_clone", "api"),
    ("api_clone", "api_score"),
}
RANK = {part: rank for rank, parts in enumerate(LAYERS) for part in parts}
# `refprep/__init__.py` names what is public: it may point anywhere, and others take only the version from it.
FACADE = "refprep"


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_name(p): p for p in sorted(PACKAGE.rglob("*.py"))}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


def part_of(module: str) -> str:
    return module.split(".")[1] if "." in module else FACADE


def imports_of(module: str) -> list[tuple[str, int]]:
    """(dotted name, line) of everything a module imports, anywhere in it; names of a package count as modules."""
    found: list[tuple[str, int]] = []
    for node in ast.walk(TREES[module]):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                found.append(
                    (name if name in MODULES or node.module == FACADE else str(node.module), node.lineno)
                )
    return found


def takes_the_version_alone(module: str) -> bool:
    """After ``import refprep``: the only thing read from it is the version."""
    used = {
        node.attr
        for node in ast.walk(TREES[module])
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == FACADE
    }
    return used <= {"__version__"}


def test_every_part_has_a_layer():
    parts = {part_of(m) for m in MODULES} - {FACADE}
    assert parts == set(RANK)


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_one_way(module):
    own = part_of(module)
    if own == FACADE:
        return
    for name, line in imports_of(module):
        if not (name == FACADE or name.startswith(f"{FACADE}.")):
            continue
        other = part_of(name)
        if other in ("__version__", own) or (other == FACADE and takes_the_version_alone(module)):
            continue
        assert other in RANK, f"{module}:{line} imports {name}; take it from where it lives"
        is_below = RANK[other] < RANK[own] or (own, other) in NEIGHBOURS
        assert is_below, f"{module}:{line} imports {name}: {own} must not import {other}"


def test_modules_of_one_part_do_not_import_in_circles():
    edges = {m: {n for n, _ in imports_of(m) if n in MODULES and n != m} for m in MODULES if m != FACADE}
    done: set[str] = set()

    def visit(module: str, trail: tuple[str, ...]) -> None:
        assert module not in trail, " -> ".join((*trail, module))
        if module in done:
            return
        for name in sorted(edges.get(module, ())):
            if name != FACADE and not name.endswith(".__init__"):
                visit(name, (*trail, module))
        done.add(module)

    for module in edges:
        visit(module, ())


@pytest.mark.parametrize("module", MODULES)
def test_imports_are_absolute(module):
    for node in ast.walk(TREES[module]):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno}"


def users_of(library: str) -> set[str]:
    return {m for m in MODULES if any(n == library or n.startswith(f"{library}.") for n, _ in imports_of(m))}


def test_only_the_console_uses_rich():
    assert users_of("rich") == {"refprep.cli.console"}


def test_only_the_command_line_uses_typer():
    assert users_of("typer")
    assert {part_of(m) for m in users_of("typer")} == {"cli"}


@pytest.mark.parametrize(
    ("library", "homes"),
    [
        ("torch", {"audit", "bench", "engine", "moss", "backends", "models", "precision", "cli"}),
        ("transformers", {"engine", "moss", "models"}),
        ("speechbrain", {"models"}),
        ("faster_whisper", {"models"}),
        ("ctranslate2", {"models", "cli"}),
        ("huggingface_hub", {"models", "manifest"}),
        ("av", {"pipeline"}),
        ("jinja2", {"report"}),
        ("matplotlib", {"report"}),
        ("datasets", {"manifest"}),
        ("pyarrow", {"manifest"}),
    ],
)
def test_a_library_stays_in_its_place(library, homes):
    assert {part_of(m) for m in users_of(library)} <= homes


@pytest.mark.parametrize("module", MODULES)
def test_nothing_is_unpickled(module):
    """Checkpoints are read with weights_only=True; ``pickle`` is imported for its errors, if at all."""
    for node in ast.walk(TREES[module]):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        called = ast.unparse(node.func)
        assert called not in ("pickle.load", "pickle.loads", "pickle.Unpickler", "joblib.load"), called
        if called in ("torch.load", "np.load", "numpy.load"):
            options = {k.arg: ast.unparse(k.value) for k in node.keywords}
            safe = options.get("weights_only") == "True" or options.get("allow_pickle") == "False"
            assert safe, f"{module}:{node.lineno}"


def test_the_nouns_need_numpy_and_the_standard_library_alone():
    known = {*sys.stdlib_module_names, "numpy"}
    for module in [m for m in MODULES if part_of(m) in ("types", "units", "errors")]:
        names = {n for n, _ in imports_of(module) if not n.startswith("refprep.types.")}
        assert {n.split(".")[0] for n in names} <= known, module


@pytest.mark.parametrize(
    "module", ["refprep", "refprep.cli.app", "refprep.errors", "refprep.config", "refprep.manifest"]
)
def test_importing_it_loads_no_heavy_library(module):
    code = (
        f"import sys, {module}\n"
        "heavy = {'torch', 'numpy', 'scipy', 'transformers', 'speechbrain', 'faster_whisper', 'rich.console', 'jinja2', 'matplotlib', 'datasets', 'pyarrow'}\n"
        "print(*sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == ""
