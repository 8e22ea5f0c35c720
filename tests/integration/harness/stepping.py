# SPDX-License-Identifier: Apache-2.0
"""A thread that runs instruction by instruction. Each step ends in a SIGTRAP that the kernel generates for the thread itself: an event (EVENT) at that very instruction."""
import ctypes
import os
import signal
import time
from pathlib import Path

EVENT = "signal:signal_generate"
SINGLESTEP, DETACH, SEIZE, INTERRUPT = 9, 17, 0x4206, 0x4207
WALL = 0x40000000


def _ptrace(request, tid, data=0):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    if libc.ptrace(request, tid, 0, data) < 0:
        raise OSError(ctypes.get_errno(), f"ptrace({request})")


def thread_of(pid, comm):
    """The one with that name that has run the longest, but for the first one."""
    times = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        if int(task.name) != pid and (task / "comm").read_text().strip() == comm:
            times[int(task.name)] = int((task / "stat").read_text().rpartition(")")[2].split()[11])
    return max(times, key=times.get)


def step(tid, n, a_second=3000):
    """So many instructions, and no more in a second. The thread runs on afterwards."""
    _ptrace(SEIZE, tid)
    _ptrace(INTERRUPT, tid)
    os.waitpid(tid, WALL)
    sent, begin = 0, time.monotonic()
    for i in range(1, n + 1):
        if i % 100 == 0:
            time.sleep(max(0, begin + 100 / a_second - time.monotonic()))
            begin = time.monotonic()
        _ptrace(SINGLESTEP, tid, sent)
        _, status = os.waitpid(tid, WALL)
        number = os.WSTOPSIG(status)
        sent = 0 if number in (signal.SIGTRAP, signal.SIGSTOP) else number
    _ptrace(DETACH, tid)
