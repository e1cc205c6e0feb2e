"""What is compiled once is used again, and only as long as no source has changed."""

import ast
import importlib
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import corrbandits
from corrbandits.simulation.engines.compiled import cache
from corrbandits.simulation.engines.compiled.cache import ELSEWHERE, FOLDER, stamp

SYMMETRIC = """
from corrbandits.paper import reproduction as paper
surface = cb.landscapes.two_peaks()
players = {"correlated": paper.ill_informed(surface)["correlated"]}
players["soft"] = cb.Softmax(cb.UCL(), temperature=1.0), players["correlated"][1]  # loops made of the same function
players["in blocks"] = cb.Blocked(cb.UCL()), cb.Independent(noise_variance=10.0, arms=100)
"""
SMALL = """
surface = cb.landscapes.two_peaks()
players = {"flat": (cb.UCL(), cb.Independent(noise_variance=10.0, arms=100))}
"""
HASH = """
trace = cb.simulate(players, surface, 100, 10)
print(hashlib.sha256(trace.arms.values.tobytes() + trace.rewards.values.tobytes()).hexdigest())
"""


def hash_of_a_simulation(cache, players, largest_file=None):
    def before():
        if largest_file is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

    code, environment = (
        "import hashlib, corrbandits as cb\n" + players + HASH,
        {**os.environ, "NUMBA_CACHE_DIR": str(cache)},
    )
    return subprocess.check_output([sys.executable, "-c", code], env=environment, preexec_fn=before)


@pytest.mark.slow
def test_code_just_compiled_and_code_from_the_cache_give_the_same_bits(tmp_path):
    """On the paper's ill-informed prior, whose symmetry makes ties that any other rounding would break otherwise."""
    cold = hash_of_a_simulation(tmp_path, SYMMETRIC)
    files = sorted(tmp_path.rglob("*.nb?"))
    before = [file.stat().st_mtime_ns for file in files]
    assert hash_of_a_simulation(tmp_path, SYMMETRIC) == cold
    assert before
    assert [file.stat().st_mtime_ns for file in files] == before  # nothing was compiled again


@pytest.mark.slow
def test_a_cache_that_is_damaged_or_cannot_be_written_costs_time_and_nothing_else(tmp_path):
    right = hash_of_a_simulation(tmp_path, SMALL)
    files = sorted(tmp_path.rglob("*.nb?"))
    sizes = [file.stat().st_size for file in files]
    for file in files:
        file.write_bytes(file.read_bytes()[:40])
    assert hash_of_a_simulation(tmp_path, SMALL) == right
    assert [file.stat().st_size for file in files] == pytest.approx(sizes, rel=0.01)  # mended
    assert hash_of_a_simulation(tmp_path / "full", SMALL, largest_file=0) == right
    assert not list((tmp_path / "full").rglob("*.nb?"))
    (tmp_path / "file").write_text("")
    assert hash_of_a_simulation(tmp_path / "file", SMALL) == right


TOY = """
from corrbandits.simulation.engines.compiled.cache import compiled

@compiled
def tripled(x):
    return 3 * x
"""
SHARED = """
import sys, time
from numba.core.caching import IndexDataCacheFile
from toy import tripled

write = IndexDataCacheFile._save_index
def slowly(self, overloads):
    time.sleep(0.2)
    write(self, overloads)
    time.sleep(0.2)
IndexDataCacheFile._save_index = slowly

KINDS = [int, float, complex]
kind = KINDS[int(sys.argv[1]) % 3]
assert tripled(kind(7)) == kind(21)
print("ready", flush=True)
sys.stdin.readline()
assert [type(tripled(kind(7))) for kind in KINDS] == KINDS
print(sum(tripled.stats.cache_misses.values()))
"""


@pytest.mark.slow
def test_several_processes_compile_what_they_need_once_and_read_what_is_whole(tmp_path):
    """However their writing of the same index overlaps: without turns, one loses what another has kept."""
    (tmp_path / "toy.py").write_text(TOY)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", SHARED]
    several = [subprocess.Popen([*command, str(k)], env=environment, **pipes) for k in range(4)]
    for one in several:
        assert one.stdout.readline() == "ready\n"
    compiled = [int(one.communicate("\n")[0]) for one in several]
    assert sum(compiled) == 3
    later = subprocess.run([*command, "0"], env=environment, input="\n", capture_output=True, text=True, check=True)
    assert later.stdout == "ready\n0\n"


FULL_DISK = """
from numba.core.caching import IndexDataCacheFile
def full(self, name, data):
    raise OSError(28, "No space left on device")
IndexDataCacheFile._save_data = full
"""


@pytest.mark.slow
def test_no_index_names_code_of_other_sources_where_the_code_could_not_be_written(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}

    def tripled(source, before=""):
        (tmp_path / "toy.py").write_text(source)
        code = f"{before}\nfrom toy import tripled; print(tripled(7))"
        return int(subprocess.check_output([sys.executable, "-Bc", code], env=environment))

    def kept():
        return [*(tmp_path / "cache").rglob("*.nbc")]

    assert tripled(TOY) == 21
    (first,) = kept()
    changed = TOY.replace("3 * x", "4 * x")
    assert tripled(changed, FULL_DISK) == 28
    assert tripled(changed) == 28
    (second,) = kept()
    assert second.name != first.name


@pytest.mark.parametrize("source", sorted(path.name for path in FOLDER.glob("*.py")))
def test_a_change_in_any_file_of_the_folder_changes_the_stamp(tmp_path, source):
    copy = shutil.copytree(FOLDER, tmp_path / "copy", ignore=shutil.ignore_patterns("__pycache__"))
    (copy / source).touch()
    assert stamp(copy) == stamp(FOLDER)  # the content counts, not the date
    stamp.cache_clear()
    with (copy / source).open("a") as file:
        file.write("# changed")
    assert stamp(copy) != stamp(FOLDER)


COMPILED = ("simulation.engines.compiled", "company.engines.compiled", "choices.compiled", "simulation.engines.gpu")


def numbers_of(package):
    """Yield the numbers that the modules of a compiled package have from modules elsewhere, and whose file that is."""
    for source in Path(importlib.import_module(package).__file__).parent.glob("*.py"):
        for line in ast.parse(source.read_text(encoding="utf-8")).body:
            if isinstance(line, ast.ImportFrom) and line.module.startswith("corrbandits."):
                there = importlib.import_module(line.module)
                if not line.module.startswith(tuple(f"corrbandits.{name}" for name in COMPILED)):
                    numbers = [one.name for one in line.names if isinstance(getattr(there, one.name), int | float)]
                    yield from ((Path(there.__file__), name) for name in numbers)


def test_every_number_that_is_compiled_in_from_elsewhere_is_in_the_stamp():
    found = {pair for name in COMPILED for pair in numbers_of(f"corrbandits.{name}")}
    assert {path for path, _ in found} == set(ELSEWHERE), found


def test_a_change_of_such_a_number_changes_the_stamp(tmp_path, monkeypatch):
    before = stamp(FOLDER)
    changed = tmp_path / "base.py"
    changed.write_text(
        ELSEWHERE[-1].read_text(encoding="utf-8").replace("NEAR = 1e-9", "NEAR = 1e-8"), encoding="utf-8"
    )
    monkeypatch.setattr(cache, "ELSEWHERE", (*ELSEWHERE[:-1], changed))
    assert stamp.__wrapped__(FOLDER) != before


GREEDY = """
import corrbandits as cb
prior = cb.Independent(mean=[0.0, 1.0], variance=1e-9, noise_variance=1.0)
print(cb.simulate({"a": (cb.Greedy(), prior)}, cb.GaussianBandit([0.0, 1.0], 1.0), 1, engine="compiled").arms.item())
"""


def test_a_change_in_a_part_reaches_the_loops_of_another_file(tmp_path):
    """numba alone would go on with the loops in the cache, since their own file has not changed."""
    package = tmp_path / "corrbandits"
    shutil.copytree(Path(corrbandits.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def arm_taken():
        return int(subprocess.check_output([sys.executable, "-c", GREEDY], env=environment))

    assert arm_taken() == 1
    place = package / FOLDER.relative_to(Path(corrbandits.__file__).parent) / "choose.py"
    place.write_text(place.read_text().replace("limit = mu[i] + width * w[i]", "limit = width * w[i] - mu[i]"))
    assert arm_taken() == 0
