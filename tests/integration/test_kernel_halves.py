# SPDX-License-Identifier: Apache-2.0
"""
Kernel and user half of a stack belong to the same moment of the same thread.

Two threads share a CPU, one in read(2), the other in getrandom(2). A sampler that stores kernel stacks by hash (bpf_get_stackid) now and
then gives one thread the other's.
"""
import pytest

from harness import folded, paths

pytestmark = pytest.mark.bpf

# What only one of the two system calls goes through.
OWN = {
    "reader": {"ksys_read", "__x64_sys_read", "vfs_read", "read_zero", "read_iter_zero"},
    "randomizer": {"__x64_sys_getrandom", "__do_sys_getrandom", "get_random_bytes_user", "chacha_block_generic", "chacha_permute"},
}


def halves(stack):
    """(user function, kernel frames above it), or None for other stacks."""
    for function in OWN:
        if function in stack.frames:
            return function, set(stack.frames[stack.frames.index(function) + 1:])
    return None


def test_threads_never_get_each_others_kernel_stack(processes, programs, tmp_path):
    path = tmp_path / "out"
    run = processes.run(paths.XAGENT, "profile", "-f", "folded", "-F", 1999, "-o", path, "--", programs["syscalls"], 8)
    assert run.popen.returncode == 0, run.err
    stacks = folded.parse(path.read_text())
    seen = {function: 0 for function in OWN}
    mismatches = []
    for stack in stacks:
        found = halves(stack)
        if not found:
            continue
        function, kernel = found
        other = "randomizer" if function == "reader" else "reader"
        seen[function] += stack.count if kernel & OWN[function] else 0
        if kernel & OWN[other]:
            mismatches.append(stack)
    assert all(n >= 1000 for n in seen.values()), f"{seen}\n{stacks.show()}"
    assert not mismatches, folded.Stacks(mismatches).show()


def test_no_stack_has_both_user_halves(processes, programs, tmp_path):
    path = tmp_path / "out"
    run = processes.run(paths.XAGENT, "profile", "-f", "folded", "-F", 1999, "-o", path, "--", programs["syscalls"], 2)
    assert run.popen.returncode == 0, run.err
    stacks = folded.parse(path.read_text())
    assert stacks.having("read_thread", "reader").total >= 0.99 * stacks.having("reader").total > 0, stacks.show()
    assert stacks.having("random_thread", "randomizer").total >= 0.99 * stacks.having("randomizer").total > 0, stacks.show()
    assert not stacks.having("reader", "randomizer"), stacks.show()
