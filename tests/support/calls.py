"""Which functions of the package a test calls: a plugin of pytest, and how what documents cite becomes code objects.

CORRBANDITS_CALLS names a file that says, as JSON, which references, such as `theory.beta`, are cited beside each test;
the plugin writes beside it, with the ending .seen, for each test the references whose code ran while it was set up and
called. Once a test has called all that is cited beside it, its other parameters are left out.
"""

import inspect
import json
import os
import pkgutil
import re
import sys
from pathlib import Path

import pytest

CALLS = "CORRBANDITS_CALLS"


def codes_of(reference):
    """Return the code objects behind a reference, and of a class, whose methods may be inherited, the class."""
    name, _, number = reference.partition("#")
    thing = pkgutil.resolve_name(f"corrbandits.{name}")
    if number:
        thing = thing[int(number) - 1].check
    kind = thing if inspect.isclass(thing) else None
    parts = [part for base in kind.__mro__ for part in vars(base).values()] if kind else [thing]
    parts = [getattr(part, "fget", None) or getattr(part, "__func__", None) or part for part in parts]
    codes = [part.__code__ for part in map(inspect.unwrap, filter(callable, parts)) if hasattr(part, "__code__")]
    return {code for code in codes if code.co_filename != "<string>"}, kind  # dataclasses write methods as strings


def references_in(cell):
    """Return the references of a table's cell; `paper.errata.ERRATA` (9, 10) is one for each finding."""
    found = []
    for name, numbers in re.findall(r"`([\w.]+)`(?: \(([\d, ]+)\))?", cell):
        if name.endswith(".ERRATA"):
            every = range(1, len(pkgutil.resolve_name(f"corrbandits.{name}")) + 1)
            found += [f"{name}#{number}" for number in (re.findall(r"\d+", numbers) if numbers else every)]
        else:
            found.append(name)
    return found


class Recorder:
    """Notes which of the wanted code objects run in each test."""

    def __init__(self, path):
        self.path, self.seen = Path(path), {}
        self.cited = json.loads(self.path.read_text(encoding="utf-8"))
        self.wanted = {}
        for reference in sorted({reference for cited in self.cited.values() for reference in cited}):
            codes, kind = codes_of(reference)
            for code in codes:
                self.wanted.setdefault(code, []).append((reference, kind))

    def pytest_runtest_setup(self, item):
        name = item.originalname
        if {*self.cited.get(name, [name])} <= self.seen[name]:
            pytest.skip("it has called all that is cited beside it")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        called = self.seen.setdefault(item.originalname, set())

        def note(frame, event, _):
            if event == "call" and frame.f_code in self.wanted:
                for reference, kind in self.wanted[frame.f_code]:
                    if kind is None or isinstance(frame.f_locals.get("self"), kind):
                        called.add(reference)

        sys.setprofile(note)
        try:
            return (yield)
        finally:
            sys.setprofile(None)

    def pytest_sessionfinish(self):
        seen = {name: sorted(called) for name, called in self.seen.items()}
        self.path.with_suffix(".seen").write_text(json.dumps(seen), encoding="utf-8")


def pytest_configure(config):
    if os.environ.get(CALLS):
        config.pluginmanager.register(Recorder(os.environ[CALLS]))
