"""What `import refprep` promises, and a docstring for everything public."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import refprep

PACKAGE = Path(refprep.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))


def test_the_public_names_are_pinned():
    assert refprep.__all__ == [
        "RefprepError",
        "Voice",
        "__version__",
        "build",
        "build_corpus",
        "clone",
        "decode_file",
        "encode_voice",
        "export_voice",
        "lint",
        "load_voice",
        "score",
        "transcribe",
        "verify_voice",
    ]


@pytest.mark.parametrize("name", [n for n in refprep.__all__ if n != "__version__"])
def test_a_public_name_is_there_and_explained(name):
    value = getattr(refprep, name)
    assert value.__name__ == name
    assert value.__module__ == refprep._HOMES[name]
    assert value.__doc__


def test_every_public_name_has_a_home_and_no_other():
    assert set(refprep._HOMES) == set(refprep.__all__) - {"__version__"}


def test_a_star_import_gives_them_all():
    space: dict[str, object] = {}
    exec("from refprep import *", space)
    assert set(refprep.__all__) <= set(space)


@pytest.mark.parametrize("first", ["import refprep; refprep.lint", "from refprep import lint"])
def test_the_function_lint_is_not_hidden_by_the_package_of_that_name(first):
    """No module may take the name: whichever was imported before, the function is what users get."""
    for before in ("", "import refprep.linter.rule; import refprep.cli.lint; ", "import refprep.api; "):
        code = f"{before}{first}\nimport refprep\nassert callable(refprep.lint), refprep.lint"
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            cwd=PACKAGE.parent,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{before}{first}: {done.stderr.strip().splitlines()[-1]}"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'clone_everything'"):
        _ = refprep.clone_everything


def undocumented(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    missing = [] if ast.get_docstring(tree) else ["the module"]

    def look(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                if child.name.startswith("_"):
                    continue
                if not ast.get_docstring(child):
                    missing.append(f"{prefix}{child.name}:{child.lineno}")
                if isinstance(child, ast.ClassDef):
                    look(child, f"{prefix}{child.name}.")

    look(tree, "")
    return missing


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_everything_public_has_a_docstring(path):
    assert undocumented(path) == []


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_what_a_module_lists_as_public_is_in_it(path):
    names = [
        node.value
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign)
        and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets)
    ]
    if not names or path.name == "__init__.py":
        return
    defined = {
        n
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for n in (
            [node.name]
            if isinstance(node, ast.ClassDef | ast.FunctionDef)
            else [a.asname or a.name for a in node.names]
            if isinstance(node, ast.ImportFrom)
            else [node.id]
            if isinstance(node, ast.Name)
            else []
        )
    }
    listed = [e.value for e in names[0].elts if isinstance(e, ast.Constant)]
    assert set(listed) <= defined
    assert listed == sorted(listed)
