"""The skeletons of CONTRIBUTING.md, each under the heading of its kind."""

import re
from types import ModuleType

from tests.support import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
KINDS = re.findall(r"^### (.*)$", PAGE, re.MULTILINE)


def code(kind):
    """The code under a heading of the page."""
    section = PAGE.split(f"### {kind}\n")[1].split("\n### ")[0]
    (found,) = re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    return found


def skeleton(kind):
    """The code under a heading of the page, executed as a module of its own."""
    module = ModuleType("skeleton")
    exec(compile(code(kind), "CONTRIBUTING.md", "exec"), module.__dict__)
    return module


MemoryJournal = skeleton("A journal").MemoryJournal
