# SPDX-License-Identifier: Apache-2.0
"""Processes with two runtimes: Python that runs Java, and Java that runs Python. The functions of both are in one stack, in true order."""
import glob
import platform
import shutil

import pytest

from harness import folded, jvms, paths, pythons

pytestmark = [pytest.mark.bpf, pytest.mark.beside, pytest.mark.skipif(platform.machine() != "x86_64", reason="frames of HotSpot are known on x86-64")]

SORT = ["java.util.Collections.sort", "java.util.ArrayList.sort", "java.util.Arrays.sort", "java.util.TimSort.sort"]


def profiled(processes, output, command, **options):
    run = processes.run(paths.XAGENT, "profile", "-U", "-F", "499", "-o", output, "--", *command, seconds=120, **options)
    assert run.popen.returncode == 0, run.err
    return folded.parse(output.read_text())


def in_order(frames, names):
    """The names are in the frames, from the root on, with others between them or not."""
    rest = iter(frames)
    return all(n in rest for n in names)


def check(stacks, leaf, names):
    """Of all that were interrupted in `leaf`, those with all names in order; the JVM and the interpreter are looked for when they are first seen mapped."""
    reached = stacks.having(leaf)
    assert reached.total > 200, stacks.show()
    whole = folded.Stacks(s for s in reached if in_order(s.frames, names))
    assert whole.total >= 0.99 * reached.total, folded.Stacks(s for s in reached if s not in whole).show()


def test_python_with_a_jvm(processes, tmp_path):
    java = shutil.which("java")
    programs, why = pythons.installed("/usr/bin/python3", "JPype1")
    if not java or not programs:
        pytest.skip(why or "no java")
    stacks = profiled(processes, tmp_path / "o", (programs / "python3", paths.TOP / "tests/fixtures/python/jpype_sort.py", "2"))
    check(stacks, "__main__.ranked", ["__main__.<module>", "__main__.main", "__main__.sort_them", *SORT, "org.jpype.proxy.JPypeProxy.hostInvoke",
                                      "__main__.Order.compare", "__main__.ranked"])
    # What the native method calls lies right behind it: no other frame of Java's is between them.
    assert not stacks.having("native nmethod"), stacks.having("native nmethod").show()


def test_jvm_with_python(processes, programs, tmp_path):
    jvm, why = jvms.get(jvms.HOST)
    library = next(iter(sorted(glob.glob("/usr/lib/*/libpython3.*.so.1.0"))), None)
    if not jvm or not library:
        pytest.skip(why or "no shared libpython3")
    stacks = profiled(processes, tmp_path / "o", (*jvm.command, "-cp", jvm.classes, "chains.Embedded", "2", programs["libembedded.so"]),
                      env={"XAGENT_LIBPYTHON": library})
    check(stacks, "__main__.ranked", ["chains.Embedded.main", "chains.Embedded.sort", *SORT, "chains.Embedded$Order.compare", "chains.Embedded$Order.rank",
                                      "__main__.<module>", "__main__.ranked"])
