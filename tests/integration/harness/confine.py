#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Become another program that may make the named system calls only, as systemd's SystemCallFilter=, RestrictAddressFamilies= and
MemoryDenyWriteExecute= would have it: all else is EPERM; or, to find out whether it is ever tried, the end of the process (SIGSYS).

usage: confine.py refuse|end SYSCALL,… FAMILY,… PROGRAM [ARGUMENT…]"""
import ctypes
import errno
import os
import socket
import sys

# seccomp.h of libseccomp 2, linux/seccomp.h, mman.h
ALLOW = 0x7FFF0000
ERRNO = 0x00050000
KILL_PROCESS = 0x80000000
OTHERWISE = {"refuse": ERRNO | errno.EPERM, "end": KILL_PROCESS}
EQ, MASKED_EQ = 4, 7
WRITE, EXEC = 2, 4


class Compare(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


def conditions(name, families):
    """What one argument must be, each alone enough; none: anything."""
    if name == "socket":
        return [Compare(0, EQ, family, 0) for family in families]
    if name == "mmap":
        return [Compare(2, MASKED_EQ, WRITE | EXEC, value) for value in (0, WRITE, EXEC)]
    if name in ("mprotect", "pkey_mprotect"):
        return [Compare(2, MASKED_EQ, EXEC, 0)]
    return []


def confine(otherwise, names, families):
    lib = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    lib.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(lib.seccomp_init(ctypes.c_uint32(otherwise)))
    for name in names:
        number = lib.seccomp_syscall_resolve_name(name.encode())
        if number < 0:  # of another architecture
            continue
        for condition in conditions(name, families) or [None]:
            row = (Compare * 1)(*([condition] if condition else []))
            r = lib.seccomp_rule_add_array(context, ALLOW, number, 1 if condition else 0, row)
            assert r == 0, (name, os.strerror(-r))
    r = lib.seccomp_load(context)
    assert r == 0, os.strerror(-r)


if __name__ == "__main__":
    confine(OTHERWISE[sys.argv[1]], sys.argv[2].split(","), [getattr(socket, name) for name in sys.argv[3].split(",")])
    os.execv(sys.argv[4], sys.argv[4:])
