"""`corrbandits study create`: what its options mean, and what it chooses."""

import math
import re

import numpy as np
import pytest

import corrbandits as cb
from tests.support.shell import CREATE, TOLD_NOTHING, default_database


def test_create_says_where_it_is_and_what_it_chose(ok, tmp_path):
    out = ok(*CREATE)
    assert f"meadow: 12 arms, 0 trials, in sqlite:///{default_database(tmp_path)}" in out
    assert "exponential kernel of length 300, mean 0 ± 20; noise ± 2" in out
    assert "UCL(" in out
    assert "Correlated" not in out
    printed = ok("create", "printed", *CREATE[2:], "--policy", "CorrelatedUCL")
    assert "now 12 of 12, before it prefers good ones. To begin sooner: --policy UCL" in printed
    assert "it tries 12 arms more before it prefers good ones" in " ".join(ok("show", "printed").split())
    assert "corrbandits study ask meadow" in out


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            ("--move-cost", "3", "--move-cost-per", "0.25"),
            "bring: 3 for each move, and 0.25 for each unit of distance.",
        ),
        (("--move-cost", "3"), "bring: 3 for each move."),
        (("--move-cost-per", "0.25"), "bring: 0.25 for each unit of distance."),
    ],
)
def test_that_the_way_is_weighed_is_said(ok, answer, tmp_path, given, words):
    out = " ".join(ok("create", "far", "--arms", "sites.csv", "--rounds", "40", *given).split())
    assert f"What it costs to go to an arm is weighed against what it may {words}" in out
    assert words in answer("create", "farther", "--arms", "sites.csv", *given)["remarks"][-1]
    with cb.Study.open(default_database(tmp_path), "far") as study:
        assert isinstance(study.settings.policy, cb.Travelling)


def test_where_moves_cost_nothing_nothing_is_said_of_the_way(ok):
    for given in ((), ("--move-cost", "0")):
        assert "costs to go" not in ok("create", f"near{len(given)}", "--arms", "sites.csv", *given)


def test_what_is_known_beforehand_goes_into_the_prior(ok, tmp_path):
    rows = ["brook,0,0,30,1,loam,7,01", "hill,3,4,32,2.5,sand,,02"]
    (tmp_path / "known.csv").write_text("\n".join(["name,x,y,prior_mean,prior_sd,soil,depth,code", *rows]))
    out = ok("create", "a", "--arms", "known.csv", "--kernel", "matern32", "--length", "5", "--noise-sd", "2")
    assert "was given" not in out
    with cb.Study.open(default_database(tmp_path), "a") as study:
        prior = study.settings.prior
        np.testing.assert_allclose(prior.mean, [30.0, 32.0])
        np.testing.assert_allclose(np.sqrt(prior.variance), [1.0, 2.5])
        correlation = prior.covariance[0, 1] / 2.5
        assert correlation == pytest.approx(cb.Matern32(5.0)([[0, 0]], [[3, 4]])[0, 0])
        np.testing.assert_allclose(prior.noise_variance, 4.0)
        attributes = study.arms.attributes
        assert attributes == {"soil": ("loam", "sand"), "depth": (7.0, None), "code": ("01", "02")}
        assert study.arms.coordinates.tolist() == [[0.0, 0.0], [3.0, 4.0]]
        assert study.settings.policy == cb.Gittins()


def test_nothing_but_arms_and_rounds_is_needed(ok, tmp_path):
    out = ok(*TOLD_NOTHING)
    assert "told nothing; all is learnt" in out
    assert "Gittins(horizon=40)" in out
    assert "in the 40 decisions there will be in all" in out
    with cb.Study.open(default_database(tmp_path), "meadow") as study:
        assert isinstance(study.settings.prior, cb.Vague)
        assert study.settings.policy == cb.recommend(study.settings.prior, 40).policy
    first = [line.split()[1] for line in ok("ask", "meadow", "-n", "4").splitlines() if line[:1].isdigit()]
    assert len(set(first)) == 4
    for trial, reward in enumerate(("31", "34", "29.5", "36"), start=1):
        shown = " ".join(ok("show", "meadow").split())
        assert "learnt nothing yet" in shown
        assert ("arms cannot be compared yet" in shown) == (trial > 1)
        ok("tell", "meadow", trial, reward)
    assert "the middle of all arms" in ok("explain", "meadow", "1")
    assert "the farthest from what was tried" in ok("explain", "meadow", "2")
    shown = " ".join(ok("show", "meadow").split())
    assert re.search(r"learnt neighbours correlate [\d.]+ \([\d.]+ to [\d.]+\); arms differ by ± ", shown)
    assert "Repeat an arm" in shown
    assert "without an end" in ok("create", "endless", "--arms", "sites.csv")


def test_what_is_known_in_part_is_told(ok, answer, refused, tmp_path):
    ranges = ("--length", "100..400", "--noise-sd", "2", "--prior-mean", "20..40", "--prior-sd", "1..9")
    out = ok("create", "a", "--arms", "sites.csv", "--rounds", "40", *ranges)
    assert "told mean 20 to 40, deviation 1 to 9, length 100 to 400, noise 2; the rest is learnt" in out
    said = re.search(r"arms 100 apart, as nearest neighbours are, have a correlation of (\S+) to (\S+), less what", out)
    low, high = map(float, said.groups())
    assert math.exp(-100 / 60) < low < math.exp(-1 / 2) < high < 1  # by a length of 60 and of 200, exponential
    with cb.Study.open(default_database(tmp_path), "a") as study:
        told = study.settings.prior.prior_arguments()
        assert (told["mean"], told["sd"], told["noise_sd"]) == ((20.0, 40.0), (1.0, 9.0), 2.0)
    ok("observe", "a", "p00", "31")
    shown = " ".join(ok("show", "a").split())
    assert "; noise ± 2 (stated); length " in shown
    assert not re.search(r"arms differ by ± [\d.]+ \(stated", shown)
    assert "lower end to the upper" in refused("create", "d", "--arms", "sites.csv", "--length", "400..100")
    assert "above 0" in refused("create", "d", "--arms", "sites.csv", "--noise-sd", "-1..3")


def test_how_long_it_lasts_is_said_once(ok, refused, tmp_path):
    asked = ("create", "a", "--arms", "sites.csv", "--policy", "Gittins")
    said = refused(*asked, "--rounds", "30", "--set", "horizon=5")
    assert "--rounds is the horizon of Gittins: it must be given once, got 30 and --set horizon=5." in said
    assert "Gittins(horizon=30)" in ok(*asked, "--rounds", "30", "--set", "horizon=30")


def test_a_kernel_of_arms_that_lie_nowhere_is_refused(refused, tmp_path):
    (tmp_path / "names.csv").write_text("name\nA\nB\n")
    said = refused("create", "a", "--arms", "names.csv", "--kernel", "exponential")
    assert "--kernel, --length, " in said
    assert "the file has no columns for that" in said


@pytest.mark.parametrize("text", ["..20", "100..", "1..2..3", ".."])
def test_a_range_has_two_ends(refused, text):
    said = refused("create", "a", "--arms", "sites.csv", "--length", text)
    assert f"the range of --length must have two ends, such as 100..400, got {text!r}" in said


def test_distances_along_the_earth_are_in_km(ok, tmp_path):
    (tmp_path / "globe.csv").write_text("name,latitude,longitude\nA,50,8\nB,51,8\nC,52,9\n")
    out = ok("create", "a", "--arms", "globe.csv", "--length", "100")
    assert re.search(r"arms 11\d km apart, as nearest neighbours are", out)  # a degree is 111 km


@pytest.mark.parametrize(("rounds", "warned"), [("4", True), ("5", False)])
def test_so_few_rounds_that_arms_are_never_compared_are_warned_of(ok, tmp_path, rounds, warned):
    out = " ".join(ok("create", "a", "--arms", "sites.csv", "--rounds", rounds).split())
    said = f"WARNING: it takes 4 rewards to compare arms at all: in {rounds} rounds nothing is gained by them."
    assert (said in out) == warned
    if warned:
        (tmp_path / "past.csv").write_text("name,reward\np00,3\np01,4\n")
        assert "WARNING" not in ok("create", "b", "--arms", "sites.csv", "--rounds", "2", "--history", "past.csv")


def test_a_single_arm_is_not_said_to_be_several(ok, tmp_path):
    (tmp_path / "one.csv").write_text("name,x,y\nA,1,2\n")
    ok("create", "a", "--arms", "one.csv", "--rounds", "40")
    assert "it tries 1 arm more" in ok("show", "a")


def test_axes_may_have_lengths_of_their_own(ok, refused, tmp_path):
    out = ok("create", "a", "--arms", "sites.csv", "--per-axis")
    assert "told nothing; all is learnt, a length for each coordinate" in out
    out = ok("create", "b", "--arms", "sites.csv", "--length", "100..400", "--length", "50")
    assert "told length 100 to 400 x 50; the rest is learnt" in out
    assert "nearest neighbours have a correlation of 0." in out
    for name in ("a", "b"):
        with cb.Study.open(default_database(tmp_path), name) as study:
            assert study.settings.prior.parts.lengths.shape == (48, 2)
    for trial, reward in enumerate(("31", "34", "29.5", "36"), start=1):
        ok("ask", "a")
        ok("tell", "a", trial, reward)
    assert re.search(r"length [\d,.]+ \([\d,.]+ to [\d,.]+\) x [\d,.]+ \(", " ".join(ok("show", "a").split()))
    ok("create", "one", "--arms", "sites.csv")
    for name in ("a", "one"):
        told = ok("copy", name, f"{name}-told", "--length", "100", "--length", "50")
        assert "told length 100 x 50; the rest is learnt" in told
    assert "an entry for each of the 2 coordinates" in refused("copy", "a", "c", "--length", "100")
    for known in ((), ("--kernel", "exponential", "--noise-sd", "2", "--prior-mean", "0", "--prior-sd", "20")):
        message = refused("create", "c", "--arms", "sites.csv", *known, "--per-axis", "--length", "5")
        assert "with --per-axis, --length must be given once for each of x, y, got 1" in message
    assert "--per-axis" in refused("create", "c", "--arms", "sites.csv", "--per-axis", "--kernel", "none")


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (("300",), "arms 100 apart, as nearest neighbours are, have a correlation of 0.72."),  # exp(-1/3)
        (("100", "300"), "With these lengths, nearest neighbours have a correlation of 0.72."),
        (("14",), "have a correlation of 0.0008. WARNING: so no arm says anything of another"),  # exp(-100/14)
        (("2e5",), "have a correlation of 0.99950. WARNING: so neighbours are taken for one and the same"),
        (("4e4",), "have a correlation of 0.99750. WARNING: even arms 361 apart have one of"),
    ],
)
def test_create_says_what_a_length_means_and_warns_where_it_is_absurd(ok, told, words):
    lengths = [part for length in told for part in ("--length", length)]
    known = ("--kernel", "exponential", "--prior-mean", "30", "--prior-sd", "5", "--noise-sd", "2")
    out = ok("create", "a", "--arms", "sites.csv", *known, *lengths)
    assert words in out
    assert ("WARNING" in out) == ("WARNING" in words)


@pytest.mark.parametrize(
    ("length", "words"),
    [
        ("0.001", "arms are nearly independent: nearest neighbours have a correlation of 0;"),
        ("1e9", "neighbours are nearly equal: they have a correlation of 1.00000;"),
        ("4e4", "all arms are nearly equal: even the farthest have a correlation of 0.99"),  # exp(-361 / 4e4)
        ("300", ""),
    ],
)
@pytest.mark.parametrize("known", [("--kernel", "exponential", "--prior-mean", "30", "--prior-sd", "5"), ()])
def test_show_and_best_repeat_that_a_length_is_absurd(ok, answer, length, words, known):
    ok("create", "my meadow", "--arms", "sites.csv", *known, "--noise-sd", "2", "--length", length)
    for arm, reward in (("p00", "29"), ("p11", "33"), ("p21", "31"), ("p32", "30")):
        ok("observe", "my meadow", arm, reward)
    shown, best = " ".join(ok("show", "my meadow").split()), ok("best", "my meadow")
    assert (f"WARNING: with the stated length {words}" in shown) == bool(words)
    assert best.startswith(f"WARNING: with the stated length {words}") == bool(words)
    assert ("corrbandits study copy --length LENGTH 'my meadow' NEW" in best) == bool(words)
    assert len(answer("best", "my meadow")["warnings"]) == len(answer("show", "my meadow")["warnings"]) == bool(words)


def test_a_length_that_is_learnt_is_not_called_absurd(ok):
    ok(*TOLD_NOTHING)
    assert "stated length" not in ok("show", "meadow")


def test_earlier_seasons_say_where_to_begin(ok, refused, tmp_path):
    rows = ["p00,31,2024", "p11,36,2024", "p02,,2024", "p22,30.5,2024", "p00,12,2025", "p11,19.5,2025", "p02,11,2025"]
    (tmp_path / "past.csv").write_text("\n".join(["name,reward,season", *rows]))
    out = ok("create", "a", "--arms", "sites.csv", "--rounds", "40", "--history", "past.csv")
    assert "told 6 rewards of 2 earlier seasons; the rest is learnt" in out
    known = "earlier seasons are known (6 rewards): p11 did best there"
    assert f"there is no reward yet; {known}" in " ".join(refused("best", "a").split())
    assert f"nothing yet of this season; {known}" in " ".join(ok("show", "a").split())
    ok("create", "least", "--arms", "sites.csv", "--goal", "min", "--history", "past.csv")
    assert "p11 did best" not in ok("show", "least")
    assert "p11" in ok("ask", "a", "-n", "2")
    assert f"nothing yet of this season; {known}" in " ".join(ok("show", "a").split())
    assert "the best of earlier seasons\n" in ok("explain", "a", "1")
    assert "the best of earlier seasons, of those not tried yet\n" in ok("explain", "a", "2")
    ok("tell", "a", "1", "104")
    assert "seasons correlate" in " ".join(ok("show", "a").split())
    (tmp_path / "one.csv").write_text("arm,reward\np00,3\np01,4\n")
    assert "2 rewards of 1 earlier season;" in ok("create", "b", "--arms", "sites.csv", "--history", "one.csv")
    (tmp_path / "bad.csv").write_text("name,reward\np00,3\np0l,4\n")
    said = refused("create", "c", "--arms", "sites.csv", "--history", "bad.csv")
    assert "bad.csv, line 3: an arm of a history must be one of the study's" in said
    assert "Did you mean 'p" in said
    both = ("--history", "one.csv", "--rewards", "bernoulli")
    assert "--history must go with" in refused("create", "c", "--arms", "sites.csv", *both)


FAR = "The first trials are of arms far from each other"
BEST = "The first trials are of the arms that did best in earlier seasons."


@pytest.mark.parametrize(
    ("rows", "begins", "known"),
    [
        (["p11,5"], FAR, "(1 reward), but do not say which arms are better"),
        (["p11,5"] * 5, FAR, "(5 rewards), but do not say which arms are better"),
        (["p11,5", "p11,9", "p11,2"], FAR, "(3 rewards), but do not say which arms are better"),
        (["p30,5", "p02,3"], BEST, "(2 rewards): p30 did best there"),
    ],
)
def test_few_rewards_of_earlier_seasons_say_no_more_than_they_know(ok, tmp_path, rows, begins, known):
    (tmp_path / "past.csv").write_text("\n".join(["name,reward", *rows]))
    out = ok("create", "a", "--arms", "sites.csv", "--rounds", "40", "--history", "past.csv")
    assert begins in " ".join(out.split())
    ok("create", "nothing", "--arms", "sites.csv", "--rounds", "40")
    first = {name: ok("ask", name).splitlines()[0] for name in ("a", "nothing")}
    assert (first["a"] == first["nothing"]) == (begins == FAR)
    assert ("the best of earlier seasons" in ok("explain", "a", "1")) == (begins == BEST)
    ok("tell", "a", "1", "104")
    assert f"earlier seasons are known {known}" in " ".join(ok("show", "a").split())


def test_a_mean_that_is_left_out_is_learnt_and_not_0(ok, tmp_path):
    known = ("--kernel", "exponential", "--length", "300", "--noise-sd", "2", "--prior-sd", "5")
    ok("create", "a", "--arms", "sites.csv", *known)
    ok("observe", "a", "p00", "500")
    with cb.Study.open(default_database(tmp_path), "a") as study:
        np.testing.assert_allclose(study.belief.mean, 500.0)


def test_a_kernel_of_none_keeps_arms_apart(ok, tmp_path):
    ok("create", "a", "--arms", "sites.csv", "--kernel", "none", "--rounds", "9")
    known = ("--prior-mean", "-3", "--prior-sd", "1.5", "--noise-sd", "2")
    ok("create", "b", "--arms", "sites.csv", "--kernel", "none", *known)
    with cb.Study.open(default_database(tmp_path), "a") as study:
        assert study.settings.prior.coordinates is None
    with cb.Study.open(default_database(tmp_path), "b") as study:
        assert isinstance(study.settings.prior, cb.Independent)
        np.testing.assert_allclose(study.belief.variance, 2.25)
        np.testing.assert_allclose(study.belief.mean, -3.0)


def test_every_option_of_create_is_taken(ok, tmp_path):
    options = ("--kernel", "rational_quadratic", "--length", "100", "--length", "300", "--alpha", "2")
    rest = ("--policy", "CorrelatedUCL", "--set", "a=3.3", "--set", "factor=false", "--goal", "min", "--seed", "7")
    more = ("--once", "--timeout", "36h", "--prior-sd", "4", "--prior-mean", "30")
    ok("create", "a", "--arms", "sites.csv", "--noise-sd", "2", *options, *rest, *more)
    known = ("--kernel", "none", "--prior-sd", "4", "--prior-mean", "0", "--rounds", "50")
    ok("create", "b", "--arms", "sites.csv", "--noise-sd", "2", *known, "--policy", "KnowledgeGradient")
    with cb.Study.open(default_database(tmp_path), "a") as study:
        settings = study.settings
        assert settings.policy == cb.CorrelatedUCL(a=3.3, factor=False)
        assert (settings.goal, settings.seed, settings.repeat, settings.timeout) == ("min", 7, False, 36 * 3600.0)
        kernel = settings.prior.prior_arguments()["kernel"]
        assert kernel == 16 * cb.RationalQuadratic((100.0, 300.0), alpha=2.0)
    with cb.Study.open(default_database(tmp_path), "b") as study:
        assert study.settings.policy == cb.KnowledgeGradient(horizon=50)


def test_on_the_globe_distances_are_kilometres(answer, tmp_path):
    (tmp_path / "globe.csv").write_text("name,latitude,longitude\na,52,13\nb,53,14\n")
    common = (
        "--arms",
        "globe.csv",
        "--noise-sd",
        "1",
        "--length",
        "50",
        "--prior-sd",
        "3",
        "--prior-mean",
        "0",
        "--kernel",
    )
    assert "50 km (great circle distance)" in answer("create", "a", *common, "exponential")["prior"]
    assert "50 km (chordal distance)" in answer("create", "b", *common, "matern52")["prior"]


def test_many_arms_form_no_matrix(ok, tmp_path):
    rows = "".join(f"p{x}_{y},{x},{y}\n" for x in range(101) for y in range(100))
    (tmp_path / "many.csv").write_text("name,x,y\n" + rows)
    known = ("--noise-sd", "2", "--kernel", "exponential", "--length", "20", "--prior-sd", "20", "--prior-mean", "0")
    ok("create", "many", "--arms", "many.csv", *known, "--policy", "UCL")
    with cb.Study.open(default_database(tmp_path), "many") as study:
        assert isinstance(study.settings.prior, cb.Implicit)
        assert study.settings.policy == cb.UCL()
    out = ok("show", "many")
    assert "each character is the average of" in out
    assert max(map(len, out.splitlines())) <= 80


def test_the_plain_index_costs_less_than_one_that_tries_every_arm_first():
    """Where the prior sd is above the noise's, CorrelatedUCL begins with nearly every arm."""
    places = np.array([[x, y] for x in range(8) for y in range(8)], dtype=float)
    kernel, regret = 25 * cb.Exponential(3.0), {"UCL": 0.0, "CorrelatedUCL": 0.0}
    prior = cb.Correlated(mean=30.0, kernel=kernel, coordinates=places, noise_variance=4.0)
    for seed in range(10):
        surface = cb.landscapes.draw(kernel, places, noise_variance=4.0, seed=seed, mean=30.0)
        players = {"UCL": (cb.UCL(), prior), "CorrelatedUCL": (cb.CorrelatedUCL(), prior)}
        trace = cb.simulate(players, surface, horizon=60, runs=4, seed=seed)
        for name in regret:
            regret[name] += float(trace.regret.mean("run").sel(policy=name, time=60))
    assert regret["UCL"] < 0.6 * regret["CorrelatedUCL"]


def test_the_database_is_named_by_an_option_or_a_variable(ok, answer, monkeypatch, tmp_path):
    monkeypatch.setenv("CORRBANDITS_DB", "sqlite:///variable.db")
    assert answer(*CREATE)["database"] == "sqlite:///variable.db"
    assert answer(*CREATE, "--db", "option.db")["database"] == "sqlite:///option.db"
    assert not (tmp_path / "data").exists()
    assert answer("list")["studies"] == ["meadow"]


def test_a_copy_may_have_another_number_of_rounds(ok, refused):
    ok(*TOLD_NOTHING, "--rounds", "2")
    for trial in "123":
        ok("ask", "meadow")
        ok("tell", "meadow", trial, trial)
    said = " ".join(ok("show", "meadow").split())
    assert "t = 4, past the 2 rounds" in said
    assert "To explore on: corrbandits study copy meadow NEW --rounds ROUNDS" in said
    assert "Gittins(horizon=80)" in ok("copy", "meadow", "longer", "--rounds", "80")
    assert "t = 4 of 80" in " ".join(ok("show", "longer").split())
    assert "BayesUCB(horizon=9" in ok("copy", "meadow", "other", "--policy", "BayesUCB", "--rounds", "9")
    ok("copy", "meadow", "endless", "--policy", "UCL")
    assert "--rounds is for a rule with a horizon" in refused("copy", "endless", "more", "--rounds", "9")


def test_rounds_that_the_rule_does_not_mind_are_said_to_change_nothing(ok):
    given = ("--arms", "sites.csv", "--rounds", "40", "--policy")
    assert "so that --rounds changes nothing" in " ".join(ok("create", "a", *given, "Blocked(GPUCB)").split())
    assert "changes nothing" not in " ".join(ok("create", "b", *given, "Blocked(Gittins)").split())
