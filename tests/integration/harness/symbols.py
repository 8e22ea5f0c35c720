# SPDX-License-Identifier: Apache-2.0
"""Which frames could have had a name: by the symbols of the files themselves, as nm reads them."""
import bisect
import os
import re
import subprocess
from pathlib import Path

# How a frame without a name is shown: file and address as linked.
UNNAMED = re.compile(r"^(.+)\+0x([0-9a-f]+)$")
# nm's letters for functions: in the text, weak, chosen at run time.
LETTERS = set("tTwWi")


class Symbols:
    """The extents of one file's functions."""

    def __init__(self, path):
        extents = set()
        for option in ((), ("-D",)):
            listed = subprocess.run(["nm", "-S", "--defined-only", *option, str(path)], capture_output=True, text=True, check=False)
            for line in listed.stdout.splitlines():
                words = line.split()
                if len(words) == 4 and words[2] in LETTERS:
                    extents.add((int(words[0], 16), int(words[0], 16) + int(words[1], 16)))
        self.begins = sorted(extents)

    def cover(self, address):
        # Extents overlap seldom; some before the nearest are looked at, too.
        at = bisect.bisect_right(self.begins, (address, 1 << 64))
        return any(begin <= address < end for begin, end in self.begins[max(0, at - 8):at])


class Files:
    """Finds the files of frames by their names: programs, and the libraries that they and the linker know."""

    def __init__(self, *programs):
        self.paths = {}
        self.symbols = {}
        for program in programs:
            self._add(program)
            for word in output("ldd", program).split():
                if word.startswith("/"):
                    self._add(word)
        for word in output("ldconfig", "-p").split():
            if word.startswith("/"):
                self._add(word)

    def _add(self, path):
        path = Path(os.path.realpath(path))
        self.paths.setdefault(path.name, path)

    def of(self, name):
        """The symbols of a file, or None where it is not known."""
        if name not in self.symbols:
            path = self.paths.get(name)
            self.symbols[name] = Symbols(path) if path else None
        return self.symbols[name]


def output(*command):
    try:
        return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return ""


class Shares:
    """What of a profile is named. Counted in samples, by leaf and by frame."""

    def __init__(self, stacks, files):
        self.frames = self.named = self.leaves = self.named_leaves = self.missed = self.unknown = 0
        self.examples = {}
        for stack in stacks:
            for frame in stack.frames[1:]:
                self._add(frame, stack.count, files)
            self.leaves += stack.count
            self.named_leaves += stack.count * (not UNNAMED.match(stack.frames[-1]))

    def _add(self, frame, count, files):
        self.frames += count
        found = UNNAMED.match(frame)
        if not found:
            self.named += count
            return
        symbols = files.of(found[1])
        if not symbols:
            self.unknown += count
        elif symbols.cover(int(found[2], 16)):
            self.missed += count
        else:
            return
        self.examples[frame] = self.examples.get(frame, 0) + count

    def show(self):
        worst = sorted(self.examples.items(), key=lambda e: -e[1])[:5]
        return (f"named: {share(self.named, self.frames)} of frames, {share(self.named_leaves, self.leaves)} of leaves; "
                f"without a name although a symbol is there: {share(self.missed, self.frames)}; "
                f"of files not found by the test: {share(self.unknown, self.frames)} {worst if worst else ''}")


def share(part, whole):
    return f"{100 * part / whole:.2f} %" if whole else "none"
