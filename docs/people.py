"""Write the page on people from the choices of the 2018 study.

python docs/people.py --data FOLDER [--kept FOLDER]   # fit whoever is not fitted yet, then write people.json, the page
                                                      # and its pictures
python docs/people.py                                 # the page and its pictures from people.json alone

FOLDER holds wu2018_exp1_1d.csv and wu2018_exp2_2d.csv. Who is fitted is kept, and a run that was stopped goes on.
"""

import argparse
import csv
import json
import math
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import corrbandits as cb
from corrbandits import choices, plots
from corrbandits._shell.numbers import number
from corrbandits.fits.campaign import run
from corrbandits.fits.kinds import MOST_KINDS, number_of_kinds, places
from corrbandits.fits.models import named
from corrbandits.fits.outcomes import Outcome, Outcomes
from corrbandits.fits.sentences import percent, quartiles
from corrbandits.fits.standings import standings

HERE = Path(__file__).parent
PAGE, DATA = HERE / "people.md", HERE / "people.json"
BEGIN, END = "<!-- report -->\n", "<!-- end of report -->\n"
FILES = {"on a line": "wu2018_exp1_1d.csv", "on a grid": "wu2018_exp2_2d.csv"}
LEAVE_OUT = {"on a line": False, "on a grid": True}
COLUMNS = {"person": "id", "arm": ["x", "y"], "reward": "z", "horizon": "horizon", "given": 1}
TRUE_LENGTHS = {0: 1.0, 1: 2.0}
ROUGH = {0: "rough", 1: "smooth"}
FUNCTION, TRACKER = "function learning", "mean tracker"
OF_THE_STUDY = {
    FUNCTION: choices.Model(kernel=cb.SquaredExponential(1.0), prior_mean=50.0, prior_sd=100.0, noise=0.01),
    TRACKER: choices.Model(prior_mean=50.0, prior_sd=100 * 5**0.5, noise="free"),
}
PLAIN, PRINTED, HORIZON = "CorrelatedUCL-plain", "CorrelatedUCL", "HorizonUCL"
OF_THE_PAPER = {"on a line": named([HORIZON, PLAIN, PRINTED]), "on a grid": named([HORIZON, PLAIN])}
PRIOR = ("prior_mean", "prior_sd", "length")
DIGITS = 5


def fitted(data, kept, experiment, threads):
    """Return the outcomes of one experiment; where so said, those of the study's models with rounds left out."""
    people = choices.read_csv(data / FILES[experiment], **COLUMNS)
    kept.mkdir(parents=True, exist_ok=True)
    place = Outcomes(kept / f"{experiment.split()[-1]}.jsonl")
    of_the_paper = run(people, OF_THE_PAPER[experiment], place, threads=threads, leave_out=False)
    return [*run(people, OF_THE_STUDY, place, threads=threads, leave_out=LEAVE_OUT[experiment]), *of_the_paper]


def surfaces(path):
    """Return how smooth the surfaces were that each person met, 0 or 1, in the order of people."""
    with path.open(encoding="utf-8", newline="") as file:
        return [kind for _, kind in sorted({(int(row["id"]), int(row["kernel"])) for row in csv.DictReader(file)})]


def kept_numbers(outcomes, kinds):
    """Return what the page shows of an experiment as plain data."""
    rows = [
        [
            one.person,
            one.model,
            one.choices,
            one.arms,
            _short(one.log_likelihood),
            _short(one.foreseen),
            {name: _short(one.values[name]) for name in one.free},
            [name for name in one.free if math.isinf(one.errors[name])],
        ]
        for one in outcomes
    ]
    return {"surfaces": kinds, "rows": rows}


def _short(value):
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def read(data):
    """Return the outcomes of an experiment from plain data, by model."""
    found = {}
    for person, model, made, arms, value, foreseen, values, ends in data["rows"]:
        errors = {name: math.inf if name in ends else 0.0 for name in values}
        rounds = () if foreseen is None else (foreseen,)
        one = Outcome(person, model, "", made, arms, tuple(values), values, errors, value, rounds, ())
        found.setdefault(model, []).append(one)
    return found


def report(data):
    """Return the part of the page that shows the numbers."""
    found = {name: read(one) for name, one in data.items()}
    return "\n\n".join(
        [
            "### The study's own model",
            of_the_study(found, data),
            "![Lengths and exploration of all people](people-study.png)",
            "### The rules of the paper",
            *(of_the_rules(name, each) for name, each in found.items()),
            "![What the factor and the horizon add for each person](people-rules.png)",
            "### Which prior",
            *(of_the_prior(name, each) for name, each in found.items()),
            "![Prior mean, deviation and length of all people](people-prior.png)",
        ]
    )


def of_the_study(found, data):
    """Return the table of what the study found, found again."""
    heads = ("", *found)
    each = [_study_cells(found[name], data[name]["surfaces"]) for name in found]
    return _table(heads, [(label, *(cells[label] for cells in each)) for label in each[0]])


def _study_cells(outcomes, kinds):
    ours, theirs = outcomes[FUNCTION], outcomes[TRACKER]
    lengths = np.array([one.values["length"] for one in ours])
    weights = np.array([one.values["exploration"] for one in ours])
    compared = standings([*ours, *theirs])
    ahead = [row.model for row in compared.rows].index(FUNCTION)
    row, better = compared.rows[ahead], int((compared.evidence[:, ahead] > compared.evidence[:, 1 - ahead]).sum())
    cells = {
        "people": str(len(ours)),
        "compared by": compared.by,
        "function learning explains better than the mean tracker": f"{better} of {len(ours)}",
        "share of people who follow it, protected exceedance": f"{percent(row.share)}, {_probability(row.protected)}",
        "share explained, median: function learning": percent(np.median([one.share_explained for one in ours])),
        "share explained, median: mean tracker": percent(np.median([one.share_explained for one in theirs])),
    }
    for kind, words in ROUGH.items():
        own = lengths[np.array(kinds) == kind]
        below = int((own < TRUE_LENGTHS[kind]).sum())
        cells[f"length, median, {words} surfaces (true: {TRUE_LENGTHS[kind]:g})"] = (
            f"{number(float(np.median(own)), 2)}; below the true one in {below} of {own.size}"
        )
    cells["exploration, median"] = (
        f"{number(float(np.median(weights)), 2)}; above 0 in {(weights > 0).sum()} of {weights.size}"
    )
    cells["temperature, median"] = number(float(np.median([one.values["temperature"] for one in ours])), 2)
    return cells


def of_the_rules(name, outcomes):
    """Return the table of the paper's rules in one experiment."""
    compared = standings([one for model in OF_THE_PAPER[name] for one in outcomes[model]])
    plain = np.array([one.log_likelihood for one in outcomes[PLAIN]])
    lines = []
    for row in compared.rows:
        own = np.array([one.log_likelihood for one in outcomes[row.model]])
        better = "" if row.model == PLAIN else f"{int((own > plain).sum())} of {own.size}"
        share = percent(np.median([one.share_explained for one in outcomes[row.model]]))
        shares = f"{percent(row.share)}, {_probability(row.protected)}"
        lines.append((f"`{row.model}`", number(row.log_likelihood, 5), number(row.bic, 5), share, better, shares))
    heads = ("rule", "log likelihood", "BIC", "explained", "better than plain for", "follow it, protected")
    return f"People {name}:\n\n{_table(heads, lines)}"


def of_the_prior(name, outcomes):
    """Return in words which priors explain people in one experiment, and whether they are of a few kinds."""
    each = outcomes[PLAIN]
    lines = [
        f"- People {name}, `{PLAIN}`, median and quartiles: " + "; ".join(f"{p} {quartiles(each, p)}" for p in PRIOR)
    ]
    unmoved = sum(math.isinf(one.errors["prior_sd"]) and one.values["prior_sd"] < 0.01 for one in each)
    where = places(each, PRIOR)
    mixtures = number_of_kinds(where)
    bic = ", ".join(f"{one.kinds}: {number(one.bic, 4)}" for one in sorted(mixtures, key=lambda one: one.kinds))
    best = mixtures[0]
    sizes = " and ".join(percent(w) for w in sorted(best.weights, reverse=True))
    lines.append(
        f"- Of {len(each)} people, {unmoved} have a prior deviation of 0: what they do not know draws them nowhere."
    )
    said = "one kind" if best.kinds == 1 else f"{best.kinds} kinds ({sizes})"
    lines.append(
        f"- The other {len(where)} whose prior could be told: BIC of so many kinds, {bic}. The smallest is {said}."
    )
    if best.kinds == MOST_KINDS:
        lines.append(
            "- The BIC falls to the most kinds that were tried. Beside one large kind the others are few people far "
            "out: this is a long tail, and no sign that people come in a few kinds."
        )
    if best.kinds > 1:
        lines += [f"- a kind of {percent(w)}: {_centre(c)}" for w, c in zip(best.weights, best.centres, strict=True)]
    return "\n".join(lines)


def _centre(centre):
    values = (choices.PARAMETERS[name].value(x) for name, x in zip(PRIOR, centre.tolist(), strict=True))
    return ", ".join(f"{name} {number(value)}" for name, value in zip(PRIOR, values, strict=True))


def _probability(p):
    return "> 0.999" if p > 0.999 else "< 0.001" if p < 0.001 else f"{p:.2f}"


def _table(heads, rows):
    lines = [heads, ["---", *["--:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def pictures(data):
    """Return the figures of the page by their names."""
    found = {name: read(one) for name, one in data.items()}
    return {
        "people-study.png": study_figure(found, data),
        "people-rules.png": rules_figure(found),
        "people-prior.png": prior_figure(found),
    }


def study_figure(found, data):
    """Return how lengths and exploration are spread over people."""
    figure = Figure(figsize=(7.0, 4.4), layout="constrained")
    axes = figure.subplots(len(found), 2)
    for (name, outcomes), (left, right) in zip(found.items(), axes, strict=True):
        lengths = np.clip([one.values["length"] for one in outcomes[FUNCTION]], 0.05, 10.0)
        kinds = np.array(data[name]["surfaces"])
        edges = np.geomspace(0.05, 10.0, 25).tolist()
        left.hist(
            [lengths[kinds == k] for k in ROUGH],
            edges,
            label=list(ROUGH.values()),
            color=plots.COLOURS[:2],
            stacked=True,
        )
        for k, colour in zip(ROUGH, plots.COLOURS, strict=False):
            left.axvline(TRUE_LENGTHS[k], color=colour, linewidth=1.5, linestyle=(0, (4, 2)))
        left.set_xscale("log")
        left.set_xticks([0.1, 0.3, 1, 3, 10], ["0.1", "0.3", "1", "3", "10"])
        left.set_title(f"{name}: length; dashed: true", loc="left", fontsize=9)
        weights = np.clip([one.values["exploration"] for one in outcomes[FUNCTION]], -1.0, 2.0)
        right.hist(weights, np.linspace(-1.0, 2.0, 31).tolist(), color=plots.COLOURS[2])
        right.axvline(0.0, color="black", linewidth=1.0)
        right.set_title(f"{name}: exploration; below -1 at -1", loc="left", fontsize=9)
        left.set_ylabel("people")
    axes[0][0].legend(frameon=False, fontsize=8, title="surfaces", title_fontsize=8)
    _tidy(axes.ravel())
    return figure


def rules_figure(found):
    """Return what each person's log likelihood gains by the factor or the horizon, over the plain index."""
    figure = Figure(figsize=(7.0, 2.2), layout="constrained")
    axes = figure.subplots(1, len(found), sharey=True)
    rivals = (PRINTED, HORIZON)
    for ax, (name, outcomes) in zip(axes, found.items(), strict=True):
        plain = np.array([one.log_likelihood for one in outcomes[PLAIN]])
        for place, rival in ((k, rival) for k, rival in enumerate(rivals) if rival in outcomes):
            gain = np.array([one.log_likelihood for one in outcomes[rival]]) - plain
            apart = 0.5 * ((np.arange(gain.size) * 0.618034) % 1.0 - 0.5)
            ax.plot(gain, place + apart, ".", color=plots.COLOURS[place], markersize=4, alpha=0.7)
            ax.plot([np.median(gain)] * 2, [place - 0.35, place + 0.35], color="black", linewidth=1.8)
        ax.axvline(0.0, color="black", linewidth=0.8)
        ax.set_xscale("symlog", linthresh=1.0)
        ax.set_xticks([-100, -10, -1, 0, 1, 10], ["-100", "-10", "-1", "0", "1", "10"])
        ax.set_yticks(range(len(rivals)), rivals)
        ax.set_ylim(len(rivals) - 0.5, -0.5)
        ax.set_title(name, loc="left", fontsize=9)
        ax.set_xlabel("log likelihood gained over plain", fontsize=9)
    _tidy(axes)
    return figure


def prior_figure(found):
    """Return prior mean against deviation of each person, coloured by length; those at an end in grey."""
    figure = Figure(figsize=(7.0, 3.2), layout="constrained")
    axes = figure.subplots(1, len(found))
    for ax, (name, outcomes) in zip(axes, found.items(), strict=True):
        where = places(outcomes[PLAIN], PRIOR)
        drawn = ax.scatter(
            where[:, 0], np.exp(where[:, 1]), c=where[:, 2], s=16, cmap="viridis", vmin=np.log(0.2), vmax=np.log(4)
        )
        ax.set_yscale("log")
        ax.set(xlabel="prior mean (reward)", title=None)
        ax.set_title(f"{name}: {len(where)} of {len(outcomes[PLAIN])} people", loc="left", fontsize=9)
    axes[0].set_ylabel("prior deviation (reward)")
    bar = figure.colorbar(drawn, ax=axes, ticks=np.log([0.25, 0.5, 1, 2, 4]))
    bar.ax.set_yticklabels(["0.25", "0.5", "1", "2", "4"])
    bar.set_label("length")
    _tidy(axes)
    return figure


def _tidy(axes):
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=8)


def written(page, text):
    """Return a page with the text between its marks."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{text}\n\n{END}{rest.split(END)[1]}"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder of the study's files")
    parser.add_argument("--kept", type=Path, default=Path("results/people"), help="where fits are kept")
    parser.add_argument("--out", type=Path, default=HERE, help="the folder of the page")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", choices=FILES, help="fit one experiment, and write nothing")
    options = parser.parse_args(arguments)
    if options.only:
        fitted(options.data, options.kept, options.only, options.threads)
        return
    if options.data is not None:
        data = {
            name: kept_numbers(fitted(options.data, options.kept, name, options.threads), surfaces(options.data / file))
            for name, file in FILES.items()
        }
        (options.out / DATA.name).write_text(json.dumps(data).replace("], [", "],\n[") + "\n", encoding="utf-8")
    data = json.loads((options.out / DATA.name).read_text(encoding="utf-8"))
    place = options.out / PAGE.name
    place.write_text(written(place.read_text(encoding="utf-8"), report(data)), encoding="utf-8")
    for name, figure in pictures(data).items():
        plots.save(figure, options.out / name)


if __name__ == "__main__":
    main()
