"""What the package is as a whole: light to import, typed, in layers, silent about where it was made."""

import ast
import importlib
import inspect
import json
import operator
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
import yaml

import corrbandits
from tests.support import ROOT


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_heavy_libraries_load_only_when_used():
    loaded = json.loads(
        run(
            "import sys, json, corrbandits as cb\n"
            "cb.UCL, cb.Correlated, cb.Exponential, cb.GaussianBandit, cb.simulate, cb.Trace, cb.Thompson\n"
            "cb.landscapes, cb.theory, cb.plots, cb.adapters, cb.choices\n"
            "print(json.dumps(sorted(m for m in sys.modules if '.' not in m)))"
        )
    )
    heavy = {"scipy", "numba", "matplotlib", "xarray", "pandas", "h5py", "h5netcdf", "typer", "rich", "threadpoolctl"}
    heavy |= {"sqlalchemy", "psycopg", "gymnasium", "optuna"}
    assert heavy.isdisjoint(loaded)


def listed():
    """The public names and what they are imported from, as a type checker reads the list of them."""
    stub = ast.parse((ROOT / "src" / "corrbandits" / "__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    assert all(alias.asname == alias.name for node in imports for alias in node.names), "name as name: it is exported"
    return {alias.name: node.module for node in imports for alias in node.names}


def test_the_list_of_names_is_the_one_that_type_checkers_read():
    assert corrbandits.__all__ == sorted(listed())
    assert dir(corrbandits) == corrbandits.__all__


@pytest.mark.parametrize("name", corrbandits.__all__)
def test_a_public_name_loads_from_where_the_list_says(name):
    found = getattr(corrbandits, name)
    home = f"{listed()[name]}.{name}"
    assert found is (importlib.import_module(home) if inspect.ismodule(found) else pkgutil.resolve_name(home))
    assert getattr(corrbandits, name) is found


def test_a_star_takes_every_public_name_and_no_other():
    scope = {}
    exec("from corrbandits import *", scope)
    assert scope.keys() - {"__builtins__"} == set(corrbandits.__all__)
    assert all(scope[name] is getattr(corrbandits, name) for name in corrbandits.__all__)


@pytest.mark.parametrize("name", ["Arm", "belief_", "_HOMES_", "__path__x"])
def test_another_name_is_refused(name):
    with pytest.raises(AttributeError, match=f"module 'corrbandits' has no attribute '{name}'"):
        getattr(corrbandits, name)
    assert not hasattr(corrbandits, name)


def test_a_broken_module_says_what_is_broken(monkeypatch):
    """What fails to import is not reported as a name that is missing."""
    monkeypatch.delattr(corrbandits, "plots", raising=False)
    monkeypatch.setitem(sys.modules, "corrbandits.plots", None)
    with pytest.raises(ImportError, match=r"corrbandits\.plots"):
        _ = corrbandits.plots


USER = """
import corrbandits as cb

surface = cb.landscapes.two_peaks()
kernel: cb.Kernel = 10 * cb.Exponential(length=4.0)
prior = cb.Correlated(mean=30.0, kernel=kernel, coordinates=surface.coordinates, noise_variance=10.0)
policy = cb.CorrelatedUCL(a=3.3)
belief: cb.Belief = prior.observe(policy.choose(prior, t=1), 41.0)
trace: cb.Trace = cb.simulate({"correlated": (policy, belief)}, surface, horizon=100)
trial: cb.Trial = cb.Study.create("survey.db", "meadow", prior=prior, policy=policy).ask()
number: int = trial.number
"""
WRONG = {
    "cb.UCL(a='three')": 'Argument "a" to "UCL" has incompatible type "str"',
    "cb.Arm": 'Module has no attribute "Arm"',
    "text: str = cb.simulate": "Incompatible types in assignment",
    "cb.Study.open('survey.db', 'meadow').tell('one', 1.0)": 'Argument 1 to "tell" of "Telling" has incompatible type',
    "cb.landscapes.three_peaks()": 'Module has no attribute "three_peaks"',
}


@pytest.mark.slow
def test_a_users_script_is_type_checked_with_every_public_name(tmp_path):
    every = "\n".join(f"public_{name} = cb.{name}" for name in corrbandits.__all__)
    (tmp_path / "right.py").write_text(USER + every, encoding="utf-8")
    (tmp_path / "wrong.py").write_text("import corrbandits as cb\n" + "\n".join(WRONG), encoding="utf-8")
    # strict, as pyproject.toml says, so that what `make check` has learnt of numpy and others serves here too
    options = ["--no-error-summary", "--config-file", ROOT / "pyproject.toml", "--cache-dir", ROOT / ".mypy_cache"]
    command = [sys.executable, "-m", "mypy", *options, "right.py", "wrong.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert len(lines) == len(WRONG), done.stdout
    for number, (line, complaint) in enumerate(zip(lines, WRONG.values(), strict=True), 2):
        assert line.startswith(f"wrong.py:{number}: error: {complaint}")


def test_every_name_that_the_reference_mentions_loads():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    mentioned = set(re.findall(r"\bcb\.([\w.]+\w)", page))
    documented = set(re.findall(r"^\.\. auto\w+:: (corrbandits\.[\w.]+)$", page, re.MULTILINE))
    assert len(mentioned) > 10
    assert len(documented) > 40
    for name in mentioned:
        operator.attrgetter(name)(corrbandits)
    for name in documented:
        pkgutil.resolve_name(name)


def test_no_package_exports_a_name_that_one_of_its_modules_has():
    """Otherwise what the name means would depend on whether that module has been imported."""
    clashes = json.loads(
        run(
            "import importlib, inspect, json, pkgutil, corrbandits as cb\n"
            "before = {name: inspect.ismodule(getattr(cb, name)) for name in cb.__all__}\n"
            "found = [m for m in pkgutil.walk_packages(cb.__path__, 'corrbandits.')]\n"
            "modules = {m.name: importlib.import_module(m.name) for m in found}\n"
            "packages = [modules[m.name] for m in found if m.ispkg] + [cb]\n"
            "children = {p.__name__: [n for n in modules if n.rpartition('.')[0] == p.__name__] for p in packages}\n"
            "clashes = [n for p in packages for n in children[p.__name__]\n"
            "           if n.rpartition('.')[2] in getattr(p, '__all__', ())\n"
            "           and getattr(p, n.rpartition('.')[2]) is not modules[n]]\n"
            "clashes += [n for n in cb.__all__ if inspect.ismodule(getattr(cb, n)) != before[n]]\n"
            "assert len(packages) > 15 and len(modules) > 100\n"
            "print(json.dumps(clashes))"
        )
    )
    assert clashes == []


@pytest.mark.parametrize(("part", "least"), [("", 21), ("-bench", 21), ("-uv", 1), ("-torch", 1)])
def test_a_lock_file_has_hashes_and_no_address(part, least):
    lock = (ROOT / f"requirements{part}.lock").read_text(encoding="utf-8")
    assert "://" not in lock
    pins = re.findall(r"^\S+==\S+", lock, re.MULTILINE)
    assert len(pins) >= least
    assert lock.count("--hash=sha256:") >= len(pins)


def test_torch_is_the_one_of_its_lock_wherever_it_is_named():
    pinned = re.search(r"^torch==\S+", (ROOT / "requirements-torch.lock").read_text(encoding="utf-8"))[0]
    for file in ("Makefile", "pyproject.toml"):
        assert pinned in (ROOT / file).read_text(encoding="utf-8")
    assert "--require-hashes -r requirements-torch.lock" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_a_place_that_cannot_be_written_is_no_error(tmp_path):
    """Compiling without a cache is slower, not wrong: numba is shown a home and a package it cannot write to."""
    package = tmp_path / "site" / "corrbandits"
    package.parent.mkdir()
    package.symlink_to(Path(corrbandits.__file__).parent, target_is_directory=True)
    code = (
        "import numba.core.caching as caching\n"
        "caching.CacheImpl._locator_classes = []\n"  # no directory is offered, as where none can be written
        "from corrbandits.simulation.engines.compiled import choose as compiled\n"
        "import numpy as np\n"
        "print(compiled.largest_limit(np.array([1.0, 3.0]), np.zeros(2), 1.0))"
    )
    assert run(code).strip() == "1"


def test_the_version_is_one():
    from importlib.metadata import version

    assert version("corrbandits") == corrbandits.__version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (\S+)$", changes, re.MULTILINE)[1] == corrbandits.__version__


def test_what_the_change_log_says_has_moved_is_where_it_says():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .* \| (.*) \|$", text.split("| 0.1.0 | 0.2.0 |\n|---|---|\n")[1], re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(corrbandits\.[\w.]+)`", row)}
    assert len(named) > 20
    for name in named:
        pkgutil.resolve_name(name)


def test_the_citation_names_the_paper_and_this_version():
    """As version 1.2.0 of the Citation File Format demands: its required keys, and no key that it does not know."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required, known = {"cff-version", "message", "title", "authors"}, {"abstract", "keywords", "license", "type"}
    assert required <= cited.keys() <= required | known | {"preferred-citation", "references", "version"}
    assert cited["cff-version"] == "1.2.0"
    assert cited["type"] == "software"
    assert (cited["version"], cited["license"]) == (corrbandits.__version__, about["license"])
    paper = cited["preferred-citation"]
    required, known = {"type", "title", "authors"}, {"journal", "year", "doi", "url", "identifiers"}
    assert required <= paper.keys() <= required | known
    assert paper["type"] == "article"
    assert [author["family-names"] for author in paper["authors"]] == ["Srivastava", "Reverdy", "Leonard"]
    assert paper["title"] in (ROOT / "README.md").read_text(encoding="utf-8").replace("\n", " ")
    assert paper["doi"] == "10.48550/arXiv.1507.01160"
    assert paper["year"] == 2015
    assert [identifier["type"] for identifier in paper["identifiers"]] == ["other"]


def test_blas_is_held_to_one_thread_and_let_go():
    import threadpoolctl

    from corrbandits._core.single_thread import one_thread

    def threads():
        return {pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"}

    np.linalg.inv(np.eye(2))
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        with one_thread(), one_thread():
            assert threads() == {1}
        assert threads() == {2}
