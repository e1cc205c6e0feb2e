"""What was found of the people of the 2018 study, in tables and sentences."""

import math

import numpy as np
from explorers.fits import FUNCTION, HORIZON, OF_THE_PAPER, PLAIN, PRINTED, TRACKER, read
from explorers.pages import table
from scipy.stats import binomtest

from corrbandits import choices
from corrbandits._shell.numbers import number
from corrbandits.fits.kinds import MOST_KINDS, number_of_kinds, places
from corrbandits.fits.sentences import percent, quartiles
from corrbandits.fits.standings import standings

TRUE_LENGTHS = {0: 1.0, 1: 2.0}
ROUGH = {0: "rough", 1: "smooth"}
PRIOR = ("prior_mean", "prior_sd", "length")


def report(data):
    """Return the part of the page that shows the numbers."""
    found = {name: read(one["all"]) for name, one in data.items()}
    return "\n\n".join(
        [
            "### The study's own model",
            of_the_study(found, data),
            "![Lengths and exploration of all people](people-study.png)",
            "### The rules of the paper",
            *(of_the_rules(name, each) for name, each in found.items()),
            "![What the factor and the horizon add for each person](people-rules.png)",
            "### Short and long rounds",
            *(of_the_horizons(name, one) for name, one in data.items()),
            "### Which prior",
            *(of_the_prior(name, each) for name, each in found.items()),
            "![Prior mean, deviation and length of all people](people-prior.png)",
        ]
    )


def of_the_study(found, data):
    """Return the table of what the study found, found again."""
    each = [_study_cells(found[name], data[name]["surfaces"]) for name in found]
    return table(("", *found), [(label, *(cells[label] for cells in each)) for label in each[0]])


def _study_cells(outcomes, kinds):
    ours, theirs = outcomes[FUNCTION], outcomes[TRACKER]
    lengths = np.array([one.values["length"] for one in ours])
    weights = np.array([one.values["exploration"] for one in ours])
    compared = standings([*ours, *theirs])
    ahead = [row.model for row in compared.rows].index(FUNCTION)
    row, better = compared.rows[ahead], int((compared.evidence[:, ahead] > compared.evidence[:, 1 - ahead]).sum())
    cells = {
        "people": str(len(ours)),
        "function learning foresees better than the mean tracker": f"{better} of {len(ours)}",
        "share of people who follow it, protected exceedance": f"{percent(row.share)}, {_probability(row.protected)}",
        "share explained, median: function learning": percent(np.median([one.share_explained for one in ours])),
        "share explained, median: mean tracker": percent(np.median([one.share_explained for one in theirs])),
    }
    for kind, words in ROUGH.items():
        own = lengths[np.array(kinds) == kind]
        below = int((own < TRUE_LENGTHS[kind]).sum())
        cells[f"length, median, {words} surfaces (true: {TRUE_LENGTHS[kind]:g})"] = (
            f"{_median(own)}; below the true one in {below} of {own.size}"
        )
    cells["exploration, median"] = f"{_median(weights)}; above 0 in {(weights > 0).sum()} of {weights.size}"
    cells["temperature, median"] = _median([one.values["temperature"] for one in ours])
    return cells


def of_the_rules(name, outcomes):
    """Return the table of the paper's rules in one experiment."""
    compared = standings([one for model in OF_THE_PAPER for one in outcomes[model]])
    lines = []
    for row in compared.rows:
        gain = gained(outcomes, row.model)
        better = "" if row.model == PLAIN else f"{int((gain > 0).sum())} of {gain.size}"
        shares = f"{percent(row.share)}, {_probability(row.protected)}"
        likelihoods = (number(row.log_likelihood, 5), number(row.foreseen, 5))
        lines.append((f"`{row.model}`", *likelihoods, percent(row.share_explained), better, shares))
    heads = ("rule", "log likelihood", "left out", "explained", "better than plain for", "follow it, protected")
    return f"People {name}:\n\n{table(heads, lines)}"


def gained(outcomes, model):
    """Return by how much each person's rounds left out are more likely under a rule than under the plain index."""
    pairs = zip(outcomes[model], outcomes[PLAIN], strict=True)
    return np.array([one.foreseen - plain.foreseen for one, plain in pairs])


def of_the_horizons(name, data):
    """Return the table of what differs between short and long rounds in one experiment."""
    parts = [read(data[part]) for part in ("short", "long")]
    short, long = data["horizons"]
    heads = ("", f"{short} choices", f"{long} choices", "larger in long rounds for")
    lines = []
    for rule in (PRINTED, HORIZON):
        gains = [gained(each, rule) / each[rule][0].choices for each in parts]
        cells = [f"{_median(gain)}; better for {(gain > 0).sum()} of {gain.size}" for gain in gains]
        lines.append((f"`{rule}`: log likelihood a choice over plain, median", *cells, _sign(*gains)))
    for parameter in ("length", "exploration", "temperature"):
        values = [np.array([one.values[parameter] for one in each[FUNCTION]]) for each in parts]
        lines.append((f"function learning: {parameter}, median", *map(_median, values), _sign(*values)))
    return f"People {name}:\n\n{table(heads, lines)}"


def _sign(short, long):
    """Return in words for how many people a number is larger in long rounds, and how likely that is by chance."""
    larger, differ = int((long > short).sum()), int((long != short).sum())
    p = binomtest(larger, differ).pvalue
    return f"{larger} of {differ} (p {'< 0.001' if p < 0.001 else f'= {p:.2g}'})"


def of_the_prior(name, outcomes):
    """Return in words which priors explain people in one experiment, and whether they are of a few kinds."""
    each = outcomes[PLAIN]
    unmoved = sum(math.isinf(one.errors["prior_sd"]) and one.values["prior_sd"] < 0.01 for one in each)
    where = places(each, PRIOR)
    mixtures = number_of_kinds(where)
    bic = ", ".join(f"{one.kinds}: {number(one.bic, 4)}" for one in sorted(mixtures, key=lambda one: one.kinds))
    lines = [
        f"- People {name}, `{PLAIN}`, median and quartiles: " + "; ".join(f"{p} {quartiles(each, p)}" for p in PRIOR),
        f"- Of {len(each)} people, {unmoved} have a prior deviation of 0: what they do not know draws them nowhere.",
        f"- The other {len(where)} whose prior could be told: BIC of so many kinds, {bic}.{_kinds(mixtures[0])}",
    ]
    return "\n".join(lines)


def _kinds(best):
    """Return in words what the best mixture says."""
    if best.kinds == 1:
        return " The smallest is one kind."
    order = np.argsort(-best.weights)
    parts = [f"{percent(best.weights[k])} ({_centre(best.centres[k])})" for k in order.tolist()]
    tail = (
        " The BIC falls to the most kinds that were tried. Beside one large kind the others are few people far out: "
        "this is a long tail, and no sign that people come in a few kinds."
    )
    said = f" The smallest is {best.kinds} kinds: {'; '.join(parts)}."
    return said + (tail if best.kinds == MOST_KINDS else "")


def _centre(centre):
    values = (choices.PARAMETERS[name].value(x) for name, x in zip(PRIOR, centre.tolist(), strict=True))
    return ", ".join(f"{name} {number(value)}" for name, value in zip(PRIOR, values, strict=True))


def _median(values):
    return number(float(np.median(values)), 2)


def _probability(p):
    return "> 0.999" if p > 0.999 else "< 0.001" if p < 0.001 else f"{p:.2f}"
