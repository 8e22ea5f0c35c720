# SPDX-License-Identifier: Apache-2.0
"""One chain of calls through modules of every kind, and through an addon that calls back, in the main thread and in a Worker, which has an isolate of its own."""
import pytest

from harness import nodes, paths, pprof

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

MAIN = """
import { createRequire } from 'node:module';
import vm from 'node:vm';
import { Worker, isMainThread, workerData } from 'node:worker_threads';
import { from_esm } from './other.mjs';

const [addonPath, seconds] = isMainThread ? process.argv.slice(2) : workerData;
const require = createRequire(import.meta.url);
const { from_cjs } = require('./work.cjs');
const addon = require(addonPath);
const context = vm.createContext({});
const from_vm = vm.runInContext('(function from_vm(next) { return next(); })', context, { filename: 'context.js' });
const module = new vm.SourceTextModule('export function from_vm_module(next) { return next(); }', { context, identifier: 'vm_module.mjs' });
await module.link(() => {});
await module.evaluate();
const { from_vm_module } = module.namespace;

function leaf() { let n = 0; for (const end = Date.now() + 3; Date.now() < end;) n++; return n; }
function callback() { return leaf(); }
function native() { return addon.through(callback); }
const dynamic = await import('./dynamic.mjs');
function main() {
	for (const end = Date.now() + 1000 * Number(seconds); Date.now() < end;)
		from_esm(() => dynamic.from_dynamic(() => from_cjs(() => from_vm(() => from_vm_module(native)))));
}
if (isMainThread) new Worker(new URL(import.meta.url), { workerData: [addonPath, seconds] });
main();
"""
FILES = {
    "main.mjs": MAIN,
    "other.mjs": "export function from_esm(next) { return next(); }\n",
    "dynamic.mjs": "export function from_dynamic(next) { return next(); }\n",
    "work.cjs": "exports.from_cjs = function from_cjs(next) { return next(); };\n",
}
# Outermost first, and how its file ends.
CHAIN = [("main", "/main.mjs"), ("from_esm", "/other.mjs"), ("from_dynamic", "/dynamic.mjs"), ("from_cjs", "/work.cjs"), ("from_vm", "context.js"), ("from_vm_module", "vm_module.mjs"),
         ("native", "/main.mjs"), ("addon_through", ""), ("addon_inner", ""), ("callback", "/main.mjs"), ("leaf", "/main.mjs")]


def is_whole(sample):
    at = iter(sample.places)
    return all(any(name == wanted and file.endswith(end) for name, file, _ in at) for wanted, end in CHAIN)


@pytest.mark.parametrize("major", nodes.NAMES if nodes.FULL else nodes.SAMPLE[-1:])
def test_one_chain(processes, programs, tmp_path, major):
    node = nodes.get_or_skip(major)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    output = tmp_path / "o.pb.gz"
    flags = [f for f in ("--no-turbo-inlining", "--no-maglev-inlining", "--no-warnings") if nodes.has_flag(node, f)]
    run = processes.run(paths.XAGENT, "profile", "-U", "-o", output, "-F", "299", "--", node, *flags, "--experimental-vm-modules", tmp_path / "main.mjs", programs["addon.node"], "2.5", seconds=60)
    assert run.popen.returncode == 0, run.err
    profile = pprof.parse(output.read_bytes())
    samples = [s for s in profile.samples if "leaf" in s.frames]
    for thread in (True, False):
        its = [s for s in samples if any(f.startswith("node::worker::Worker") for f in s.frames) == thread]
        broken = [s for s in its if not is_whole(s)]
        total, n_broken = (sum(s.values[0] for s in some) // profile.period for some in (its, broken))
        # Those until the agent has a table of the addon: it finishes their stacks, and knows no functions of V8.
        assert total > 30 and n_broken <= 2, (thread, total, [s.frames for s in broken])
