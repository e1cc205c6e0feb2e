"""`corrbandits bounds`: what the theorems promise, beside a trace."""

import numpy as np
import pytest

import corrbandits as cb
from corrbandits._shell.numbers import number
from corrbandits.paper import reproduction
from tests.support.commands import SMALL, contents, corrbandits, here


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    """A directory with an experiment, its whole trace in full/ and its summary in part/."""
    directory = tmp_path_factory.mktemp("traces")
    (directory / "small.toml").write_text(SMALL)
    for out, options in (("full", ()), ("part", ("--record", "summary", "--threads", "1"))):
        done = corrbandits("simulate", "small.toml", "--out", out, *options, cwd=directory)
        assert done.returncode == 0, done.stderr
        assert set(contents(directory / out)) == {"small.nc", "small.png", "small.pdf"}
    return directory


def test_a_summary_is_written_drawn_and_compared_with_the_bounds(traces, tmp_path, monkeypatch, capsys):
    said = []
    for kind in ("full", "part"):
        arguments = ("--trace", traces / kind / "small.nc", "--out", tmp_path)
        assert here(monkeypatch, "bounds", traces / "small.toml", *arguments) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    full, summary = (cb.Trace.load(traces / kind / "small.nc") for kind in ("full", "part"))
    assert "arms" not in summary.data
    np.testing.assert_array_equal(summary.regret, full.regret.sel(time=summary.data["time"].values))


def test_a_summary_of_another_horizon_is_refused(traces, tmp_path, monkeypatch, capsys):
    (tmp_path / "other.toml").write_text(SMALL.replace("horizon = 60", "horizon = 61"))
    assert here(monkeypatch, "bounds", tmp_path / "other.toml", "--trace", traces / "part" / "small.nc") == 2
    assert "must have 61 decisions, but it has 60" in capsys.readouterr().err


def test_bounds_of_the_papers_experiment(tmp_path):
    done = corrbandits("bounds", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert set(contents(tmp_path / "results")) == {"paper-bounds.png", "paper-bounds.pdf"}
    for policy in ("uninformative, Theorem 1: informative", "ill-informed correlated, Theorem 2, summed: vacuous"):
        assert policy in done.stdout
    assert "simulated" not in done.stdout


def test_bounds_of_an_experiment_beside_its_trace(tmp_path):
    more = SMALL.replace("[run]", '[policies.three]\nrule = "Greedy"\nprior = "smooth"\n[run]')
    (tmp_path / "small.toml").write_text(more)
    assert corrbandits("simulate", "small.toml", cwd=tmp_path).returncode == 0
    done = corrbandits("bounds", "small.toml", "--trace", "results/small.nc", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {"small-bounds.png", "small-bounds.pdf"} < set(contents(tmp_path / "results"))
    assert "three: no theorem of the paper speaks of this policy" in done.stdout
    assert "one, Theorem 1" in done.stdout
    assert "simulated" in done.stdout
    trace = cb.Trace.load(tmp_path / "results" / "small.nc")
    counts = trace.counts.mean("run").values
    first_row = next(line for line in done.stdout.splitlines() if line.split()[:2] == ["2", "1"])
    near = np.flatnonzero(np.isin(trace.data["means"], [4, 3]))  # the two groups of smallest gap are split by count
    assert any(f"{counts[0, arm]:,.1f}" in first_row for arm in near)


def test_the_bayesian_bound_is_said_where_it_applies_beside_what_was_lost(tmp_path, monkeypatch, capsys):
    """Of Gittins on a proper prior; not of `one`, whose prior is improper, nor of `two`, the printed index."""
    more = SMALL.replace("[run]", '[policies.three]\nrule = "Gittins"\nprior = "smooth"\n[run]')
    (tmp_path / "small.toml").write_text(more)
    monkeypatch.chdir(tmp_path)
    assert here(monkeypatch, "simulate", "small.toml") == 0
    capsys.readouterr()
    assert here(monkeypatch, "bounds", "small.toml", "--trace", "results/small.nc") == 0
    said = " ".join(capsys.readouterr().out.split())
    rule, prior = cb.experiment.load("small.toml").policies["three"]
    bound = cb.theory.bayes_bound(prior, rule, 60)
    lost = float(cb.Trace.load("results/small.nc").regret.sel(policy="three", time=60).mean())
    assert f"three, Bayesian bound: {bound.statement}." in said
    assert f"it loses {number(bound.total)} on average, or less." in said
    assert f"On the mean rewards of this experiment it lost {number(lost)}." in said
    assert said.count("Bayesian bound") == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("policies.two", "policies.other"), "it lacks other"),
        (("means = [0,", "means = [1,"), "have other mean rewards"),
        (("horizon = 60", "horizon = 61"), "must have 61 decisions, but it has 60"),
    ],
)
def test_a_trace_of_another_experiment_is_refused(traces, tmp_path, monkeypatch, capsys, change, message):
    (tmp_path / "other.toml").write_text(SMALL.replace(*change))
    arguments = ("--trace", traces / "full" / "small.nc", "--out", tmp_path / "new")
    assert here(monkeypatch, "bounds", tmp_path / "other.toml", *arguments) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_counts_are_compared_after_initialisation():
    from corrbandits.experiment.results import counts_after_initialisation

    bandit = cb.GaussianBandit([0.0, 1.0, 2.0], 1.0)
    prior = cb.Correlated(covariance=9 * np.eye(3), noise_variance=1.0)  # every arm must be taken once first
    policy = cb.CorrelatedUCL(a=1.5)
    trace = cb.simulate({"x": (policy, prior)}, bandit, 50, 4)
    without = counts_after_initialisation(trace, "x", policy, prior)
    np.testing.assert_allclose(without, trace.counts.sel(policy="x").mean("run") - 1)


BOUNDS = """\
[arms]
count = 2
[truth]
means = {means}
noise_variance = 1.0
[priors.p]
variance = {variance}
[policies.one]
rule = "{rule}"
prior = "p"
a = {a}
[run]
horizon = {horizon}
runs = 3
"""


def bounds_file(path, means="[1.0, 0.0]", variance=1.0, rule="UCL", a=3.0, horizon=200):
    path.write_text(BOUNDS.format(means=means, variance=variance, rule=rule, a=a, horizon=horizon))


def test_bounds_of_arms_that_are_all_optimal_or_of_one_decision(tmp_path):
    for changes in ({"means": "[1.0, 1.0]"}, {"horizon": 1}):
        bounds_file(tmp_path / "few.toml", **changes)
        done = corrbandits("bounds", "few.toml", cwd=tmp_path)
        assert done.returncode == 0, done.stderr


def test_a_trace_of_other_parameters_is_refused(tmp_path):
    bounds_file(tmp_path / "my.toml")
    assert corrbandits("simulate", "my.toml", cwd=tmp_path).returncode == 0
    assert corrbandits("bounds", "my.toml", "--trace", "results/my.nc", cwd=tmp_path).returncode == 0
    bounds_file(tmp_path / "my.toml", a=5.0)
    done = corrbandits("bounds", "my.toml", "--trace", "results/my.nc", cwd=tmp_path)
    assert done.returncode == 2
    assert "these parameters of the policies" in done.stderr


def test_counts_after_an_initialisation_that_did_not_end_are_not_negative(tmp_path):
    bounds_file(tmp_path / "my.toml", variance=10.0, rule="CorrelatedUCL", horizon=1)
    assert corrbandits("simulate", "my.toml", cwd=tmp_path).returncode == 0
    done = corrbandits("bounds", "my.toml", "--trace", "results/my.nc", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "-1.0" not in done.stdout


def test_bounds_beside_a_figure_of_the_paper(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(reproduction, "HORIZON", 300)  # what is compared does not depend on it
    surface = cb.landscapes.two_peaks()
    trace = cb.simulate(reproduction.well_informed(surface), surface, 300, 2)
    trace.save(tmp_path / "figure1.nc")
    arguments = ("--figure", "1", "--trace", tmp_path / "figure1.nc", "--out", tmp_path)
    assert here(monkeypatch, "bounds", *arguments) == 0
    assert "simulated" in capsys.readouterr().out
