# SPDX-License-Identifier: Apache-2.0
"""Methods of Kotlin and Scala, by the names that their class files have: what each compiler makes of its language's own kinds of functions, and their lines."""
import platform
import shutil

import pytest

from harness import jvms, paths, pprof, pythons

pytestmark = [pytest.mark.bpf, pytest.mark.beside, pytest.mark.skipif(platform.machine() != "x86_64", reason="frames of HotSpot are known on x86-64"),
              pytest.mark.skipif(not pythons.FULL, reason="only in the full matrix: the compilers are 100 MB")]

EACH = ("-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,shapes.*::*")
# What lies between main() and spin(), and the line of the outermost of it.
KOTLIN = {
    ("shapes.Square.area",): 16,
    ("shapes.Square$Companion.unit",): 19,
    ("shapes.Registry.find",): 24,
    ("shapes.ShapesKt.grown",): 27,
    ("shapes.ShapesKt.called", "shapes.ShapesKt$$Lambda.invoke", "shapes.ShapesKt.main$lambda$0"): 33,
    ("shapes.ShapesKt.coroutine", "shapes.ShapesKt$coroutine$body$1.invokeSuspend", "shapes.ShapesKt.steps", "shapes.ShapesKt.pause"): 42,
}
SCALA = {
    ("shapes.Square.area", "shapes.Shape.area$", "shapes.Shape.area"): 10,
    ("shapes.Square.$plus",): 11,
    ("shapes.Square$.unit",): 15,
    ("shapes.Work$.called", "shapes.Work$$$Lambda.apply$mcJJ$sp", "shapes.Work$.$anonfun$main$1"): 26,
    ("shapes.Work$.nested", "shapes.Work$.inner$1"): 30,
}


def between(profile, spin):
    """{methods of the program between main() and spin(): {lines of the outermost}}."""
    found = {}
    for sample in profile.samples:
        of_program = [p for p in sample.places if p[0].startswith("shapes.")]
        names = [p[0] for p in of_program]
        if spin not in names:
            continue
        at = max(i for i, name in enumerate(names) if name.endswith(".main"))
        found.setdefault(tuple(names[at + 1:names.index(spin)]), set()).add(of_program[at + 1][2])
    return found


@pytest.mark.parametrize(("language", "main", "spin", "file", "expected"), [
    ("kotlin", "shapes.ShapesKt", "shapes.ShapesKt.spin", "Shapes.kt", KOTLIN),
    ("scala", "shapes.Work", "shapes.Work$.spin", "Shapes.scala", SCALA),
])
def test_names_and_lines(processes, tmp_path, language, main, spin, file, expected):
    if not shutil.which("java"):
        pytest.skip("no java")
    classes, why = jvms.compiled_by(language)
    if not classes:
        pytest.skip(why)
    run = processes.run(paths.XAGENT, "profile", "-U", "--lines", "-F", "997", "-f", "pprof", "-o", tmp_path / "o", "--", "java", *EACH, "-cp", classes, main, "3",
                        seconds=120)
    assert run.popen.returncode == 0, run.err
    profile = pprof.parse((tmp_path / "o").read_bytes())
    found = between(profile, spin)
    for chain, line in expected.items():
        assert line in found.get(chain, ()), (chain, found)
    files = {place[1] for s in profile.samples for place in s.places if place[0].startswith("shapes.") and "$$Lambda" not in place[0]}
    assert files == {file}
