# SPDX-License-Identifier: Apache-2.0
"""The stubs by which the JVM looks for a virtual method, with the class of the object."""
import platform
import re

import pytest

from harness import folded, jvms, paths, pythons

pytestmark = [pytest.mark.bpf, pytest.mark.beside, pytest.mark.skipif(platform.machine() != "x86_64", reason="frames of HotSpot are known on x86-64")]

# Headers of objects have their class in three forms.
FORMS = {
    "default": (),
    "whole": ("-XX:-UseCompressedClassPointers",),
    "compact": ("-XX:+UnlockExperimentalVMOptions", "-XX:+UseCompactObjectHeaders"),
    "not_compact": ("-XX:+UnlockExperimentalVMOptions", "-XX:-UseCompactObjectHeaders"),
    "zgc": ("-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC"),
    "shenandoah": ("-XX:+UnlockExperimentalVMOptions", "-XX:+UseShenandoahGC"),
}
EVERY = [(name, form) for name in jvms.NAMES for form in FORMS] if pythons.FULL else [("host", "default"), ("8", "whole")]
CLASS = "chains.Receivers"
STUB = "vtable chunks"


@pytest.fixture
def jvm(request):
    found, why = jvms.get(request.param)
    if not found:
        pytest.skip(why)
    return found


@pytest.mark.parametrize(("jvm", "form"), EVERY, indirect=["jvm"])
def test_class_of_the_object(processes, tmp_path, jvm, form):
    """Each caller has objects of one class, whose name its own tells."""
    if FORMS[form] and not jvm.has(*FORMS[form]):
        pytest.skip(f"it does not know {FORMS[form]}")
    output = tmp_path / "o"
    run = processes.run(paths.XAGENT, "profile", "-U", "-F", "997", "-o", output, "--", *jvm.command, *FORMS[form], "-XX:-TieredCompilation", "-XX:CompileCommand=quiet",
                        "-XX:CompileCommand=dontinline,chains.Receivers*::*", "-cp", jvm.classes, CLASS, "2", seconds=120)
    assert run.popen.returncode == 0, run.err
    n = {}
    for stack in folded.parse(output.read_text()):
        callers = [f for f in stack.frames if f.startswith(CLASS + ".of")]
        if not callers or not stack.frames[-1].startswith(STUB):
            continue
        expected = callers[0].replace(".of", "$")
        assert stack.frames[-1] in (STUB, f"{STUB} of {expected}"), stack
        key = (re.sub(".*[.]", "", stack.frames[-2]), stack.frames[-1])
        n[key] = n.get(key, 0) + stack.count
    assert {name for _, name in n} >= {f"{STUB} of {CLASS}${kind}" for kind in ("Circle", "Square", "Line")}, n
    assert {caller for caller, _ in n} >= {"byInterface", "byClass"}, n
    told = sum(count for (_, name), count in n.items() if name != STUB)
    assert told >= 0.99 * sum(n.values()), n
