"""Kernels and rules out of the tables that name them; the rule within a rule is the table, or the name, at `of`."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Any

from corrbandits._shell.toml import Table
from corrbandits.kernels import KERNELS, Kernel, Scaled
from corrbandits.policies import RULES, Policy

EXAMPLES = {
    "M": "M = 20.0",
    "floor": "floor = 10.0",
    "graph": "graph = [[0, 1], [1, 2, 3.5]], the arms that are linked, and how far apart they are if not 1",
    "length": "length = 3.0",
    "horizon": "horizon = 1000",
}
"""What a field that is missing may look like."""


def kernel_in(table: Table, name: str, others: Collection[str] = ()) -> Kernel:
    """Return the kernel that a table describes: its name at one key, its fields and others at the rest."""
    kernel = table.choice(name, KERNELS)
    table.refuse_other_keys((name, "variance", *(field.name for field in dataclasses.fields(kernel)), *others))
    with table.blame(name):
        return Scaled(built(table, kernel), table.need("variance", "variance = 10.0"))


def rule_in(table: Table, others: Collection[str] = (), **defaults: Any) -> Policy:
    """Return the rule that a table describes: its name at `rule`, the rule within it at `of`, and its fields."""
    rule = table.choice("rule", RULES)
    fields = {"of" if field.name == "rule" else field.name: field for field in dataclasses.fields(rule)}
    flags = [name for name, field in fields.items() if field.type in ("bool", bool)]
    table.refuse_other_keys(("rule", *others, *(name for name in fields if name != "moves")), flags)
    if "moves" in fields and defaults["moves"] is None:
        what = f"{rule.__name__} needs a table [moves] with per_move or per_distance, got none. Add it."
        raise table.error(what, "rule")
    given = {name: value for name, value in table.values.items() if name not in ("rule", "of")}
    if "of" in fields:
        given["rule"] = rule_in(_within(table), **defaults)
    with table.blame("rule"):
        made: Policy = built(dataclasses.replace(table, values=given), rule, **defaults)
    return made


def _within(table: Table) -> Table:
    """Return the table of the rule within a rule; a name alone is one, too."""
    if isinstance(name := table.need("of", 'of = "UCL"'), str):
        return dataclasses.replace(table, path=(*table.path, "of"), values={"rule": name})
    return table.table("of", 'of = { rule = "UCL", a = 2.0 }')


def built(table: Table, kind: Any, **defaults: Any) -> Any:
    """Return a dataclass with the fields the table gives, or else the defaults, or else its own."""
    given = {**defaults, **table.values}
    fields = dataclasses.fields(kind)
    for field in fields:
        if field.default is dataclasses.MISSING and field.name not in given:
            table.need(field.name, EXAMPLES.get(field.name, ""))
    return kind(**{field.name: given[field.name] for field in fields if field.name in given})
