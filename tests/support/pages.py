"""HTML pages as tests look at them."""

import json
from html.parser import HTMLParser

VOID = {"meta", "input", "br", "img", "link", "hr"}


class Outline(HTMLParser):
    """What a page is made of, and whether its tags match."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.scripts, self.texts = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + text)
        elif self.open and self.open[-1] != "style":
            self.texts.append(text)

    def of(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def numbers_of(outline):
    return json.loads(next(text for attrs, text in outline.scripts if attrs.get("id") == "numbers"))
