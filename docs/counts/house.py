"""What the folders of the package are: a map of them, and how large the house is.

python docs/counts/house.py
"""

from __future__ import annotations

import ast
import configparser
import re
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "corrbandits"
KINDS = {
    "a kernel": "Matern32",
    "a compiled rule": "GPUCB",
    "a belief": "Beta",
    "an environment": "BernoulliBandit",
    "an engine": "Reference",
    "a journal": "Journal",
}
"""What may be added, and one that is there already."""


def layers() -> list[list[str]]:
    """Return the layers of the package, from the top one down; each has one or several entries."""
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter", encoding="utf-8")
    return [line.split(" : ") for line in contracts["importlinter:contract:layers"]["layers"].split("\n") if line]


def entries() -> list[str]:
    """Return the folders and modules at the top of the package, private ones too."""
    named = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    return sorted(named - {"__init__"})


def purpose(entry: str) -> str:
    """Return the first sentence of the docstring of a folder or module, without its full stop."""
    folder = PACKAGE / entry
    path = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return re.split(r"\.(?:\s|$)", text.split("\n\n")[0])[0].replace("\n", " ")


def layer_map() -> str:
    """Return the map of the package as a table: a row per entry, from the top layer down."""
    rows = [f"| `{entry}` | {purpose(entry)} |" for layer in layers() for entry in layer]
    return "\n".join(["| folder or module | what it is for |", "|---|---|", *rows]) + "\n"


def files() -> dict[str, str]:
    """Return the text of every file of Python in the package."""
    return {str(path.relative_to(PACKAGE)): path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}


def modules() -> dict[str, int]:
    """Return the lines of each module; `__init__` files, which mostly pass names on, are left out."""
    return {path: len(text.splitlines()) for path, text in files().items() if not path.endswith("__init__.py")}


def naming(name: str) -> list[str]:
    """Return the files whose code names a class, those that export it last; docstrings do not count."""
    found = [path for path, text in files().items() if name in _names(text)]
    return sorted(found, key=lambda path: path.endswith("__init__.py"))


def _names(source: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name) | ast.ClassDef(name=name) | ast.alias(name=name) | ast.Attribute(attr=name):
                found.add(name)
    return found


def counts() -> str:
    """Return how large the house is, as a table."""
    sys.path.insert(0, str(Path(__file__).parent))
    from tell import modules_executed_by_tell

    sizes = modules()
    large = [name for name, lines in sizes.items() if lines > 300]
    told = modules_executed_by_tell()
    rows = {
        "entries at the top of `src/corrbandits`": len(entries()),
        "layers": len(layers()),
        "modules, without `__init__` files": len(sizes),
        "lines of the median module": round(statistics.median(sizes.values())),
        "modules over 300 lines": f"{len(large)}{': ' * bool(large)}{', '.join(f'`{name}`' for name in large)}",
        **{
            f"files to touch for {kind}: those that name `{name}`": _listed(naming(name))
            for kind, name in KINDS.items()
        },
        "modules that run when a reward is told from Python": len(told["python"]),
        "modules that run when a reward is told from the shell": len(told["shell"]),
    }
    return "\n".join(["| what | how many |", "|---|---|", *(f"| {what} | {n} |" for what, n in rows.items())]) + "\n"


def _listed(paths: list[str]) -> str:
    own = [path for path in paths if not path.endswith("__init__.py")]
    exports = f"; exported by {', '.join(f'`{path}`' for path in paths[len(own) :])}" if own != paths else ""
    return f"{len(own)}: {', '.join(f'`{path}`' for path in own)}{exports}"


if __name__ == "__main__":
    sys.stdout.write(f"{layer_map()}\n{counts()}")
