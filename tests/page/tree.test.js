/* SPDX-License-Identifier: Apache-2.0 */
"use strict";

const test = require("node:test");
const assert = require("node:assert");
const { xagent, toFlamebearer } = require("./standalone.js");

const { tree: trees } = xagent;

/* total 10: a 8 (self 1): b 4 (self 3): a 1; c 3. d 2. */
const FOLDED = "a 1\na;b 3\na;b;a 1\na;c 3\nd 2\n";

const load = (text, unit) => trees.fromFolded(text, { unit });
const plain = (values) => Array.from(values);
const sorted = (text) => text.split("\n").filter(Boolean).sort();

/* All that trees promise about themselves. */
function check(tree) {
	for (let i = 0; i < tree.n; i++) {
		const up = tree.parent[i];
		assert.ok(tree.end[i] > i && tree.end[i] <= tree.n);
		assert.ok(tree.total[i] >= tree.self[i]);
		assert.ok(tree.name[i] >= 0 && tree.name[i] < tree.names.length);
		if (i === 0) {
			assert.strictEqual(up, -1);
			continue;
		}
		assert.ok(up < i && tree.end[up] >= tree.end[i]);
		assert.strictEqual(tree.depth[i], tree.depth[up] + 1);
		assert.ok(tree.x[i] >= tree.x[up] && tree.x[i] + tree.weight[i] <= tree.x[up] + tree.weight[up] + 1e-6);
	}
	const at = tree.levelStart;
	assert.strictEqual(at[at.length - 1], tree.n);
	for (let d = 0; d + 1 < at.length; d++)
		for (let k = at[d]; k < at[d + 1]; k++) {
			assert.strictEqual(tree.depth[tree.order[k]], d);
			assert.ok(k === at[d] || tree.x[tree.order[k]] >= tree.x[tree.order[k - 1]]);
		}
}

test("a flamebearer of the reference: offsets from the end of the bar before", () => {
	const tree = trees.fromFlamebearer({
		names: ["total", "a", "b", "c", "d"],
		levels: [[0, 10, 0, 0], [0, 8, 1, 1, 0, 2, 2, 4], [1, 4, 3, 2, 0, 3, 3, 3], [4, 1, 1, 1]],
		numTicks: 10, maxSelf: 3,
	}, { unit: "samples" });
	check(tree);
	assert.deepStrictEqual(plain(tree.name).map((id) => tree.names[id]), ["total", "a", "b", "a", "c", "d"]);
	assert.deepStrictEqual(plain(tree.parent), [-1, 0, 1, 2, 1, 0]);
	assert.deepStrictEqual(plain(tree.end), [6, 5, 4, 4, 5, 6]);
	assert.deepStrictEqual(plain(tree.total), [10, 8, 4, 1, 3, 2]);
	assert.deepStrictEqual(plain(tree.self), [0, 1, 3, 1, 3, 2]);
	assert.deepStrictEqual(sorted(trees.folded(tree)), sorted(FOLDED));
	assert.strictEqual(tree.unit, "samples");
});

test("levels as a querier answers them: objects, numbers as texts", () => {
	const tree = trees.fromFlamebearer({
		names: ["total", "a"], levels: [{ values: ["0", "9007199254740991", "0", "0"] }, { values: ["0", "9007199254740991", "5", "1"] }],
		total: "9007199254740991", maxSelf: "5",
	});
	check(tree);
	assert.deepStrictEqual(plain(tree.total), [9007199254740991, 9007199254740991]);
	assert.deepStrictEqual(plain(tree.self), [0, 5]);
});

test("a comparison has both sides in each bar", () => {
	const tree = trees.fromFlamebearer({
		names: ["total", "a", "b", "new"],
		levels: [[0, 10, 0, 0, 20, 0, 0], [0, 10, 10, 0, 0, 0, 1, 0, 0, 0, 0, 20, 5, 2], [10, 0, 0, 5, 15, 15, 3]],
	}, { diff: true });
	check(tree);
	assert.deepStrictEqual(plain(tree.name).map((id) => tree.names[id]), ["total", "a", "b", "new"]);
	assert.deepStrictEqual(plain(tree.parent), [-1, 0, 0, 2]);
	assert.deepStrictEqual(plain(tree.total), [10, 10, 0, 0]);
	assert.deepStrictEqual(plain(tree.totalRight), [20, 0, 20, 15]);
	assert.deepStrictEqual(plain(tree.selfRight), [0, 0, 5, 15]);
	assert.deepStrictEqual(plain(tree.weight), [30, 15, 15, 11.25], "both sides count alike");
});

const BROKEN = [
	["nothing", {}],
	["no levels", { names: ["total"], levels: [] }],
	["an empty level", { names: ["total"], levels: [[0, 1, 0, 0], [], [0, 1, 1, 0]] }],
	["names that are not there", { names: ["total"], levels: [[0, 1, 0, 0], [0, 1, 1, 7, 0, 1, 1, -1]] }],
	["half a bar", { names: ["total", "a"], levels: [[0, 1, 0, 0], [0, 1, 1, 1, 0, 1]] }],
	["numbers that are none", { names: ["total", "a"], levels: [[0, "x", null, 0], [NaN, -5, Infinity, 1, {}, [], 1e400, 1.5]] }],
	["a level below nobody", { names: ["total"], levels: [[0, 0, 0, 0], [0, 0, 0, 0], [5, 0, 0, 0]] }],
	["two roots", { names: ["a", "b"], levels: [[0, 1, 1, 0, 0, 2, 2, 1]] }],
	["names that are no texts", { names: [1, null, {}], levels: [[0, 1, 0, 0], [0, 1, 1, 1]] }],
];
for (const [name, fb] of BROKEN)
	test(`a flamebearer with ${name} is a tree`, () => {
		for (const diff of [false, true]) {
			const tree = trees.fromFlamebearer(fb, { diff });
			assert.ok(tree.n >= 1 && tree.parent[0] === -1);
			assert.ok(plain(tree.total).every(Number.isFinite));
			trees.table(tree);
			trees.folded(tree);
		}
	});

test("there and back: flamebearer, folded", () => {
	const tree = load(FOLDED);
	const again = trees.fromFlamebearer(toFlamebearer(tree));
	assert.strictEqual(trees.folded(again), trees.folded(tree));
	assert.strictEqual(trees.folded(load(trees.folded(tree))), trees.folded(tree));
	const both = trees.diff(tree, load("a;b 5\ne 1\n"));
	assert.strictEqual(trees.folded(trees.fromFlamebearer(toFlamebearer(both), { diff: true })), trees.folded(both));
});

test("a bar that begins where another ends stands under the next", () => {
	for (const tree of [load("a;x 5\nb;y 5\n"), trees.diff(load("a;x 5\n"), load("b;y 5\nc;z 1\n"))]) {
		const again = trees.fromFlamebearer(toFlamebearer(tree), { diff: Boolean(tree.totalRight) });
		assert.strictEqual(trees.folded(again), trees.folded(tree));
	}
});

test("the table counts a stack once for each function, however often it is in it", () => {
	const rows = Object.fromEntries(trees.table(load(FOLDED)).map((row) => [row.name, [row.self, row.total]]));
	assert.deepStrictEqual(rows, { a: [2, 8], b: [3, 4], c: [3, 3], d: [2, 2] });
	const recursive = trees.table(load("f;g;f;g;f 4\ng;f 1\n"));
	assert.deepStrictEqual(recursive.map(({ name, self, total }) => [name, self, total]), [["f", 5, 5], ["g", 0, 5]]);
});

test("the table is sorted by self, then total, then name", () => {
	assert.deepStrictEqual(trees.table(load("a;z 1\na;y 1\nb 5\n")).map(({ name }) => name), ["b", "y", "z", "a"]);
});

test("callees are merged from all places, recursion stays inside", () => {
	const { callees } = trees.sandwich(load("x;f;g 1\ny;f;g 2\ny;f;f;h 4\nz 8\n"), "f");
	check(callees);
	assert.strictEqual(callees.names[callees.name[0]], "f");
	assert.strictEqual(callees.sum, 7);
	assert.strictEqual(callees.whole, 15);
	assert.deepStrictEqual(sorted(trees.folded(callees)), ["f;h 4", "g 3"]);
});

test("callers are chains upwards from the outermost call", () => {
	const { callers } = trees.sandwich(load("m;x;f;g 1\nm;y;f 2\nm;y;f;y;f;h 4\nf 8\nz 16\n"), "f");
	check(callers);
	assert.strictEqual(callers.sum, 15);
	assert.ok(callers.inverted);
	assert.deepStrictEqual(sorted(trees.folded(callers)), ["x;m 1", "y;m 6"]);
	assert.strictEqual(callers.self[0], 8, "called by nobody");
});

test("sandwich of who is not there is empty", () => {
	const { callers, callees } = trees.sandwich(load(FOLDED), "nobody");
	assert.strictEqual(callers.sum + callees.sum, 0);
});

test("sandwich and table agree for every function of a tree", () => {
	const tree = load("a;b;c;b;a 3\na;c;c 5\nb;a;b;d 7\nd;d;d 11\n");
	for (const row of trees.table(tree)) {
		const { callers, callees } = trees.sandwich(tree, row.name);
		assert.strictEqual(callers.sum, row.total, row.name);
		assert.strictEqual(callees.sum, row.total, row.name);
	}
});

test("a comparison: each side by itself, and what only one has", () => {
	const both = trees.diff(load("a;b 3\nc 1\n"), load("a;b 30\na;d 10\n"));
	check(both);
	assert.deepStrictEqual([both.sum, both.sumRight], [4, 40]);
	assert.deepStrictEqual(sorted(trees.folded(both)), ["a;b 3 30", "a;d 0 10", "c 1 0"]);
	const rows = trees.table(both).map((row) => [row.name, row.self, row.selfRight, row.total, row.totalRight]);
	assert.deepStrictEqual(rows, [["b", 3, 30, 3, 30], ["d", 0, 10, 0, 10], ["c", 1, 0, 1, 0], ["a", 0, 0, 3, 40]]);
	const { callers } = trees.sandwich(both, "b");
	assert.deepStrictEqual([callers.sum, callers.sumRight], [3, 30]);
});

test("a comparison with an empty side keeps the other", () => {
	for (const both of [trees.diff(load(""), load("a 2\n")), trees.diff(load("a 2\n"), load(""))]) {
		check(both);
		assert.deepStrictEqual(plain(both.weight), [2, 2]);
	}
});

test("a search tells its share, recursion counted once", () => {
	const tree = load("foo;bar;foo 3\nbar 1\nBAR_2;x 2\nx 4\n");
	const { nodes, count, total, share } = trees.search(tree, "bar");
	assert.strictEqual(count, 3);
	assert.strictEqual(total, 6);
	assert.strictEqual(share, 0.6);
	assert.strictEqual(plain(nodes).reduce((a, b) => a + b), 3);
	assert.strictEqual(trees.search(tree, "o").share, 0.3);
	assert.strictEqual(trees.search(tree, "/^bar$/").total, 4);
	assert.strictEqual(trees.search(tree, "").count, 0);
	assert.strictEqual(trees.search(tree, "total").count, 0, "the root is no function");
	assert.strictEqual(trees.search(tree, "/(/").count, 0, "not a regular expression yet");
	assert.strictEqual(trees.search(tree, ".*").count, 0, "a text is no regular expression");
});

test("direct recursion collapses", () => {
	const tree = trees.collapse(load("f;f;f;g 2\nf;f 1\nf;g;f 4\n"));
	check(tree);
	assert.deepStrictEqual(sorted(trees.folded(tree)), ["f 1", "f;g 2", "f;g;f 4"]);
});

test("a path leads to its node, or as far as it goes", () => {
	const tree = load(FOLDED);
	for (let i = 0; i < tree.n; i++)
		assert.strictEqual(trees.find(tree, trees.path(tree, i)), i);
	assert.deepStrictEqual(trees.path(tree, trees.find(tree, ["a", "b", "nobody"])), ["a", "b"]);
	assert.strictEqual(trees.find(tree, ["nobody"]), 0);
});

test("names may be anything", () => {
	const names = ["__proto__", "constructor", "</script><img src=x onerror=alert(1)>", "a b;c\nd", "\u2028", "𝒻", "\ud800", ""];
	const levels = [[0, names.length, 0, 0], names.flatMap((_, i) => [0, 1, 1, i + 1])];
	const tree = trees.fromFlamebearer({ names: ["total", ...names], levels });
	check(tree);
	assert.deepStrictEqual(trees.table(tree).map(({ name }) => name).sort(), names.slice().sort());
	assert.strictEqual(trees.folded(tree).split("\n").length, names.length + 1, "one line a stack");
	assert.ok(trees.folded(tree).includes("a b:c:d 1\n"));
	for (const name of names)
		assert.strictEqual(trees.sandwich(tree, name).callers.sum, 1);
});

test("1,000 levels and 100,000 nodes", () => {
	const frames = Array.from({ length: 1000 }, (_, i) => `f${i}`);
	const deep = load(frames.join(";") + " 1\n");
	check(deep);
	assert.strictEqual(deep.levelStart.length, 1002);
	assert.strictEqual(trees.sandwich(deep, "f999").callers.n, 1000);
	const lines = [];
	for (let i = 0; i < 100000; i++)
		lines.push(`a${i % 10};b${i % 1000};c${i} 1`);
	const wide = load(lines.join("\n"));
	assert.strictEqual(wide.n, 1 + 10 + 1000 + 100000);
	assert.strictEqual(trees.table(wide).length, 101010);
	assert.strictEqual(trees.search(wide, "c").share, 1);
});
