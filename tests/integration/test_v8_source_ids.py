# SPDX-License-Identifier: Apache-2.0
"""The id that a script has for its source map goes with each of its functions, as the build id of a program does."""
import pytest

from harness import nodes, otlp, paths, pprof

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

ID = "85314830-023f-4cf1-a267-535f4e37bb17"
OF_MODULE = "0f0e0d0c-0b0a-4908-8706-050403020100"
# Some 2 MB, and what a bundler leaves at the end.
LONG = "/" * 60 + "\n"
FILES = {
    "main.cjs": f"""'use strict';
const without = require('./without.cjs');
class Main {{ run(f) {{ return f(); }} }}
function main(module, end) {{ while (Date.now() < end) new Main().run(() => without.without(() => module.from_module(() => work(end)))); }}
function work(end) {{ let n = 0; for (const stop = Math.min(end, Date.now() + 20); Date.now() < stop;) n++; return n; }}
import('./module.mjs').then((m) => main(m, Date.now() + 2000));
//# debugId={ID}
//# sourceMappingURL=main.cjs.map
""",
    "without.cjs": f"exports.without = function without(next) {{ return next(); }};\nexports.text = `\n//# debugId={ID}\n`;\n",
    "module.mjs": f"{LONG * 35000}export function from_module(next) {{ return next(); }}\n//# debugId={OF_MODULE.upper()}\n",
}


def profiled(processes, tmp_path, node, output):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    run = processes.run(paths.XAGENT, "profile", "-U", "-o", output, "-F", "299", "--", node, tmp_path / "main.cjs", seconds=60)
    assert run.popen.returncode == 0, run.err
    return output.read_bytes()


def node_of(major):
    return nodes.get_or_skip(major)


@pytest.mark.parametrize("major", nodes.NAMES if nodes.FULL else nodes.SAMPLE[-1:])
def test_mappings(processes, tmp_path, major):
    profile = pprof.parse(profiled(processes, tmp_path, node_of(major), tmp_path / "o.pb.gz"))
    of_main = (str(tmp_path / "main.cjs"), ID)
    files = {name: {file for n, file, _ in profile.functions if n == name} for name in profile.mappings}
    # Until the agent has a table of the process it reads no source.
    for name, wanted in (("main", of_main), ("work", of_main), ("Main.run", of_main), ("from_module", (f"file://{tmp_path}/module.mjs", OF_MODULE))):
        assert files[name] == {wanted[0]} and wanted in profile.mappings[name] <= {wanted, None}, (name, profile.mappings[name])
    assert profile.mappings["without"] == {None}
    # Functions without a name, and none of anybody else's.
    others = {name: found for name, found in profile.mappings.items() if {id for _, id in found - {None}} & {ID, OF_MODULE}}
    assert any(name.startswith("<anonymous> (main.cjs:") for name in others) and all(files[name] <= {of_main[0], f"file://{tmp_path}/module.mjs"} for name in others), others


@pytest.mark.skipif(not nodes.FULL, reason="in the full matrix")
def test_opentelemetry(processes, tmp_path):
    data = profiled(processes, tmp_path, node_of(nodes.SAMPLE[-1]), tmp_path / "o.otlp")
    dictionary = otlp.messages.ExportProfilesServiceRequest.FromString(data).dictionary
    text = dictionary.string_table
    attributes = {i: (text[a.key_strindex], a.value.string_value) for i, a in enumerate(dictionary.attribute_table)}
    seen = {(text[m.filename_strindex], *attributes[i]) for m in dictionary.mapping_table for i in m.attribute_indices}
    assert (str(tmp_path / "main.cjs"), "source_map.debug_id", ID) in seen
    of_frames = {attributes[i] for location in dictionary.location_table if text[dictionary.mapping_table[location.mapping_index].filename_strindex] == str(tmp_path / "main.cjs")
                 for i in location.attribute_indices}
    assert of_frames == {("profile.frame.type", "v8js")}
