/* SPDX-License-Identifier: Apache-2.0 */
/* The state in the address: there and back, and what strangers write into it. */
"use strict";
const test = require("node:test");
const assert = require("node:assert");
const state = require("../../agent/page/state.js");

/* Of each field something else than its default. */
const OTHER = {
	view: "compare", type: "memory:alloc_space:bytes:space:bytes", q: '{service_name="a&b=#?+ %\\"é\u{1F600}<i>"}', from: "now-1h",
	to: "1795343235000", live: "off", by: "host", chart: "lines", layout: "flame", show: "table", find: "/ma+in/ &", fn: "f(int&, char*)",
	only: "std::vector<T>::push_back", sandwich: "on", zoom: "12.ab3z", sort: "name", dsort: "-diff", lq: "{}", lf: "1", lt: "2",
	rq: '{a="b"}', rf: "3", rt: "4", process: "postgres: writer",
};

test("there and back", () => {
	const all = { ...state.defaults(), ...OTHER };
	assert.deepStrictEqual(Object.keys(OTHER).sort(), Object.keys(state.FIELDS).sort());
	assert.deepStrictEqual(state.parse(state.format(all)), all);
});

for (const name of Object.keys(OTHER))
	test(`${name} alone`, () => {
		const one = { ...state.defaults(), [name]: OTHER[name] };
		assert.deepStrictEqual(state.parse(state.format(one)), one);
		assert.deepStrictEqual(state.changed(state.defaults(), one), [name]);
	});

test("what is as always is not said", () => assert.strictEqual(state.format(state.defaults()), "#"));

for (const hash of ["", "#", "#main", "#view=evil", "#layout=", "#__proto__=1", "#constructor=x", "#type=nonsense", "#zoom=../..", "#%zz=%",
	"#q=" + "a".repeat(9000)])
	test(`nonsense is the default: ${hash.slice(0, 20)}`, () => assert.deepStrictEqual(state.parse(hash), state.defaults()));
