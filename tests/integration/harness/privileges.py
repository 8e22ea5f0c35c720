# SPDX-License-Identifier: Apache-2.0
"""What this machine lets us do; each answer is None, or the reason why not."""
import os
import shutil
from pathlib import Path

# linux/capability.h
CAP_SYS_ADMIN, CAP_PERFMON, CAP_BPF = 21, 38, 39


def capabilities():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return 0


def why_no_bpf():
    have = capabilities()
    if not have >> CAP_SYS_ADMIN & 1 and not (have >> CAP_BPF & 1 and have >> CAP_PERFMON & 1):
        return "needs CAP_BPF and CAP_PERFMON (run as root)"
    if not os.access("/sys/kernel/btf/vmlinux", os.R_OK):
        return "this kernel has no BTF (/sys/kernel/btf/vmlinux)"
    return None


def why_no_tool(*names):
    missing = [n for n in names if not shutil.which(n)]
    return f"not installed: {', '.join(missing)}" if missing else None


def cgroup2_root():
    """Where the unified hierarchy is mounted, or None."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, where, kind, options = line.split()[:4]
        if kind == "cgroup2" and "rw" in options.split(","):
            return Path(where)
    return None


def why_no_cgroup2():
    root = cgroup2_root()
    if not root:
        return "no writable cgroup2 mount"
    return None if os.access(root, os.W_OK) else f"{root} is not writable"
