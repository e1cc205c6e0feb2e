"""What `make dist` makes, installed beside exactly what it says it needs, and tried there."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import corrbandits
from tests.support import ROOT

UV = Path(sys.executable).with_name("uv")
EXTRAS = ("distributed", "postgres", "gymnasium", "optuna", "service")
DEVICES = "gpu"
"""The extra whose libraries are large, and of use where there is a device: it is not installed here."""

EXPERIMENT = """
[arms]
grid = [3, 3]
[truth]
draw = { kernel = "exponential", length = 2.0, variance = 9.0, seed = 1 }
noise_variance = 1.0
[priors.smooth]
kernel = { name = "exponential", length = 2.0, variance = 9.0 }
[policies.gradient]
rule = "KnowledgeGradient"
horizon = 8
prior = "smooth"
[run]
horizon = 8
runs = 2
[stress]
accuracy = { shift = [0.0, 1.0] }
confidence = [0.5, 1.0]
length = [1.0]
survivors = false
"""


def ran(*command, **options):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def needed(requirement, found):
    """Put a requirement's installed distribution into `found`, and all that it requires in turn."""
    there = metadata.distribution(requirement.name)
    assert requirement.specifier.contains(there.version, prereleases=True), (
        f"{requirement}, but {there.version} is here"
    )
    known = found.setdefault(requirement.name.lower(), (there, set()))
    new = {"", *requirement.extras} - known[1]
    known[1].update(new)
    for text in there.requires or ():
        inner = Requirement(text)
        if new and (inner.marker is None or any(inner.marker.evaluate({"extra": extra}) for extra in new)):
            needed(inner, found)
    return found


class Installed:
    """A new environment that holds the wheel and links to exactly the distributions that its metadata asks for."""

    def __init__(self, place, wheel, *extras):
        venv.create(place, symlinks=True)
        self.bin, self.home = place / "bin", place / "home"
        self.home.mkdir()
        ran(UV, "pip", "install", "-q", "--offline", "--no-deps", "--python", self.bin / "python", wheel)
        (site,) = (place / "lib").glob("python*/site-packages")
        (about,) = metadata.distributions(name="corrbandits", path=[str(site)])
        wanted = {}
        for requirement in map(Requirement, about.requires):
            if requirement.marker is None or any(requirement.marker.evaluate({"extra": name}) for name in extras):
                needed(requirement, wanted)
        for distribution, _ in wanted.values():
            for top in {Path(file).parts[0] for file in distribution.files} - {"..", "__pycache__"}:
                if not (site / top).exists():  # several may share a namespace
                    (site / top).symlink_to(distribution.locate_file(top))

    def run(self, program, *arguments):
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        environment |= {"CORRBANDITS_DB": str(self.home / "studies.db")}
        environment |= {"NUMBA_DISABLE_JIT": "1"}  # so little is played that compiling would take longer
        return ran(self.bin / program, *arguments, cwd=self.home, env=environment)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with the wheel and the source distribution, made as `make dist` makes them."""
    folder = tmp_path_factory.mktemp("dist")
    (line,) = (text for text in (ROOT / "Makefile").read_text(encoding="utf-8").splitlines() if "uv build" in text)
    arguments = line.partition(" build ")[2].replace("$(BIN)/python", sys.executable).replace("dist", str(folder))
    ran(UV, "build", *arguments.split(), cwd=ROOT)
    return folder


@pytest.fixture(scope="module")
def bare(built, tmp_path_factory):
    return Installed(tmp_path_factory.mktemp("bare"), *built.glob("*.whl"))


def test_the_wheel_holds_the_whole_package(built):
    (wheel,) = built.glob("*.whl")
    source = ROOT / "src"
    tracked = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()}
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in tracked if "__pycache__" not in name and ".egg-info" not in name} <= names
    assert {"corrbandits/__init__.pyi", "corrbandits/py.typed"} <= names


def test_the_source_distribution_holds_what_a_contributor_needs(built):
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert {"Makefile", "pyproject.toml", "requirements.lock", ".importlinter", ".ci/run", "LICENSE"} <= names
    assert {"README.md", "VISION.md", "CHANGELOG.md", "docs/api.md", "docs/refresh.py"} <= names
    assert {"tests/test_distribution.py", "tests/support/contracts.py", "benchmarks/__main__.py"} <= names
    assert not [name for name in names if name.startswith((".venv", "dist", ".git/"))]


def test_names_load_from_a_zip_file(built):
    (wheel,) = built.glob("*.whl")
    code = (
        "import corrbandits as cb\n"
        "assert '.whl' in cb.__file__, cb.__file__\n"
        "print(len([getattr(cb, name) for name in cb.__all__]))"
    )
    count = ran(sys.executable, "-c", code, env=os.environ | {"PYTHONPATH": str(wheel)})
    assert int(count) == len(corrbandits.__all__)


def test_the_wheel_works_beside_what_it_says_it_needs_and_nothing_else(bare):
    assert bare.run("corrbandits", "--version").strip() == corrbandits.__version__
    prior = ["--rounds", "40"]
    bare.run("corrbandits", "study", "create", "meadow", "--arms", ROOT / "docs" / "sites.csv", *prior)
    assert "C2" in bare.run("corrbandits", "study", "ask", "meadow")
    assert "told: 31.2" in bare.run("corrbandits", "study", "tell", "meadow", "1", "31.2")
    (bare.home / "small.toml").write_text(EXPERIMENT, encoding="utf-8")
    bare.run("corrbandits", "stress", "small.toml", "--out", "results")
    page = (bare.home / "results" / "small-stress.html").read_text(encoding="utf-8")
    assert "<style>" in page
    assert "<script" in page
    code = (
        "import corrbandits as cb, sys\n"
        "assert cb.__file__.startswith(sys.prefix), cb.__file__\n"
        "prior, bandit = cb.Independent(noise_variance=1.0, arms=2), cb.GaussianBandit([0.0, 1.0], 1.0)\n"
        "assert cb.simulate({'flat': (cb.UCL(), prior)}, bandit, 9, engine='reference').counts.sum() == 9\n"
        "for name in ('BanditEnv', 'CorrelatedUCLSampler'):\n"
        "    try: getattr(cb.adapters, name)\n"
        "    except ImportError as error: print(error)\n"
        "try: cb.Study.list('postgresql://127.0.0.1/none')\n"
        "except ImportError as error: print(error)\n"
        "from corrbandits.cli.serve import serve\n"
        "try: serve()\n"
        "except ImportError as error: print(error)\n"
        "try: cb.simulate({'flat': (cb.UCL(), prior)}, bandit, 9, engine='gpu')\n"
        "except ValueError as error: print(error)\n"
    )
    missing = bare.run("python", "-c", code).splitlines()
    assert len(missing) == 5
    for message, extra in zip(missing, ("gymnasium", "optuna", "postgres", "service", DEVICES), strict=True):
        assert f"pip install '.[{extra}]'" in message


def test_the_extras_bring_what_the_adapters_need(built, tmp_path):
    about = metadata.metadata("corrbandits")
    assert set(about.get_all("Provides-Extra")) == {*EXTRAS, DEVICES}
    full = Installed(tmp_path, *built.glob("*.whl"), *EXTRAS)
    code = (
        "import corrbandits as cb, psycopg, distributed\n"
        "print(cb.adapters.BanditEnv, cb.adapters.CorrelatedUCLSampler)\n"
        "from corrbandits.web.service.app import application\n"
        "from corrbandits.web.page.pages import files\n"
        "print(len(files()), 'files of the page')"
    )
    said = full.run("python", "-c", code)
    assert "CorrelatedUCLSampler" in said
    assert int(said.split()[-5]) > 10
