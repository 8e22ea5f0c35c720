/* SPDX-License-Identifier: Apache-2.0 */
/* Colours, which bars are in sight, pictures. */
"use strict";

const test = require("node:test");
const assert = require("node:assert");
const { xagent } = require("./standalone.js");

const { tree: trees, colour, layout, svg } = xagent;
const load = (text) => trees.fromFolded(text, { unit: "samples" });
const kindOf = (tree, name) => colour.KINDS[colour.kinds(tree)[tree.names.indexOf(name)]].id;

/* WCAG 2, level AA: 4.5 for texts, 3 for what is no text. */
for (const theme of ["light", "dark"])
	for (const options of [{}, { diff: true }, { diff: true, hues: "blue-orange" }])
		test(`texts can be read: ${theme} ${JSON.stringify(options)}`, () => {
			const palette = colour.palette(theme, options);
			for (const fill of [...palette.fills, palette.match])
				assert.ok(colour.contrast(fill, palette.onFill) >= 4.5, `${palette.onFill} on ${fill}`);
			for (const fill of palette.fadedFills)
				assert.ok(colour.contrast(fill, palette.onFaded) >= 4.5, `${palette.onFaded} on ${fill}`);
			for (const surface of [palette.surface, palette.background]) {
				assert.ok(colour.contrast(palette.text, surface) >= 4.5);
				assert.ok(colour.contrast(palette.muted, surface) >= 4.5);
			}
			for (const fill of palette.fills)
				assert.ok(Math.max(...[palette.ring, palette.background].map((line) => colour.contrast(line, fill))) >= 3, `the ring on ${fill}`);
		});

test("contrast as WCAG defines it", () => {
	assert.strictEqual(colour.contrast("#000000", "#ffffff"), 21);
	assert.ok(Math.abs(colour.contrast("#777777", "#ffffff") - 4.48) < 0.01);
	assert.strictEqual(colour.oklch(1, 0, 0), "#ffffff");
	assert.strictEqual(colour.oklch(0, 0, 0), "#000000");
});

const KINDS = [
	["app", "main", "do_work", "ns::Class::method", "main.handler", "execute_command", "reader_loop"],
	["library", "_start", "__libc_start_main", "malloc", "_int_free", "__memcpy_avx512_unaligned_erms", "clone3", "libc.so.6+0x1234",
		"std::vector<int>::push_back", "__vfprintf_internal", "read"],
	["runtime", "_PyEval_EvalFrameDefault", "PyObject_Call", "runtime.mcall", "v8::internal::Execution::Call", "JavaMain", "rb_funcall"],
	["kernel", "entry_SYSCALL_64_after_hwframe", "asm_exc_page_fault", "ret_from_fork_asm", "el0t_64_sync", "[kernel]"],
	["jit", "[jit]"],
	["note", "[unknown]", "[truncated: no unwind information]", "[32-bit process]", "other"],
	["unnamed", "bash+0x4d770", "libz.so.1.2.13+0x4970"],
];
for (const [kind, ...names] of KINDS)
	test(`kind ${kind}`, () => {
		for (const name of names)
			assert.strictEqual(colour.KINDS[colour.kindOfName(name)].id, kind, name);
	});

test("below an entry of the kernel all is the kernel's", () => {
	const tree = load("main;read;entry_SYSCALL_64_after_hwframe;do_syscall_64;vfs_read 5\nmain;memcpy 9\nmain;entry_SYSCALL_64_x;memcpy 1\n");
	assert.strictEqual(kindOf(tree, "vfs_read"), "kernel");
	assert.strictEqual(kindOf(tree, "main"), "app");
	assert.strictEqual(kindOf(tree, "memcpy"), "library", "where most of it is decides");
	const { callers } = trees.sandwich(tree, "vfs_read");
	assert.strictEqual(kindOf(callers, "main"), "app", "callers of the kernel are not the kernel");
});

test("a comparison is coloured by shares, not by values", () => {
	const tree = trees.diff(load("same 5\nless 4\ngone 1\n"), load("same 50\nless 10\nmore 40\n"));
	const colours = colour.indices(tree);
	const of = (name) => colours[trees.find(tree, [name])];
	assert.strictEqual(of("same"), 20);
	assert.strictEqual(of("gone"), 0);
	assert.strictEqual(of("more"), 40);
	assert.ok(of("less") > 0 && of("less") < 20);
	assert.strictEqual(colours[0], 20);
	assert.strictEqual(colour.palette("light", { diff: true }).fills.length, 41);
});

test("the legend names what is there", () => {
	const labels = colour.legend(load("main;malloc 5\n[jit] 1\n"), "light").map(({ label }) => label);
	assert.deepStrictEqual(labels, ["standard library", "interpreted or made at run time", "program"]);
	const diff = colour.legend(trees.diff(load("a 1"), load("a 1")), "dark");
	assert.deepStrictEqual(diff.map(({ label }) => label).filter(Boolean), ["less", "more"]);
});

function barsOf(tree, view) {
	const bars = [];
	layout.eachBar(tree, view, (node, level, left, width) => bars.push({ node, level, left, width }));
	return bars;
}

test("bars in sight: a range, clipped at both sides", () => {
	const tree = load("a;b 40\na;c 40\nd 20\n");
	const whole = barsOf(tree, { from: 0, to: 100, width: 1000, first: 0, last: 9 });
	assert.deepStrictEqual(whole.map(({ left, width }) => [left, width]), [[0, 1000], [0, 800], [800, 200], [0, 400], [400, 400]]);
	const part = barsOf(tree, { from: 30, to: 50, width: 1000, first: 2, last: 2 });
	assert.deepStrictEqual(part.map(({ left, width }) => [left, width]), [[0, 500], [500, 500]]);
	assert.deepStrictEqual(barsOf(tree, { from: 5, to: 5, width: 1000, first: 0, last: 9 }), []);
});

test("bars that are too narrow share one, and nothing is lost between", () => {
	const lines = Array.from({ length: 50000 }, (_, i) => `f${i} 1`);
	const tree = load("big 50000\n" + lines.join("\n"));
	const bars = barsOf(tree, { from: 0, to: tree.sum, width: 1000, first: 1, last: 1 });
	assert.strictEqual(bars[0].node, trees.find(tree, ["big"]));
	let end = bars[0].width;
	for (const { node, left, width } of bars.slice(1)) {
		assert.ok(node === -1 && width >= 0.5 && width < 2);
		assert.ok(Math.abs(left - end) < 1e-6);
		end = left + width;
	}
	assert.strictEqual(Math.round(end), 1000);
	assert.ok(bars.length <= 1 + 500);
});

test("between narrow bars that are far from each other is nothing", () => {
	const tree = load("a;b 1\na 9998\nc;d 1\n");
	const bars = barsOf(tree, { from: 0, to: 10000, width: 5000, first: 2, last: 2 });
	assert.deepStrictEqual(bars.map(({ left, width }) => [left, width]), [[0, 0.5], [4999.5, 0.5]]);
	const view = { from: 0, to: 10000, width: 4000, first: 2, last: 2 };
	assert.deepStrictEqual(barsOf(tree, view), [], "each is too narrow by itself");
	assert.strictEqual(layout.nodeAt(tree, view, 2, 2000), -1);
});

test("the node under a point is the one whose bar is there", () => {
	const tree = load("a;b 40\na;c 40\nd 20\n");
	const view = { from: 0, to: 100, width: 1000, first: 0, last: 9 };
	for (const { node, level, left, width } of barsOf(tree, view)) {
		assert.strictEqual(layout.nodeAt(tree, view, level, left + 1), node);
		assert.strictEqual(layout.nodeAt(tree, view, level, left + width - 1), node);
	}
	assert.strictEqual(layout.nodeAt(tree, view, 2, 900), -1);
	assert.strictEqual(layout.nodeAt(tree, view, 3, 1), -1);
	assert.strictEqual(layout.nodeAt(tree, view, -1, 1), -1);
});

test("the node beside", () => {
	const tree = load("a;b 40\na;c 40\nd 20\nd;e 1\n");
	const at = (...path) => trees.find(tree, path);
	assert.strictEqual(layout.beside(tree, at("a", "b"), 1), at("a", "c"));
	assert.strictEqual(layout.beside(tree, at("a", "c"), 1), at("d", "e"), "a cousin");
	assert.strictEqual(layout.beside(tree, at("a", "b"), -1), -1);
	assert.strictEqual(layout.beside(tree, 0, 1), -1);
	assert.strictEqual(layout.deepest(tree, at("d")), 2);
});

test("a name is shown as far as it fits", () => {
	const texts = layout.texts(["ns::Class::method", "abcdefghij"], (text) => text.length * 10);
	assert.strictEqual(texts.fit(0, 170), "ns::Class::method");
	assert.strictEqual(texts.fit(0, 169), "Class::method");
	assert.strictEqual(texts.fit(0, 60), "method");
	assert.strictEqual(texts.fit(0, 50), "meth…");
	assert.strictEqual(texts.fit(1, 39), "");
});

test("a picture is XML, whatever names are", () => {
	const hostile = ["</script><script>alert(1)</script>", "a&b<c>\"d'e", "\u0000\u0001\u001f", "\ud800x", "\ufffe", "]]>", "<!--", "\u2028"];
	const levels = [[0, 8, 0, 0], hostile.flatMap((_, i) => [0, 1, 1, i + 1])];
	const tree = trees.fromFlamebearer({ names: ["total", ...hostile], levels }, { unit: "<b>" });
	const text = svg.draw(tree, { title: "<title> & more" });
	const outside = text.replace(/<[^<>]*>/g, "");
	assert.ok(!/[<>]/.test(outside.replace(/g:hover > rect/g, "")), "no bracket but those of the picture's own elements");
	assert.ok(!/&(?!#\d+;)/.test(text));
	assert.ok(!/[\u0000-\u0008\u000b-\u001f\ufffe\uffff]/.test(text) && !/\p{Surrogate}/u.test(text));
	const open = [];
	for (const [, close, name, own] of text.matchAll(/<(\/?)([a-z]+)[^<>]*?(\/?)>/g))
		if (close)
			assert.strictEqual(open.pop(), name);
		else if (!own)
			open.push(name);
	assert.deepStrictEqual(open, []);
	assert.ok(!/(href|src|script|url\()/.test(text.replace(/<title>[^<]*|<text[^<]*/g, "")), "asks for nothing");
});

test("a picture has a title for each bar, in both layouts", () => {
	const tree = load("a;b 3\na 1\n");
	const top = (text, name) => Number(new RegExp(`<title>${name}: [^<]*</title><rect x="[^"]*" y="([^"]*)"`).exec(text)[1]);
	const icicle = svg.draw(tree, {});
	const flame = svg.draw(tree, { layout: "flame" });
	assert.match(icicle, /<title>b: 3 samples, 75\.0%, self 3 samples<\/title>/);
	assert.ok(top(icicle, "a") < top(icicle, "b"));
	assert.ok(top(flame, "a") > top(flame, "b"));
	const zoomed = svg.draw(tree, { zoom: trees.find(tree, ["a", "b"]) });
	assert.strictEqual((zoomed.match(/<g>/g) || []).length, 3);
});
