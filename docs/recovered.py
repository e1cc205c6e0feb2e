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
    PARAMETERS,
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


def report(data):
    """Return the part of the page that shows the numbers."""
    return "\n\n".join(
        [
            "### Parameters",
            of_parameters(data),
            "![What was given and found, and errors against each other](recovery.png)",
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
    """Return the law that people are drawn from, and how well it is found again."""
    law, names = data["law"], data["parameters"]["names"]
    spread = np.sqrt(np.diag(law["covariance"])).tolist()
    medians = [PARAMETERS[name].value(z) for name, z in zip(names, law["mean"], strict=True)]
    sure = ~np.array(data["parameters"]["noted"])
    every = recovery(data)
    ranks = [every, Recovery(every.names, every.given[sure], every.found[sure])]
    rows = [
        (name, number(middle, 3), number(wide, 2), *(f"{one.spearman[name]:.2f}" for one in ranks))
        for name, middle, wide in zip(names, medians, spread, strict=True)
    ]
    heads = ("", "median", "spread on its line", f"ranks, all {sure.size}", f"ranks, the {sure.sum()} without a note")
    return table(heads, rows)


def of_models(data):
    """Return the confusion matrix as a table."""
    seen = confusion(data)
    rows = [(name, *(f"{share:.2f}" for share in row)) for name, row in zip(seen.names, seen.matrix, strict=True)]
    return table(("made up by; best description", *seen.names), rows)


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


def recovery(data):
    """Return what was given and found."""
    one = data["parameters"]
    return Recovery(tuple(one["names"]), np.array(one["given"]), np.array(one["found"]))


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
        "recovery.png": draw_recovery(recovery(data)),
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
