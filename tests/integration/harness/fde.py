# SPDX-License-Identifier: Apache-2.0
"""
Which pcs have unwind information, read from the search table of .eh_frame_hdr: where there is none, gdb guesses, and so does everybody.

Only what today's linkers write is understood: a table of 4-byte offsets, and FDEs with 4-byte relative addresses. A file without a table
is taken for one that covers nothing.
"""
import bisect
import struct
from pathlib import Path

# elf.h
PT_LOAD, PT_GNU_EH_FRAME = 1, 0x6474e550
# DW_EH_PE_*: datarel | sdata4, udata4, pcrel | sdata4
TABLE, COUNT, RELATIVE = 0x3b, 0x03, 0x1b


class Coverage:
    """The ranges of one ELF file that have an FDE."""

    def __init__(self, path):
        self.data = Path(path).read_bytes()
        self.segments = []
        self.begins, self.fdes = [], []
        if self.data[:5] == b"\x7fELF\x02":
            self._read_segments()

    def _read_segments(self):
        at, size, count = (struct.unpack_from("<Q", self.data, 32)[0], *struct.unpack_from("<HH", self.data, 54))
        header = None
        for i in range(count):
            kind, _, offset, vaddr, _, bytes_in_file = struct.unpack_from("<IIQQQQ", self.data, at + i * size)
            if kind == PT_LOAD:
                self.segments.append((offset, offset + bytes_in_file, vaddr - offset))
            if kind == PT_GNU_EH_FRAME:
                header = (offset, vaddr)
        if header:
            self._read_table(*header)

    def _read_table(self, offset, vaddr):
        version, pointer, count_kind, table_kind = self.data[offset:offset + 4]
        if (version, count_kind, table_kind) != (1, COUNT, TABLE) or pointer != RELATIVE:
            return
        n = struct.unpack_from("<I", self.data, offset + 8)[0]
        rows = struct.iter_unpack("<ii", self.data[offset + 12:offset + 12 + 8 * n])
        for begin, fde in rows:
            self.begins.append(vaddr + begin)
            self.fdes.append(vaddr + fde)

    def vaddr_of(self, file_off):
        return next((file_off + delta for begin, end, delta in self.segments if begin <= file_off < end), None)

    def _file_off_of(self, vaddr):
        return next((vaddr - delta for begin, end, delta in self.segments if begin <= vaddr - delta < end), None)

    def covers(self, file_off):
        vaddr = self.vaddr_of(file_off)
        if vaddr is None:
            return False
        at = bisect.bisect_right(self.begins, vaddr) - 1
        if at < 0:
            return False
        fde = self._file_off_of(self.fdes[at])
        # length, CIE, begin, bytes
        n_bytes = struct.unpack_from("<I", self.data, fde + 12)[0]
        return vaddr - self.begins[at] < n_bytes


class Process:
    """The mappings of a process, read once, and the files in them."""

    files = {}  # shared: they are large

    def __init__(self, pid):
        self.mappings = []
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            fields = line.split(None, 5)
            begin, end = (int(x, 16) for x in fields[0].split("-"))
            self.mappings.append((begin, end, int(fields[2], 16), fields[5] if len(fields) > 5 else ""))

    def where(self, pc):
        """(path or "", offset in the file) of a pc."""
        for begin, end, offset, path in self.mappings:
            if begin <= pc < end:
                return path, pc - begin + offset
        return "", 0

    def covers(self, pc):
        """True when there is unwind information for this pc."""
        path, offset = self.where(pc)
        if path == "[vdso]":
            return True
        if not path.startswith("/"):
            return False
        if path not in self.files:
            self.files[path] = Coverage(path)
        return self.files[path].covers(offset)
