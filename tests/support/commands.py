"""Commands of `corrbandits`, each in a process of its own that has imported everything: where that is not the point."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.support.databases import NEWLY


def corrbandits(
    *arguments: object, cwd: Path, env: Mapping[str, str] | None = None, timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    """Return what the command line does with these arguments, as `subprocess.run` would with its output captured."""
    words = [str(argument) for argument in arguments]
    with tempfile.TemporaryDirectory() as said:
        files = [Path(said) / name for name in ("stdout", "stderr")]
        process = NEWLY.Process(target=_main, args=(words, cwd, dict(os.environ if env is None else env), files))
        process.start()
        process.join(timeout)
        if process.is_alive():
            process.kill()
            process.join()
        printed = [file.read_text(encoding="utf-8") for file in files]
    return subprocess.CompletedProcess(["corrbandits", *words], process.exitcode, *printed)


def _main(arguments: list[str], directory: Path, environment: dict[str, str], files: list[Path]) -> None:
    """Become a process as a shell would start it, and run the command."""
    from corrbandits.cli.entry import main

    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    for descriptor, file in enumerate(files, start=1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), descriptor)
    sys.argv = ["corrbandits", *arguments]
    main()
