"""Stress tests where mean rewards change: priors that drift, and truths that do."""

import json
import math
import re

import matplotlib as mpl
import numpy as np
import pytest

import corrbandits as cb
from corrbandits import stress
from corrbandits.experiment import ExperimentError
from corrbandits.stress import figures, panels
from corrbandits.stress.experiment import load
from corrbandits.stress.findings import Row, findings
from corrbandits.stress.page import render
from corrbandits.stress.page.charts import chart_data
from corrbandits.stress.sentences import sentences
from corrbandits.stress.settings import settings
from tests.stress.test_figures import assert_nothing_is_cut
from tests.stress.test_playing import dealt_by_hand
from tests.support.stress_cases import KERNEL, SURFACE, stressed

mpl.use("agg")
WHERE = cb.landscapes.grid(3, 3)
TRUTH = cb.series.drift(KERNEL, WHERE, steps=40, scale=20.0, noise_variance=4.0, seed=1, mean=20.0, shape=(3, 3))
RULE = cb.UCL(a=1.5)


def small(truth=TRUTH, **options):
    """Return a small test on nine arms that drift."""
    few = {"kinds": ["shift"], "accuracy": [0.0, 3.0], "confidence": [1.0, 10.0], "length": [1.0], "runs": 3}
    given = {"mean": 20.0, "kernel": KERNEL, "survivors": False, **few, **options}
    return stress.run(given.pop("policy", RULE), truth, 30, **given)


@pytest.fixture(scope="module")
def drifting():
    """A test of a prior that drifts, with everything but the kinds that its alike means leave idle."""
    return small(drift=20.0, kinds=["shift", "drift"], survivors=True, length=[0.5, 1.0])


def regret(test, kind, accuracy, candidate="plain"):
    """Return the regret of a candidate by run and time, variance and length being as given."""
    data = test.data
    here = (data["kind"].values == kind) & (data["accuracy"].values == accuracy)
    at = here & (data["confidence"].values == 1) & (data["length"].values == 1)
    return data["regret"].sel(candidate=candidate).values[at][0]


def by_hand(test, run, player):
    """Return the regret of a rule on a belief of arms in the order of a run, itself made from that order."""
    order, _, seed = dealt_by_hand(run, truth=TRUTH)
    arms = cb.ChangingBandit(TRUTH.path[:, order], 4.0)
    trace = cb.simulate({"one": player(order)}, arms, seed=seed, horizon=30)
    return trace.regret.sel(policy="one", time=test.data["time"].values).values[0]


def prior(order, scale):
    known = cb.Correlated(mean=20.0, kernel=KERNEL, coordinates=WHERE[order], noise_variance=4.0)
    return cb.Drifting(prior=known, scale=scale)


# --- who plays ---


@pytest.mark.parametrize("factor", [0.1, 0.3162, 3.162, 10.0])
def test_the_kind_drift_multiplies_the_scale(drifting, factor):
    for run in range(2):
        expected = by_hand(drifting, run, lambda order: (RULE, prior(order, 20.0 * factor)))
        np.testing.assert_allclose(regret(drifting, "drift", factor)[run], expected, rtol=1e-9)


def test_as_given_is_the_prior_as_it_drifts(drifting):
    expected = by_hand(drifting, 1, lambda order: (RULE, prior(order, 20.0)))
    np.testing.assert_allclose(regret(drifting, "shift", 0.0)[1], expected, rtol=1e-9)
    alone = small(drift=20.0, kinds=["drift"], accuracy=[0.5, 1.0])
    np.testing.assert_array_equal(regret(alone, "drift", 1.0), regret(drifting, "shift", 0.0))
    np.testing.assert_array_equal(regret(small(drift=10.0), "shift", 0.0), regret(alone, "drift", 0.5))


@pytest.mark.parametrize("rule", [RULE, cb.CorrelatedUCL(a=1.5), cb.Gittins(30)], ids=lambda rule: type(rule).__name__)
def test_an_infinite_factor_is_the_test_of_the_prior_that_takes_means_for_fixed_bit_for_bit(rule):
    changes = small(policy=rule, drift=20.0, kinds=["shift", "drift"], accuracy={"drift": [1.0, math.inf]})
    stays = small(policy=rule)
    for candidate in {"printed", "plain"} & set(stays.data["candidate"].values):
        given = regret(stays, "shift", 0.0, candidate)
        np.testing.assert_array_equal(regret(changes, "drift", math.inf, candidate), given)
        assert (regret(changes, "shift", 0.0, candidate) != given).any()


def test_independent_arms_drift_with_the_scale_and_know_the_means_of_all_times(drifting):
    played = TRUTH.path[:30]
    apart = cb.Independent(mean=played.mean(), variance=played.var(), noise_variance=4.0, arms=9)
    expected = by_hand(drifting, 2, lambda _: (RULE, cb.Drifting(prior=apart, scale=20.0)))
    np.testing.assert_allclose(regret(drifting, "drift", 10.0, "independent")[2], expected, rtol=1e-9)
    assert played.mean() != pytest.approx(TRUTH.means.mean(), rel=1e-3)


def test_the_uninformative_prior_takes_means_for_fixed(drifting):
    flat = cb.Independent(noise_variance=4.0, arms=9)
    expected = by_hand(drifting, 0, lambda _: (RULE, flat))
    np.testing.assert_allclose(regret(drifting, "drift", 10.0, "uninformative")[0], expected, rtol=1e-9)


def test_who_is_told_nothing_learns_how_fast_means_drift(drifting):
    nothing = by_hand(drifting, 0, lambda order: (cb.Gittins(30), cb.Vague(coordinates=WHERE[order], drift=True)))
    np.testing.assert_allclose(regret(drifting, "drift", 10.0, "vague")[0], nothing, rtol=1e-9)


def test_beliefs_for_means_that_stay_are_not_played_and_the_words_say_so(drifting):
    assert drifting.data["candidate"].values.tolist() == ["plain", "uninformative", "independent", "vague"]
    said = "Elimination and refitting are for means that stay, so they were not played."
    assert drifting.sentences()[-1] == said
    assert f"<p>{said}</p>" in render(drifting)


def test_by_default_the_kind_drift_is_tried_where_the_prior_drifts_alone():
    data = small(drift=20.0, kinds=None, accuracy=None).data
    tried = data["accuracy"].values[data["kind"].values == "drift"]
    assert sorted(tried) == [0.1, 0.3162, 3.162, 10.0, math.inf]  # as given is listed once, under shift
    assert "drift" not in small(kinds=None, accuracy=None).data["kind"].values


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kinds": ["shift", "drift"]}, "the kind drift makes the scale of a drift wrong, but the prior takes the me"),
        ({"drift": 0.0}, "drift must be above 0"),
        ({"drift": math.inf}, "drift must be above 0 and finite"),
        ({"drift": (10.0, 100.0)}, "drift must be"),
        ({"drift": 20.0, "kinds": ["drift"], "accuracy": [0.0]}, "factors above 0 for the kind drift"),
        ({"drift": 20.0, "kinds": ["drift"], "accuracy": [math.nan]}, "factors above 0 for the kind drift"),
        ({"drift": 20.0, "accuracy": [math.inf]}, "accuracy must be finite"),
        ({"drift": 1e-200, "kinds": ["drift"], "accuracy": [1e-200]}, "scale must be above 0"),
    ],
)
def test_what_cannot_drift_is_refused_before_any_work(options, said, monkeypatch):
    monkeypatch.setattr("corrbandits.stress.playing.simulate", lambda *_, **__: pytest.fail("work has begun"))
    with pytest.raises((ValueError, TypeError), match=said):
        small(**options)


# --- words ---


def made_up(level=100.0, **attributes):
    """Return findings and sentences: regret 40 as given, 40 more per decade of the scale, 84 with fixed means."""
    tried = {"shift": [-1.0, 0.0, 1.0], "drift": [0.01, 0.1, 1.0, 10.0, math.inf]}
    rows = []
    for setting in settings(tried, [1.0, 10.0], [1.0, 10.0]):
        decades = abs(math.log10(setting.drift)) if setting.drift < math.inf else 1.1
        for name, mean in (("printed", 40 + 40 * decades), ("uninformative", level)):
            rows.append(Row(name, *setting, 10, 5, mean, mean, mean))
    about = {"default_kind": "shift", "candidate": "printed", "drift": 100.0, **attributes}
    found = findings(rows, about)
    return found, sentences(found, about)


def test_sentences_say_where_the_scale_is_safe_and_what_fixed_means_cost():
    found, said = made_up(truth_changes=1)
    assert found["drift_low"] == pytest.approx(10**-1.5)
    assert (found["drift_high"], found["drift_tried"], found["fixed"]) == (10.0, (0.01, 10.0), 84.0)
    safe = "a scale of the drift of 3.16 to 1,000, the most that was tried, is safe"
    assert f"{safe}, with one thing wrong at a time" in said[0]
    assert f"A{safe[1:]}; 100 was best." in said
    assert "To take the means for fixed costs 2.1 times the regret: 84 in place of 40." in said
    assert said[2] == "Mean rewards change with time, and the regret is measured against the best arm of each time."
    assert said[3] == "The uninformative prior takes the means for fixed; independent arms drift with your scale."
    assert made_up()[1][2] == "Mean rewards stay as they are here, though your prior lets them drift."


def test_a_prior_that_stands_on_means_that_change_says_so():
    test = small()
    said = test.sentences()
    assert said[2] == "Mean rewards change with time, and the regret is measured against the best arm of each time."
    assert said[3].startswith("Your prior takes them for fixed, and so do all whom it is measured against")
    assert not any("change with time" in sentence for sentence in stressed(horizon=5, runs=1).sentences())
    low, high = TRUTH.path[:30].min(), TRUTH.path[:30].max()
    wanted = f"9 arms with means that change, from {low:.3g} to {high:.3g}, and noise of variance 4"
    assert test.data.attrs["truth"] == wanted


def test_shifts_are_in_deviations_of_the_means_of_all_times():
    tried = small(accuracy=None).data["accuracy"].values
    assert max(tried) == 2 * float(f"{TRUTH.path[:30].std():.3g}")


def test_drift_in_pairs_has_its_own_words():
    test = small(drift=20.0, kinds=["drift"], accuracy=[0.1, 1.0, math.inf])
    said = test.sentences()
    assert said[0].startswith(f"Your prior {test.findings()['verdict']}")
    assert "on its means" not in said[0]
    tried = "with a scale of the drift 0.1 to 1 times yours and means taken for fixed, its regret is at most"
    assert any("Safest against a wrong scale of the drift is" in each and tried in each for each in said)
    assert panels.pair_grids(test.data)[0].name == "drift-confidence"
    columns = [text.get_text() for text in figures.grids(test).axes[0].get_xticklabels()]
    assert columns == ["0.1", "1", "fixed"]
    cells = chart_data(test)["maps"]["plain"]["30"]["drift-confidence"][0]["hovertext"]
    assert cells[1][2].startswith("<b>means taken for fixed, variance × 10</b>")


def test_only_fixed_means_beside_the_prior_have_no_range():
    test = small(drift=20.0, kinds=["shift", "drift"], accuracy={"drift": [math.inf]})
    whole = " ".join(test.sentences())
    assert "scale of the drift of" not in whole
    assert "To take the means for fixed" in whole


# --- figures, page and files ---


def test_fixed_means_stand_a_step_beyond_the_scales(drifting):
    curve = next(curve for curve in panels.curves(drifting.data) if curve.factor == "drift")
    assert curve.x.tolist() == [0.1, 0.3162, 1.0, 3.162, 10.0, math.inf]
    assert curve.places[-1] / curve.places[-2] == pytest.approx(10 / 3.162)
    (ax,) = (ax for ax in figures.curves(drifting).axes if ax.get_xlabel() == "scale of the drift times")
    assert ax.get_xscale() == "log"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0.1", "0.32", "1", "3.2", "10", "fixed"]
    np.testing.assert_allclose(ax.lines[0].get_ydata()[-1], regret(drifting, "drift", math.inf)[:, -1].mean())
    assert_nothing_is_cut(figures.curves(drifting))


def test_the_page_is_strict_json_and_has_the_curve(drifting):
    def refuse(name):
        pytest.fail(f"{name} is not JSON")

    text = re.search(r'id="numbers">(.*?)</script>', render(drifting), re.DOTALL)[1]
    shown = json.loads(text, parse_constant=refuse)
    assert shown == json.loads(json.dumps(chart_data(drifting)), parse_constant=refuse)
    assert shown["layouts"]["drift"]["xaxis"]["ticktext"][-1] == "fixed"
    assert shown["layouts"]["drift"]["xaxis"]["type"] == "log"
    assert shown["curves"]["30"]["drift"][2]["y"][-1] == pytest.approx(
        regret(drifting, "drift", math.inf)[:, -1].mean()
    )


def test_the_page_says_the_scale_and_names_no_belief_that_was_not_played(drifting):
    page = render(drifting)
    assert "drifts with a scale of 20 decisions" in page
    assert "surviving beliefs" not in page
    assert "surviving beliefs" in render(stressed(horizon=5, runs=2, survivors=True))


def test_files_keep_the_infinite_factor(drifting, tmp_path):
    drifting.save(tmp_path / "test.nc")
    again = stress.StressTest.load(tmp_path / "test.nc")
    assert again.data.identical(drifting.data)
    assert (again.sentences(), again.data.attrs["drift"]) == (drifting.sentences(), 20.0)
    rows = [line.split(",") for line in drifting.to_csv().splitlines()]
    means = [float(row[7]) for row in rows if row[:3] == ["plain", "drift", "inf"] and row[5] == "30"]
    assert means == [regret(drifting, "drift", math.inf)[:, -1].mean()]


def test_a_checkpoint_of_another_scale_is_another_test(tmp_path):
    given = {"kinds": ["drift"], "accuracy": [math.inf], "checkpoint": tmp_path / "here"}
    first = small(drift=20.0, **given)
    assert bytes(small(drift=20.0, **given).to_netcdf()) == bytes(first.to_netcdf())
    with pytest.raises(ValueError, match="another prior"):
        small(drift=21.0, **given)


@pytest.mark.parametrize("drift", [None, 20.0])
def test_arms_that_differ_later_only_may_be_listed_in_any_order(drift):
    path, files = np.zeros((30, 5)), set()
    path[10:] = np.arange(5.0)
    for order in ([0, 1, 2, 3, 4], [4, 2, 0, 1, 3]):
        truth = cb.ChangingBandit(path[:, order], 1.0)
        given = {"kernel": None, "covariance": np.eye(5), "drift": drift, "accuracy": [0.0, 1.0], "policy": cb.GPUCB()}
        files.add(small(truth, **given).to_csv())
    assert len(files) == 1


# --- experiment files ---

FILE = """\
[arms]
grid = [3, 3]
[truth]
noise_variance = 4.0
drift = { kernel = "exponential", length = 2.0, variance = 4.0, mean = 20.0, scale = 20.0, seed = 1 }
[priors.mine]
kind = "drifting"
scale = 20.0
mean = 20.0
kernel = { name = "exponential", length = 2.0, variance = 4.0 }
[policies.mine]
rule = "UCL"
prior = "mine"
a = 1.5
[run]
horizon = 30
runs = 3
[stress]
kinds = ["shift", "drift"]
accuracy = { shift = [0.0, 3.0], drift = [0.5, inf] }
confidence = [1.0, 10.0]
length = [1.0]
"""
OWN = 'drift = { kernel = "exponential", length = 2.0, variance = 4.0, mean = 20.0, scale = 20.0, seed = 1 }\n'
DRAWS = 'truth_draws = { kernel = "exponential", length = 2.0, variance = 4.0, seed = 5, count = 2, mean = 20.0 }\n'
DRIFTS = DRAWS.replace(" }", ", scale = 20.0 }")


@pytest.fixture
def read(tmp_path):
    def from_text(text):
        (tmp_path / "my.toml").write_text(text)
        return load(tmp_path / "my.toml")

    return from_text


def test_a_file_says_what_the_function_takes(read):
    truth = cb.series.drift(KERNEL, WHERE, steps=30, scale=20.0, noise_variance=4.0, seed=1, mean=20.0)
    tried = {"kinds": ["shift", "drift"], "accuracy": {"shift": [0.0, 3.0], "drift": [0.5, math.inf]}}
    assert stress.run(**read(FILE)).to_csv() == small(truth, drift=20.0, **tried).to_csv()


def test_a_prior_that_drifts_by_a_covariance(read):
    matrix = f"covariance = {(4 * np.eye(9)).tolist()}"
    found = read(FILE.replace('kernel = { name = "exponential", length = 2.0, variance = 4.0 }', matrix))
    assert (found["drift"], found["covariance"].tolist()) == (20.0, (4 * np.eye(9)).tolist())


def test_a_family_of_drifts_has_the_seeds_from_the_first_on(read):
    for text in (FILE.replace(OWN, "") + DRIFTS, FILE + DRIFTS):
        family = read(text)["truth"]
        for k, surface in enumerate(family):
            drawn = cb.series.drift(KERNEL, WHERE, steps=30, scale=20.0, noise_variance=4.0, seed=5 + k, mean=20.0)
            np.testing.assert_array_equal(surface.path, drawn.path)
        assert len(family) == 2


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("scale = 20.0\nmean", "scale = [10.0, 50.0]\nmean", 8, "scale must be one finite number"),
        ("scale = 20.0\nmean", "scale = inf\nmean", 8, "for means that stay, leave the kind out"),
        ('kind = "drifting"\nscale = 20.0\n', "", 17, "the kind drift makes the scale of a drift wrong"),
        ("[0.5, inf]", "[-0.5]", 20, "factors above 0 for the kind drift"),
        ("length = [1.0]\n", DRAWS, 22, "the means of a family stay, but those of"),
        (OWN, 'rewards = "bernoulli"\n', 22, "scale must not be given with rewards"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_with_its_line(read, old, new, line, said):
    text = FILE.replace("noise_variance = 4.0\n", "") + DRIFTS if "bernoulli" in new else FILE
    assert text.count(old) == 1
    with pytest.raises(ExperimentError, match=f"line {line}: .*{re.escape(said)}"):
        read(text.replace(old, new))


def test_a_prior_on_change_of_unknown_form_has_no_scale_to_be_wrong(read):
    windowed = FILE.replace('"drifting"\nscale = 20.0', '"windowed"\nwindow = 9') + 'policy = "mine"\n'
    with pytest.raises(ExperimentError, match=r"line 13: .*prior must be one .* which may drift, .* of another kind"):
        read(windowed)


def test_a_policy_whose_prior_drifts_is_found_beside_one_told_nothing(read):
    other = '[priors.little]\nkind = "vague"\n[policies.other]\nprior = "little"\n[run]'
    assert read(FILE.replace("[run]", other))["policy"] == RULE


def test_who_is_told_nothing_of_many_arms_that_drift_does_not_play(monkeypatch):
    monkeypatch.setattr("corrbandits.stress.plan.MOST_VAGUE", 16)
    test = small(drift=20.0)
    assert "vague" not in test.data["candidate"].values
    assert "independent arms drift with your scale." in " ".join(test.sentences())
    assert SURFACE.arms == 16  # as many as still play where means stay
    assert "vague" in stressed(horizon=5, runs=1).data["candidate"].values
