"""The benchmark's loops do the work they are timed on; the page shows the data it came with. No time is asserted."""

import gc
import json
import shutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from benchmarks import (
    change,
    company,
    gpu,
    gpu_games,
    gpu_peers,
    loops,
    moving,
    peers,
    problems,
    report,
    service,
    studies,
    timing,
    untold,
)

import corrbandits as cb
from tests.support import ROOT
from tests.support.databases import noted


@pytest.fixture(scope="module", params=[True, False], ids=["printed", "plain"])
def problem(request):
    return problems.correlated(4, 5, 60, factor=request.param)


def test_the_prior_needs_no_initialisation(problem):
    assert not problem.policy.pending(problem.prior).any()


@pytest.mark.parametrize("make", [loops.naive, loops.in_place], ids=lambda make: make.__name__)
def test_numpy_loops_choose_the_arms_that_simulate_chooses(make):
    problem = problems.correlated(4, 5, 60)
    for run, arms in enumerate(problem.play(runs=2)):
        np.testing.assert_array_equal(make(problem)(problem.eps(run)), arms)


def test_step_by_step_chooses_the_arms_that_simulate_chooses(problem):
    np.testing.assert_array_equal(loops.step_by_step(problem)(problem.eps()), problem.play()[0])


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")
def test_the_c_loop_chooses_the_arms_that_simulate_chooses(tmp_path):
    problem = problems.correlated(4, 5, 60)
    np.testing.assert_array_equal(loops.in_c(problem, loops.built_c(tmp_path))(problem.eps()), problem.play()[0])


def test_scikit_learn_chooses_the_arms_that_simulate_chooses():
    problem = problems.correlated(4, 5, 60, factor=False)
    chosen = peers.aggregating(problem, peers.scikit_learn(problem))(problem.eps())
    np.testing.assert_array_equal(chosen, problem.play()[0])


def test_the_page_shows_what_was_measured():
    data = json.loads((ROOT / "docs" / "performance.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    assert report.page(page, data) == page


def test_everything_that_was_measured_is_printed_and_drawn():
    data = json.loads((ROOT / "docs" / "performance.json").read_text(encoding="utf-8"))
    printed = report.printed(data)
    for row in data["rows"]:
        assert row["what"] in printed
    sizes = {row["arms"] for row in data["rows"] if row["section"].startswith(report.CORRELATED)}
    assert len(report.bars(data).axes) == len(sizes)


def test_a_belief_told_nothing_is_measured_and_the_page_shows_it(tmp_path):
    data = untold.measured(tmp_path, share=0.002)
    assert len(data["rows"]) == 7
    assert all(row["seconds"] > 0 for row in data["rows"])
    page = (ROOT / "docs" / untold.PAGE).read_text(encoding="utf-8")
    made = untold.page(page, data)
    assert all(row["what"] in made for row in data["rows"])
    assert untold.page(made, data) == made
    kept = json.loads((ROOT / "docs" / untold.DATA).read_text(encoding="utf-8"))
    assert untold.page(page, kept) == page


@pytest.mark.parametrize("module", [change, company])
def test_times_beside_others_are_measured_and_the_page_shows_them(module, monkeypatch, tmp_path, capsys):
    if module is company:
        monkeypatch.setattr(company, "PAIRS", dict([*company.PAIRS.items()][:1]))
    monkeypatch.setattr("sys.argv", ["a benchmark", "--quick", "--out", str(tmp_path)])
    module.main()
    data = json.loads((tmp_path / module.BESIDE.data).read_text(encoding="utf-8"))
    printed, page = capsys.readouterr().out, (tmp_path / module.BESIDE.page).read_text(encoding="utf-8")
    for row in data["rows"]:
        assert row["one"] > 0 < row["other"]
        assert f"| {row['what']} |" in printed
    assert printed.strip() in page
    names = [name for name, *_ in change.players(9)] if module is change else company.SHARING
    assert len(data["rows"]) == len(names)
    assert all(name in row["what"] for name, row in zip(names, data["rows"], strict=True))


@pytest.mark.parametrize("module", [change, company])
def test_pages_show_the_times_that_are_kept(module):
    page = (ROOT / "docs" / module.BESIDE.page).read_text(encoding="utf-8")
    assert module.BESIDE.shown(page, module.BESIDE.kept()) == page


def test_whether_a_time_is_within_what_it_may_be_is_said():
    data = {"rows": [{"what": "x", "one": 1e-6, "other": 3.1e-6}, {"what": "y", "one": 1e-6, "other": 2.9e-6}]}
    rows = change.BESIDE.table(data | {"machine": timing.machine(), "load": [0.0, 0.0]}).splitlines()[2:4]
    assert [row.split(" | ")[-1] for row in rows] == ["no |", "yes |"]


def test_durations_and_numbers_are_readable():
    assert [report.duration(s) for s in (2.04e-6, 0.0153, 3.0, 4e-10)] == ["2.04 µs", "15.3 ms", "3 s", "0.4 ns"]
    assert [report.number(x) for x in (0.1234, 12.34, 12345.6)] == ["0.123", "12.3", "12,346"]


def test_the_page_on_studies_shows_what_was_measured():
    data = json.loads((ROOT / "docs" / "ask-and-tell.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "ask-and-tell.md").read_text(encoding="utf-8")
    assert studies.page(page, data) == page
    targets = [row["what"] for row in data["rows"] if row["target"]]
    assert targets[:3] == [studies.RDB, studies.LATE, studies.OPENING]


def test_studies_are_measured_against_optuna_on_the_same_work(tmp_path, monkeypatch):
    connections = noted(monkeypatch)
    data = studies.measured(tmp_path, trials=2, share=0.002)
    gc.collect()
    assert set(map(id, connections.made)) == set(map(id, connections.closed)), "Python 3.13 warns of those left open"
    assert [row["what"] for row in data["rows"]] == [
        studies.OURS, studies.RDB, studies.FILE, studies.EARLY, studies.LATE, studies.OPENING,
        studies.LIBRARIES, studies.COMMAND,
    ]  # fmt: skip
    assert all(row["seconds"] > 0 for row in data["rows"])
    assert studies.RDB in studies.table(data)


@pytest.mark.slow
@pytest.mark.parametrize("what", [service.TOLD, service.KILLED])
def test_the_service_is_loaded_and_loses_nothing(tmp_path, what):
    found = service.served(f"sqlite:///{tmp_path}/load.db", what, clients=4, seconds=3.0)
    assert found["acknowledged"] > 0
    assert found["calls"].keys() == {"ask", "tell", "look"}
    assert all(call["p50"] <= call["p99"] for call in found["calls"].values())
    beside = service.beside(f"sqlite:///{tmp_path}/optuna.db", clients=2, seconds=1.0)
    on = {"processor": "a", "cores": 1, "versions": {}}
    rows = [{"on": "SQLite", "what": what} | found, {"on": "SQLite", "what": service.OPTUNA} | beside]
    data = {"machine": on, "load": [0, 0], "clients": 4, "seconds": 3.0, "rows": rows}
    page = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
    assert service.table(data) in service.page(page, data)


def test_a_reward_that_is_not_in_the_journal_is_missed(tmp_path):
    url = f"sqlite:///{tmp_path}/load.db"
    service.created(url, service.TOLD)
    with cb.Study.open(url, "load") as study:
        study.tell(study.ask(), 3.0)
    assert service.missing(url, {1: 3.0}) == 0
    assert service.missing(url, {1: 3.5, 2: 1.0}) == 2


def test_the_page_on_moving_shows_what_was_played():
    data = json.loads((ROOT / "docs" / moving.DATA).read_text(encoding="utf-8"))
    page = (ROOT / "docs" / moving.PAGE).read_text(encoding="utf-8")
    assert moving.page(page, data) == page
    for row in data["rows"]:
        ours = row["total"]["Travelling"][0]
        mean, error = row["total"]["itself"]
        assert ours < mean + 2 * error, row  # nowhere clearly dearer than the rule itself
        assert ours < row["total"]["in blocks"][0], row


def test_the_players_on_moving_are_played_on_the_same_problems():
    found = moving.costs(cb.UCL(), {"per_move": 5.0}, horizon=30, problems=2)
    assert {len(values) for values in found.values()} == {2}
    moves = cb.Moves(per_move=5.0, coordinates=moving.WHERE)
    kernel, noise = moving.KERNELS[0]
    prior = cb.Correlated(kernel=kernel, coordinates=moving.WHERE, noise_variance=noise)
    surface = cb.landscapes.draw(kernel, moving.WHERE, noise_variance=noise, seed=moving.FIRST_SEED)
    trace = cb.simulate({"UCL": (cb.UCL(), prior)}, surface, 30, seed=0, moves=moves)
    assert found["itself"][0] == trace.total_cost.values[0, 0, -1]


def test_the_page_on_devices_shows_what_was_measured():
    data, page = report.kept(gpu.DATA), (ROOT / "docs" / gpu.PAGE).read_text(encoding="utf-8")
    assert report.marked(page, gpu.MARK, gpu.table(data)) == page
    assert report.marked(page, gpu_games.MARK, gpu_games.table(report.kept(gpu_games.DATA))) == page
    assert len(gpu.bars(data).axes[0].patches) == sum(
        bool(row.get(name)) for row in data["rows"] for name in gpu.ENGINES
    )


@pytest.mark.parametrize("quick", [True, False])
def test_every_row_on_a_device_has_runs_and_decisions(quick):
    for row in gpu.rows(quick=quick):
        assert min(row.runs, row.cpu_runs, row.problem.horizon) >= 1
        assert bool(row.peer_runs) == bool(row.peer_horizon)
    assert min(min(row.games, row.horizon) for row in gpu_games.rows(quick=quick)) >= 8


@pytest.mark.parametrize("make", [gpu_games.stressed, gpu_games.untold])
def test_games_at_once_differ_and_are_those_that_the_cores_play(monkeypatch, make):
    """The compiled engine stands for the device."""
    monkeypatch.setattr(gpu_games, "DEVICE", "compiled")
    row = gpu_games.Row("ours", make, games=3, horizon=9)
    one, other, _ = row.made(range(3))
    assert not np.array_equal(one.environment.means, other.environment.means)
    with ThreadPoolExecutor(2) as pool:
        found = gpu_games.measured(row, pool)
    assert found["alike"] == found["games"] == 3
    assert 60 <= found["arms"][0] <= found["arms"][1] <= 160
    shown = gpu_games.table({"machine": timing.machine(), "device": "none", "load": [0.0, 0.0], "rows": [found]})
    assert shown.splitlines()[2].startswith("| ours |")


@pytest.mark.parametrize("make", [gpu_peers.in_jax, lambda problem: gpu_peers.in_torch(problem, "cpu")])
@pytest.mark.parametrize("kind", ["printed", "plain", "independent"])
def test_batches_of_other_libraries_choose_the_arms_that_simulate_chooses(make, kind):
    problem = problems.independent(5, 40, cb.UCL())
    if kind != "independent":
        problem = problems.correlated(4, 5, 40, factor=kind == "printed")
    try:
        play = make(problem)
    except ImportError as missing:
        pytest.skip(f"{missing.name} is for benchmarks: it is in requirements-bench.lock")
    np.testing.assert_array_equal(play(2, np.stack([problem.eps(0), problem.eps(1)])), problem.play(2))
