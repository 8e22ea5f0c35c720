# SPDX-License-Identifier: Apache-2.0
"""How often files are opened."""
import ctypes
import os

# sys/inotify.h
IN_OPEN = 0x20


class Opens:
    """Counts how often a path's inode is opened, by whomever."""

    def __init__(self, path):
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        assert libc.inotify_add_watch(self.fd, os.fsencode(path), IN_OPEN) >= 0, os.strerror(ctypes.get_errno())

    def count(self):
        try:
            # An event without a name has 16 bytes.
            return len(os.read(self.fd, 65536)) // 16
        except BlockingIOError:
            return 0

    def close(self):
        os.close(self.fd)
