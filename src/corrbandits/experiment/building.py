"""Kernels and rules out of the tables that name them."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Any

from corrbandits._shell.toml import Table
from corrbandits.kernels import KERNELS, Kernel, Scaled


def kernel_in(table: Table, name: str, others: Collection[str] = ()) -> Kernel:
    """Return the kernel that a table describes: its name at one key, its fields and others at the rest."""
    kernel = table.choice(name, KERNELS)
    table.refuse_other_keys((name, "variance", *(field.name for field in dataclasses.fields(kernel)), *others))
    with table.blame(name):
        return Scaled(built(table, kernel), table.need("variance", "variance = 10.0"))


def built(table: Table, kind: Any, **defaults: Any) -> Any:
    """Return a dataclass with the fields the table gives, or else the defaults, or else its own."""
    given = {**defaults, **table.values}
    fields = dataclasses.fields(kind)
    for field in fields:
        if field.default is dataclasses.MISSING and field.name not in given:
            table.need(field.name)
    return kind(**{field.name: given[field.name] for field in fields if field.name in given})
