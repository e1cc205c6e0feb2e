"""Which arguments of a compiled loop lie in the same memory, where one of them may be written."""

import itertools

import numpy as np


def arrays_in(value, name=""):
    """Yield the arrays of a value, and of the tuples in it, with their names."""
    if isinstance(value, tuple):
        for number, one in enumerate(value):
            yield from arrays_in(one, f"{name}.{getattr(value, '_fields', range(number + 1))[number]}")
    elif isinstance(value, np.ndarray):
        yield name, value


def overlaps(*arguments):
    """Return the pairs of names of arrays that share memory, but for those that are only read."""
    pairs = itertools.combinations(arrays_in(arguments), 2)
    return [(a, b) for (a, one), (b, two) in pairs if np.shares_memory(one, two) and (writeable(one) or writeable(two))]


def writeable(array):
    return array.flags.writeable


class Watched:
    """A loop that notes what overlaps when it is called."""

    def __init__(self, loop):
        self.loop, self.found, self.calls = loop, [], 0

    def __call__(self, *arguments):
        self.found += overlaps(*arguments)
        self.calls += 1
        self.loop(*arguments)


def watch(monkeypatch, module, *makers):
    """Have loops watched that functions of a module make; return a list of those made from now on."""
    watched = []

    def made_by(make):
        def made(*arguments):
            watched.append(Watched(make(*arguments)))
            return watched[-1]

        return made

    for name in makers:
        monkeypatch.setattr(module, name, made_by(getattr(module, name)))
    return watched
