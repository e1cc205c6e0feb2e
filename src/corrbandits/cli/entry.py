"""The command line's entrance: run a command, and turn what can go wrong into one message and an exit code.

Exit codes: 0 done; 1 a claim of the paper or a finding was not met, or a study may not yet stop; 2 bad input or no
room; 3 a study's database could not be reached, read or written, the message says what to do; 4 done and saved, but
standard output could not be written; 130 stopped by Ctrl-C.
The commands, and with them all libraries, load within `main`, and what `main` needs within a `try`, so that Ctrl-C is
one line from the first moment on.
"""

from __future__ import annotations

import sys

STOPPED = 130
STOPPED_WORDS = "stopped. Result files are all as they were, or all new."

try:
    import io
    import logging
    import os
    import signal
    import threading
    import warnings
    from collections.abc import Iterator
    from contextlib import contextmanager
    from itertools import pairwise
    from pathlib import Path
    from typing import NoReturn

    from corrbandits._shell.standard import UnsaidError, standard_output
    from corrbandits._shell.texts import printable
except KeyboardInterrupt:
    print(f"corrbandits: {STOPPED_WORDS}", file=sys.stderr)
    sys.exit(STOPPED)

UNREACHED = 3
UNSAID = 4


def main() -> None:
    """Run the command line; errors a user can cause become one message and exit code 2."""
    try:
        if sys.stdout is None:  # closed by who called: what was done is done, though nobody hears of it
            sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - it stays open
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a name the terminal cannot show is no reason to fail
        _heed_interrupts()
        warnings.formatwarning = lambda message, *_, **__: f"corrbandits: {printable(str(message))}\n"
        _refuse_an_empty_name(sys.argv)
        with _remarks(), standard_output():
            _run(sys.argv[1:])
    except KeyboardInterrupt as stop:
        _end(_with_notes(STOPPED_WORDS, stop), STOPPED)
    except SystemExit as stop:
        if stop.code == STOPPED:
            _end(_with_notes(STOPPED_WORDS, stop), STOPPED)
        raise
    except MemoryError as error:
        _end(str(error) or "there is not enough memory. Take fewer arms or runs, or a shorter horizon.", 2)
    except ArithmeticError as error:
        _end(f"numbers grew beyond what can be computed with ({error}). Bring rewards and variances nearer to 1.", 2)
    except BrokenPipeError:  # nobody reads any more, and that is no error of ours
        sys.exit(1)
    except UnsaidError as error:
        said = f" It was to say:\n{error.unsaid.rstrip()}" if error.unsaid.strip() else ""
        _end(f"standard output cannot be written: {error.strerror}. What was done is done and saved.{said}", UNSAID)
    except (ValueError, OSError, ImportError) as error:
        _end(_with_notes(str(error), error), _code(error))


def _heed_interrupts() -> None:
    """Stop at an interrupt, also where the shell that started us ignores it, as scripts do with `&`."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _run(arguments: list[str]) -> None:
    """Run a command. Those of `study` load without the others: a person waits for each of them."""
    if arguments[:1] == ["study"]:
        from corrbandits.cli.study.plain import plain_call, run

        if (call := plain_call(arguments[1:])) is not None:
            run(call)
        from corrbandits.cli.study.commands import app_for

        app_for(arguments[1:])(arguments[1:], prog_name="corrbandits study")
    else:
        from corrbandits.cli.app import app

        app()


def _refuse_an_empty_name(arguments: list[str]) -> None:
    """Refuse the name that paths take for the directory one is in."""
    if "--checkpoint=" in arguments or ("--checkpoint", "") in pairwise(arguments):
        raise ValueError("--checkpoint must be the name of a directory, got an empty one. Name one, or leave it out.")


@contextmanager
def _remarks() -> Iterator[None]:
    """Show what the package has to say on the way, such as how many runs were saved already."""
    log, shown = logging.getLogger("corrbandits"), logging.StreamHandler()
    shown.setFormatter(_Printable("corrbandits: %(message)s"))
    level = log.level
    log.addHandler(shown)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(shown)
        log.setLevel(level)


def _with_notes(message: str, error: BaseException) -> str:
    """Return a message with what was noted on the error, or on the one it came from, on its way here."""
    notes: list[str] = []
    came: BaseException | None = error
    met: set[int] = set()
    while came is not None and id(came) not in met:  # an error may be among its own causes
        met.add(id(came))
        notes += getattr(came, "__notes__", ())
        came = came.__cause__ or came.__context__
    return " ".join([message, *notes])


def _code(error: Exception) -> int:
    """Return the exit code of an error."""
    journal = sys.modules.get("corrbandits.study.journal")  # if nobody has loaded it, the error is not its own
    if journal is None or isinstance(error, ValueError):  # also where a file that is no database was named
        return 2
    return UNREACHED if isinstance(error, journal.JournalError) else 2


def _end(message: str, code: int) -> NoReturn:
    """End with a message; where nobody can hear it, by the code alone."""
    try:
        if sys.stderr is not None:
            print(f"corrbandits: {printable(message)}", file=sys.stderr, flush=True)
    except OSError:
        sys.stderr = None  # otherwise it would be tried again at the end, and change the code
    sys.exit(code)


class _Printable(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


if __name__ == "__main__":
    main()
