"""Show on the page on groups what choices like those of the 2018 study can tell, from recovery.json.

python docs/recovered.py [--out FOLDER]

`python -m benchmarks.recovery --data CSV --folder KEPT --out docs` makes the numbers, and calls this.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import xarray as xr

from corrbandits._shell.numbers import number
from corrbandits.choices import (
    Confusion,
    Power,
    Recovery,
    draw_check,
    draw_confusion,
    draw_power,
    draw_recovery,
)

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from explorers.pages import table, write  # noqa: E402 - found through the path above

PAGE, DATA = "groups.md", "recovery.json"
MARK = "recovered"
POPULATION = "population"
GROUPS = {
    POPULATION: "drawn from the population",
    "spread": "spread as real people are",
    "own": "with the values of real people",
    "either": "drawn from the population, exploration of either sign",
}
NAMED = {"prior_sd": "exploration"}
"""An exploration above 0 is fitted as a prior deviation of 100 times that."""

NAMES = ("length", "exploration", "temperature")
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
STUDY = {"on a line": (0.66, 0.30, 0.54), "on a grid, near arms preferred": (0.77, 0.59, 0.61)}
"""Kendall's correlations of the study, as its script modelRecovery/modelRecovery.R writes them into its figures
(github.com/charleywu/gridsearch, commit a6481695)."""


def report(data):
    """Return the part of the page that shows the numbers."""
    return "\n\n".join(
        [
            "### Parameters",
            of_parameters(data["parameters"]),
            "![What was given and found, and errors against each other](recovery.png)",
            "How the population is spread, beside real people fitted alone:",
            of_laws(data["parameters"]),
            "### Models",
            of_models(data["models"]),
            "![How often people of one model are taken for another](recovery-models.png)",
            "### People and rounds",
            of_power(data["power"]),
            "![Share of experiments that find exploration](recovery-power.png)",
            "### Beside real people",
            of_checks(data["checks"]),
        ]
    )


def of_parameters(data):
    """Return how well parameters are found again: a row for each group of people, fitted alone and pooled."""
    rows = []
    for name, words in GROUPS.items():
        group = data["groups"][name]
        noted = f"{sum(group['noted'])} of {len(group['noted'])}"
        rows.append((f"{words}; each alone", noted, *ranks(recovery(group, "alone"))))
        if "pooled" in group:
            rows.append((f"{words}; given the population", "", *ranks(recovery(group, "pooled"))))
    rows += [
        (f"the study's own, {words}", "", *(f"/ {value:.2f}" for value in found)) for words, found in STUDY.items()
    ]
    return table(("people", "fits with a note", *NAMES), rows)


def ranks(found):
    """Return Spearman's and Kendall's correlations of length, exploration and temperature, as texts."""
    each = {NAMED.get(name, name): name for name in found.names}
    return [f"{found.spearman[each[name]]:.2f} / {found.kendall[each[name]]:.2f}" for name in NAMES]


def of_laws(data):
    """Return how people fitted alone are spread beside how the population is."""
    rows = []
    for k, parameter in enumerate(data["groups"][POPULATION]["names"]):
        for name, words in (("real", "real people"), (POPULATION, "population")):
            values = np.exp(data["quantiles"][name][k]) / (100.0 if parameter in NAMED else 1.0)
            rows.append((f"{NAMED.get(parameter, parameter)}, {words}", *(number(value, 2) for value in values)))
    return table(("", *(f"{share:.0%}" for share in QUANTILES)), rows)


def of_models(data):
    """Return the confusion matrix as a table."""
    seen = confusion(data)
    shares = np.column_stack([seen.matrix, seen.ties])
    people = f"{seen.evidence.shape[1]}"
    rows = [(name, people, *(f"{share:.2f}" for share in row)) for name, row in zip(seen.names, shares, strict=True)]
    return table(("made up by; best description", "people", *seen.names, "as well by several"), rows)


def of_power(data):
    """Return the power as a table."""
    rows = [
        (str(people), *map("{:.2f}".format, row)) for people, row in zip(data["people"], data["share"], strict=True)
    ]
    return table(("people", *(f"{one} round{'s' if one > 1 else ''}" for one in data["rounds"])), rows)


def of_checks(data):
    """Return the figure of each model, and for how many people the second is the better one."""
    first, second = data["curves"]
    better = f"{data['better']} of {data['people']}"
    return "\n\n".join(
        [
            f"{first[0].upper()}{first[1:]}:",
            f"![Reward, distance and arms taken again, trial by trial: {first}](recovery-check.png)",
            f"{first[0].upper()}{first[1:]} {second}, which has the smaller BIC for {better}:",
            f"![Reward, distance and arms taken again, trial by trial: {second}](recovery-check-near.png)",
        ]
    )


def recovery(group, way):
    """Return what was given to the people of a group, and found one way."""
    return Recovery(tuple(group["names"]), np.array(group["given"]), np.array(group[way]))


def confusion(data):
    """Return models confused."""
    return Confusion(tuple(data["names"]), np.array(data["evidence"]))


def pictures(data):
    """Return the figures of the page by their names."""
    power, seen = data["power"], data["checks"]
    found = Power(tuple(power["people"]), tuple(power["rounds"]), np.array(power["share"]), power["sure"])
    ends = {"source": ["observed", "simulated", "low", "high"], "trial": seen["trial"]}
    first, second = (
        xr.Dataset({name: (("source", "trial"), np.array(one)) for name, one in curves.items()}, ends)
        for curves in seen["curves"].values()
    )
    return {
        "recovery.png": draw_recovery(recovery(data["parameters"]["groups"][POPULATION], "alone")),
        "recovery-models.png": draw_confusion(confusion(data["models"])),
        "recovery-power.png": draw_power(found),
        "recovery-check.png": draw_check(first),
        "recovery-check-near.png": draw_check(second),
    }


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE, help="the folder of the page and its numbers")
    write(parser.parse_args(arguments).out, PAGE, MARK, DATA, report, pictures)


if __name__ == "__main__":
    main()
