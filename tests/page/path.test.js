/* SPDX-License-Identifier: Apache-2.0 */
/* Places in a tree that links and the next answer find again. */
"use strict";
const test = require("node:test");
const assert = require("node:assert");
const trees = require("../../agent/page/tree.js");
const path = require("../../agent/page/path.js");

const BEFORE = trees.fromFolded("a;b;c 3\na;b;d 2\na;c 1\nb;a;c 4\n");
const AFTER = trees.fromFolded("z;y 9\na;b;d 20\nb;a;c 1\na;b;e;f 2\na;b;c 1\n");

test("every node finds itself", () => {
	for (let i = 0; i < BEFORE.n; i++)
		assert.strictEqual(path.find(BEFORE, path.key(BEFORE, i)), i);
});

test("a node finds its place in another tree", () => {
	const at = trees.find(BEFORE, ["a", "b", "d"]);
	const found = path.find(AFTER, path.key(BEFORE, at));
	assert.deepStrictEqual(trees.path(AFTER, found), ["a", "b", "d"]);
});

test("what is not there is not found", () => {
	assert.strictEqual(path.find(AFTER, path.key(BEFORE, trees.find(BEFORE, ["a", "c"]))), -1);
	for (const text of ["x", "1.", ".", "1.zzzzzz", "99.1"])
		assert.strictEqual(path.find(AFTER, text), -1);
	assert.strictEqual(path.find(AFTER, ""), 0);
});

test("keys are what the address takes", () => {
	const { FIELDS } = require("../../agent/page/state.js");
	for (let i = 0; i < BEFORE.n; i++)
		assert.ok(FIELDS.zoom[1](path.key(BEFORE, i)));
});
