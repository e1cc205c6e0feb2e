"""The log (WAL) that SQLite kept beside a file for an earlier corrbandits: whether it is whole.

SQLite reads a log up to the first frame that is not as it was written, and takes what follows for the remains of an
older log or of a process that was killed, without a word. But remains have other salts than the header, and a killed
process leaves nothing after the frame at which it stopped. So a commit of this log after a bad frame is one that was
saved, and would be lost.

    part     bytes   holds, in words of 4 bytes
    header   32      magic, version, page size, number, two salts, two checksums of the first 24 bytes
    frame    24      page, pages after a commit or 0, two salts, two checksums of all before it, its first 8 bytes and
                     its page
    page     ...     follows its frame
"""

from __future__ import annotations

import struct
from pathlib import Path

MAGIC, VERSION = (0x377F0682, 0x377F0683), 3_007_000
HEADER, FRAME, LEAST_PAGE = 32, 24, 512

Sums = tuple[int, int]


def damage(log: Path) -> str:
    """Return what is wrong with a log, as the rest of a sentence after "it is"; nothing if all that was saved is there.

    >>> damage(Path("there-is-no-log"))
    ''
    """
    content = b""
    while log.is_file() and content[:HEADER] != (content := log.read_bytes())[:HEADER]:
        pass  # who has it open began it anew while it was read
    if len(content) < HEADER + FRAME + LEAST_PAGE:
        return ""  # not one frame, so nothing that was saved
    magic, version, size = struct.unpack(">3I", content[:12])
    order = ">" if magic & 1 else "<"
    sums = _sums((0, 0), content[:24], order)
    if magic not in MAGIC or version != VERSION or sums != struct.unpack(">2I", content[24:HEADER]):
        return "damaged at its beginning"
    bad = 0
    for number in range(1, (len(content) - HEADER) // (FRAME + size) + 1):
        at = HEADER + (number - 1) * (FRAME + size)
        frame, page = content[at : at + FRAME], content[at + FRAME : at + FRAME + size]
        ours, commits = frame[8:16] == content[16:24], frame[4:8] != bytes(4)
        if bad and ours and commits:
            return f"damaged in frame {bad}"
        if not bad:
            sums = _sums(_sums(sums, frame[:8], order), page, order)
            bad = 0 if ours and sums == struct.unpack(">2I", frame[16:]) else number
    return ""


def _sums(sums: Sums, content: bytes, order: str) -> Sums:
    """Return SQLite's two checksums of some bytes, going on from those of what stands before."""
    one, other = sums
    for x, y in struct.iter_unpack(f"{order}2I", content):
        one = (one + x + other) & 0xFFFFFFFF
        other = (other + y + one) & 0xFFFFFFFF
    return one, other
