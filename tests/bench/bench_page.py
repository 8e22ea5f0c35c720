# SPDX-License-Identifier: Apache-2.0
"""How long the page's flame graph takes for large trees: in a headless Chromium, over the files of agent/page, without an agent."""
import re
import statistics
from pathlib import Path

import bench_report
from harness import browser, paths

NODES = (50_000, 100_000)
DEPTH = 40
SHELL = "<!DOCTYPE html><meta charset=utf-8><title>bench</title><body><div id=host style='height:800px;width:1200px'></div>%s"

# A tree of about n nodes as a flamebearer: each stack leaves the one before somewhere in the upper half.
MAKE = """
function (n, depth) {
	let seed = 1;
	const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
	const names = ["total"], levels = [], ends = [], number = new Map();
	const nameOf = (text) => number.get(text) ?? (number.set(text, names.push(text) - 1), names.length - 1);
	let made = 0, x = 0, path = [];
	const close = (level) => {
		while (path.length > level) {
			const bar = path.pop();
			const row = (levels[path.length] ||= []);
			row.push(bar.x - (ends[path.length] || 0), x - bar.x, bar.self, bar.name);
			ends[path.length] = x;
		}
	};
	path.push({ x: 0, self: 0, name: 0 });
	while (made < n) {
		close(1 + random(Math.min(path.length, depth / 2)));
		const to = path.length + 1 + random(depth - path.length);
		for (; path.length < to; made++)
			path.push({ x, self: 0, name: nameOf("module_" + random(40) + "::function_with_a_name_" + random(3000)) });
		const self = 1 + random(20);
		path[path.length - 1].self += self;
		x += self;
	}
	close(0);
	return { names, levels, numTicks: x, maxSelf: 0 };
}
"""

# Zooms into the widest frames and out again; a time goes to the picture after the next one, so that the browser has painted it.
MEASURE = """
const [n, depth, done] = arguments;
const painted = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
const timed = async (act) => { const at = performance.now(); act(); await painted(); return performance.now() - at; };
(async () => {
	const { tree: trees, flame } = window.xagent;
	const bearer = (%s)(n, depth);
	let at = performance.now();
	const tree = trees.fromFlamebearer(bearer, { unit: "nanoseconds" });
	const result = { nodes: tree.n, parse: performance.now() - at, zoom: [], draw: [] };
	const widget = flame.create(document.getElementById("host"), { theme: "light" });
	result.show = await timed(() => widget.setTree(tree));
	const wide = [...tree.weight.keys()].slice(1).sort((a, b) => tree.weight[b] - tree.weight[a]).slice(0, 20);
	for (const node of [...wide, 0]) {
		result.zoom.push(await timed(() => widget.zoomTo(node)));
		result.draw.push(widget.stats().ms);
	}
	at = performance.now();
	widget.search("function_with_a_name_1");
	result.search = performance.now() - at;
	at = performance.now();
	result.rows = trees.table(tree).length;
	result.table = performance.now() - at;
	widget.destroy();
	done(result);
})().catch((error) => done({ error: String(error && error.stack || error) }));
""" % MAKE


def _scripts():
    """Those of the standalone page, in its order, but for the last, which starts it."""
    page = paths.TOP / "agent" / "page"
    names = re.findall(r"^<!-- xagent:script (\S+) -->$", (page / "standalone.html").read_text(), re.M)[:-1]
    return "".join(f'<script src="{(page / name).as_uri()}"></script>' for name in names)


def page():
    """[{nodes, parse, show, zoom: [ms], draw: [ms], search, table}], or the reason why there is none."""
    reason = browser.why_none()
    if reason:
        return reason
    one = browser.Browser()
    try:
        # One picture a zoom, not those between.
        one.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
        shell = Path(one.downloads) / "bench.html"
        shell.write_text(SHELL % _scripts())
        one.open(shell.as_uri())
        return [one.driver.execute_async_script(MEASURE, nodes, DEPTH) for nodes in NODES]
    finally:
        one.end()


def report(results):
    bench_report.head("The page's flame graph in headless Chromium, milliseconds", "")
    if isinstance(results, str):
        return bench_report.row("not measured", "-", "", results)
    for r in results:
        size = f"{r['nodes']:,} nodes: "
        bench_report.row(size + "zoom to the painted picture, median, slowest",
                         "%.0f, %.0f" % (statistics.median(r["zoom"]), max(r["zoom"])), "< 100")
        bench_report.row(size + "of it drawing, median", "%.0f" % statistics.median(r["draw"]))
        bench_report.row(size + "reading, first picture", "%.0f, %.0f" % (r["parse"], r["show"]))
        bench_report.row(size + "search, table of functions", "%.0f, %.0f" % (r["search"], r["table"]))
    return None
