"""Tests of what a study relies on, for any journal: subclass `JournalContract` where pytest finds it.

    import pytest
    from corrbandits.study.journal.contract import JournalContract

    class TestMine(JournalContract):
        @pytest.fixture
        def open_journal(self, tmp_path):
            return lambda: MyJournal(tmp_path)

`open_journal` returns a journal of one place that is empty at first; every call returns another journal of the same
place. It may return the same one if a place has only one, as one in memory does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from corrbandits.study.journal.chain import digests
from corrbandits.study.journal.protocol import JournalError, JournalProtocol, QueueProtocol, Taken

Opener = Callable[[], JournalProtocol]

NAMES = (
    "meadow",
    "Wiese im Nebel, Süd",
    "草地",
    "луг",
    "مرج",
    "🌾🌾",
    "a'; DROP TABLE corrbandits_studies; --",
    'quo"ted \\ back\\slash',
    "%s :name {} %(id)s ?",
    "../../etc/passwd",
    "=1+1",
    "two\nlines\tand tabs",
    " ",
    "",
    "n" * 5000,
)
"""Names and bodies that some journal might take for more than text."""


class JournalContract:
    """What every journal does; a subclass has the fixture `open_journal`."""

    def test_what_is_appended_is_read_in_its_order(self, open_journal: Opener) -> None:
        journal = open_journal()
        study = journal.enrol("meadow", ["created"])
        journal.append(study, 2, ["b", "a"])
        journal.append(study, 4, ["c"])
        assert journal.read(study, after=0) == ["created", "b", "a", "c"]
        assert journal.read(study, after=2) == ["a", "c"]
        assert journal.read(study, after=4) == []
        journal.close()

    def test_appending_nothing_changes_nothing(self, open_journal: Opener) -> None:
        journal = open_journal()
        study = journal.enrol("meadow", ["created"])
        journal.append(study, 2, [])
        assert journal.read(study, 0) == ["created"]
        journal.append(study, 2, ["next"])
        assert journal.read(study, 0) == ["created", "next"]
        journal.close()

    def test_studies_are_apart(self, open_journal: Opener) -> None:
        journal = open_journal()
        one, other = journal.enrol("one", ["1"]), journal.enrol("other", ["2"])
        journal.append(one, 2, ["of one"])
        journal.append(other, 2, ["of the other"])
        assert journal.read(one, 0) == ["1", "of one"]
        assert journal.read(other, 0) == ["2", "of the other"]
        journal.close()

    def test_where_another_has_appended_the_place_is_taken_and_nothing_changes(self, open_journal: Opener) -> None:
        journal = open_journal()
        study = journal.enrol("meadow", ["created"])
        journal.append(study, 2, ["first", "second"])
        for place in (1, 2, 3):
            with _raises(Taken):
                journal.append(study, place, ["x", "y", "z"])
            assert journal.read(study, 0) == ["created", "first", "second"]
        journal.append(study, 4, ["x"])
        assert journal.read(study, 3) == ["x"]
        journal.close()

    def test_a_gap_is_refused_and_nothing_is_saved(self, open_journal: Opener) -> None:
        journal = open_journal()
        study = journal.enrol("meadow", ["created"])
        for bodies in (["late"], ["late", "later"]):
            with _raises(JournalError):
                journal.append(study, 4, bodies)
        assert journal.read(study, 0) == ["created"]
        journal.append(study, 2, ["again"])
        assert journal.read(study, 0) == ["created", "again"]
        journal.close()

    def test_who_has_read_what_is_no_longer_there_is_told_so(self, open_journal: Opener) -> None:
        """An older copy was put back, perhaps, and others have gone on from there."""
        journal = open_journal()
        bodies = ["created", "asked", "told"]
        study, chain = journal.enrol("meadow", bodies), digests("", bodies)
        for after in range(4):
            known = ["", *chain][after]
            assert journal.read(study, after, known) == bodies[after:]
            if after:
                for other in ("", "other", chain[after - 2], digests("", ["x", *bodies[1:after]])[-1]):
                    with _raises(JournalError):
                        journal.read(study, after, other)
        for after in (4, 99):
            with _raises(JournalError):
                journal.read(study, after)
        for other in ("", "other", chain[1]):
            with _raises(JournalError):
                journal.append(study, 4, ["late"], other)
        with _raises(Taken):
            journal.append(study, 3, ["late"], chain[1])
        assert journal.read(study, 0) == bodies
        journal.append(study, 4, ["more", "most"], chain[2])
        assert journal.read(study, 3, chain[2]) == ["more", "most"]
        assert journal.read(study, 5, digests(chain[2], ["more", "most"])[-1]) == []
        journal.close()

    def test_a_name_in_use_is_refused(self, open_journal: Opener) -> None:
        journal = open_journal()
        study = journal.enrol("meadow", ["created"])
        with _raises(ValueError):
            journal.enrol("meadow", ["again"])
        assert journal.studies() == {"meadow": study}
        assert journal.read(study, 0) == ["created"]
        journal.close()

    def test_a_deleted_study_is_gone_and_takes_nothing(self, open_journal: Opener) -> None:
        journal = open_journal()
        study, kept = journal.enrol("meadow", ["created"]), journal.enrol("kept", ["created"])
        journal.append(study, 2, ["lost"])
        journal.delete(study)
        assert journal.studies() == {"kept": kept}
        for after in (0, 1, 2):
            with _raises(ValueError):
                journal.read(study, after)
        with _raises(ValueError):
            journal.append(study, 3, ["late"])
        assert journal.read(kept, 0) == ["created"]
        journal.close()

    def test_who_has_read_what_is_no_longer_there_deletes_nothing(self, open_journal: Opener) -> None:
        journal = open_journal()
        bodies = ["created", "asked", "told"]
        study, chain = journal.enrol("meadow", bodies), digests("", bodies)
        for after, known in ((3, digests("", ["created", "asked", "other"])[-1]), (2, chain[2]), (4, chain[2])):
            with _raises(JournalError):
                journal.delete(study, after, known)
        assert journal.read(study, 0) == bodies
        journal.delete(study, 2, chain[1])  # others have appended since
        assert journal.studies() == {}
        journal.close()

    def test_a_number_is_never_given_again(self, open_journal: Opener) -> None:
        """A writer who still has a deleted study must not write into its successor of the same name."""
        journal = open_journal()
        stale = journal.enrol("meadow", ["created"])
        journal.delete(stale)
        journal.close()
        again = open_journal()
        new = again.enrol("meadow", ["created again"])
        assert new != stale
        for place in (1, 2):
            with _raises(ValueError):
                journal.append(stale, place, ["late"])
        assert again.read(new, 0) == ["created again"]
        journal.close()
        again.close()

    def test_a_name_may_be_any_text(self, open_journal: Opener) -> None:
        journal = open_journal()
        numbers = {name: journal.enrol(name, [name]) for name in NAMES}
        again = open_journal()
        assert again.studies() == numbers
        assert list(again.studies()) == sorted(NAMES)
        for name, number in numbers.items():
            assert again.read(number, 0) == [name]
            with _raises(ValueError):
                again.enrol(name, ["again"])
        journal.close()
        again.close()

    def test_a_body_may_be_any_text_and_large(self, open_journal: Opener) -> None:
        journal, bodies = open_journal(), [*NAMES, r'{"nul": "\u0000", "half": "\ud800"}', "ü" * 4_000_000]
        study = journal.enrol("meadow", bodies)
        journal.append(study, len(bodies) + 1, bodies)
        assert journal.read(study, 0) == bodies * 2
        journal.close()

    def test_ten_thousand_events(self, open_journal: Opener) -> None:
        journal = open_journal()
        study, bodies = journal.enrol("meadow", ["1"]), [str(k) for k in range(2, 10_001)]
        journal.append(study, 2, bodies[:9000])
        for k in range(9000, 9010):
            journal.append(study, k + 2, [bodies[k]])
        journal.append(study, 9012, bodies[9010:])
        assert journal.read(study, 0) == ["1", *bodies]
        assert journal.read(study, 9_998) == ["9999", "10000"]
        journal.close()

    def test_two_journals_of_one_place_see_each_other_at_once(self, open_journal: Opener) -> None:
        journal, other = open_journal(), open_journal()
        study = journal.enrol("meadow", ["created"])
        for k in range(2, 22):
            assert other.studies() == {"meadow": study}
            (journal, other)[k % 2].append(study, k, [str(k)])
            assert (other, journal)[k % 2].read(study, k - 1) == [str(k)]
        other.delete(study)
        assert journal.studies() == {}
        journal.close()
        other.close()

    def test_it_may_be_closed_and_used_again(self, open_journal: Opener) -> None:
        journal = open_journal()
        study = journal.enrol("meadow", ["created"])
        journal.close()
        journal.append(study, 2, ["more"])
        journal.close()
        assert journal.read(study, 0) == ["created", "more"]
        journal.close()

    def test_threads_append_side_by_side_through_one_journal(self, open_journal: Opener) -> None:
        journal = open_journal()
        study = journal.enrol("meadow", ["created"])
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda writer: append_pairs(journal, study, writer, 15), range(8)))
        check_pairs(journal, study, writers=8, count=15)
        journal.close()


class QueueContract:
    """What a journal does that offers a queue; a subclass has the fixture `open_journal`."""

    def test_tickets_stand_in_the_order_they_came_and_expire(self, open_journal: Opener) -> None:
        journal, other = open_journal(), open_journal()
        assert isinstance(journal, QueueProtocol)
        assert isinstance(other, QueueProtocol)
        study, apart = journal.enrol("meadow", ["created"]), journal.enrol("apart", ["created"])
        assert not journal.queued(study)
        assert journal.queue(study, "a", 60.0)
        assert other.queued(study)
        assert not other.queued(apart)
        assert not other.queue(study, "b", 60.0)
        assert not journal.queue(study, "c", 60.0)
        assert journal.queue(study, "a", 60.0), "a ticket that is renewed keeps its place"
        other.leave(study, "a")
        other.leave(study, "never there")
        assert other.queue(study, "b", 60.0)
        assert not journal.queue(study, "c", 60.0)
        other.queue(study, "b", 0.3)
        time.sleep(0.4)
        assert journal.queue(study, "c", 60.0), "one that is not renewed expires"
        assert not other.queue(study, "b", 60.0), "and stands at the end when it comes again"
        journal.append(study, 2, ["told"])
        assert journal.read(study, 0) == ["created", "told"]
        for ticket in "bc":
            journal.leave(study, ticket)
        assert not journal.queued(study)
        journal.close()
        other.close()


def append_pairs(journal: JournalProtocol, study: int, writer: int, count: int) -> None:
    """Append so many pairs of events, each wherever the end then is."""
    end = 0
    for k in range(count):
        while True:
            end += len(journal.read(study, end))
            try:
                journal.append(study, end + 1, [f"{writer} {k} first", f"{writer} {k} second"])
                break
            except Taken:
                continue


def check_pairs(journal: JournalProtocol, study: int, writers: int, count: int) -> None:
    """Refuse a study in which a pair that was appended is missing, counted twice or torn apart."""
    bodies = journal.read(study, 0)[1:]
    assert bodies[1::2] == [body.replace("first", "second") for body in bodies[::2]], "a pair was torn"
    assert sorted(bodies) == sorted(
        f"{w} {k} {part}" for w in range(writers) for k in range(count) for part in ("first", "second")
    )


@contextmanager
def _raises(kind: type[BaseException]) -> Iterator[None]:
    """Demand an exception of this kind; its words are the journal's own."""
    found: BaseException | None = None
    try:
        yield
    except kind as error:
        found = error
    assert found is not None, f"expected {kind.__name__}, but nothing was raised"
