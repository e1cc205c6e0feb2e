"""The page of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from importlib.metadata import version

from corrbandits._shell.numbers import counted, number
from corrbandits._shell.page.html import (
    about,
    asset,
    chart,
    choice,
    document,
    every_number,
    items,
    said,
    section,
    table,
)
from corrbandits.choices import PARAMETERS
from corrbandits.fits.outcomes import Outcome
from corrbandits.fits.page.charts import chart_data
from corrbandits.fits.sentences import percent, quartiles, sentences
from corrbandits.fits.standings import FORESEEN, Standings, people_csv

TITLE = "Which model explains whom"
FARTHER = " A triangle lies farther out than it is drawn."
HEADS = (
    "model",
    "parameters",
    "log likelihood",
    "AIC",
    "BIC",
    "rounds left out",
    "explained",
    "best for",
    "people who follow it",
    "protected exceedance",
)


def render(found: Standings, name: str = "", words: Mapping[str, str] | None = None) -> str:
    """Return the report as one HTML file, headed by a name; `words` say of models what they mean."""
    title = f"{name}: {TITLE[0].lower()}{TITLE[1:]}" if name else TITLE
    people = counted(found.best.people, "person", "people")
    choices = sum(one.choices for one in found.outcomes[found.best.model])
    arms = counted(max(one.arms for one in found.outcomes[found.best.model]), "arm")
    parts = [
        f"<p>{people}, {counted(choices, 'choice')} among {arms}, {counted(len(found.rows), 'model')}.</p>",
        section("In short", said(sentences(found))),
        section("Model by model", _models(found)),
        section("Parameters of people", _parameters(found)),
        section("What to note", _notes(found)),
        section("How it was computed", _about(found, words or {})),
        section("Every number", every_number(people_csv(found), f"{name or 'people'}.csv")),
    ]
    return document(title, parts, chart_data(found), asset(__package__, "page.js"))


def _models(found: Standings) -> str:
    rows = [
        (
            row.model,
            str(row.parameters),
            *(number(value, 6) for value in (row.log_likelihood, row.aic, row.bic, row.foreseen)),
            percent(row.share_explained),
            str(row.best_for),
            percent(row.share),
            f"{row.protected:.3f}",
        )
        for row in found.rows
    ]
    which = "in rounds that it was not fitted to" if found.by == FORESEEN else "as it was fitted to them"
    return (
        f"<p>Each point is a person: how much of the log likelihood of their choices a model explains, {which}; 0 is "
        f"chance, 100 % certainty. Point at one for its parameters.{FARTHER}</p>\n"
        "<noscript><p>The figures need JavaScript; all numbers are in the tables.</p></noscript>\n"
        + chart("models", "Share explained of each person under each model")
        + table(HEADS, rows, "Models", "fit")
    )


def _parameters(found: Standings) -> str:
    names = list(found.outcomes)
    free = [name for name in PARAMETERS if any(name in each[0].free for each in found.outcomes.values())]
    charts = "".join(
        f'<div data-parameter="{name}">{chart(f"parameter-{name}", f"The {name} of each person")}</div>'
        for name in free
    )
    tables = "".join(
        f'<div data-model="{escape(model)}">{_quartiles(each, model)}</div>' for model, each in found.outcomes.items()
    )
    return (
        "<p>Each point is a person. Grey ones run to an end: the choices tell no more than that it lies beyond."
        f"{FARTHER}</p>\n"
        + choice("model", "Model", [(name, name) for name in names], names[0])
        + f'<div class="charts">{charts}</div>\n{tables}'
    )


def _quartiles(each: list[Outcome], model: str) -> str:
    rows = [(name, quartiles(each, name), PARAMETERS[name].meaning) for name in each[0].free]
    return table(("parameter", "median (quartiles)", "meaning"), rows, f"Parameters of {model}", "fit")


def _notes(found: Standings) -> str:
    """Return the notes on fits, each with the people it is of."""
    of: dict[tuple[str, str], list[str]] = {}
    for model, each in found.outcomes.items():
        for one in each:
            for note in one.notes:
                of.setdefault((model, _without_number(note)), []).append(one.person)
    if not of:
        return "<p>No fit runs to an end, and no search failed.</p>"
    texts = (
        f"{escape(model)}: {escape(note)} <em>{counted(len(people), 'person', 'people')}: "
        f"{escape(', '.join(people))}</em>"
        for (model, note), people in of.items()
    )
    return f"<ul>{items(texts)}</ul>"


def _without_number(note: str) -> str:
    """Return a note without the value that differs from person to person.

    >>> _without_number("length runs to its lower end, 0.1: no arm tells of another.")
    'length runs to its lower end: no arm tells of another.'
    """
    head, comma, rest = note.partition(" end, ")
    return f"{head} end:{rest.partition(':')[2]}" if comma else note


def _about(found: Standings, words: Mapping[str, str]) -> str:
    by = (
        "each round under the parameters fitted to the others"
        if found.by == FORESEEN
        else "minus half of BIC: no round was left out"
    )
    rows = {escape(row.model): words[row.model] for row in found.rows if row.model in words}
    return about(
        {
            **rows,
            "compared by": by,
            "people who follow it": "the expected share in a random-effects comparison (Stephan et al. 2009)",
            "protected exceedance": "the probability that more people follow it than any other, if the shares may "
            f"also be equal (Rigoux et al. 2014); that they are has probability {number(found.chance, 2)}",
            "fits": "maximum likelihood with exact gradients from several starts; errors from the observed information",
            "version": f"corrbandits {version('corrbandits')}",
        }
    )
