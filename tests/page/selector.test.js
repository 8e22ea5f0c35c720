/* SPDX-License-Identifier: Apache-2.0 */
/* Label selectors: what is built from foreign values means these values and nothing else. */
"use strict";
const test = require("node:test");
const assert = require("node:assert");
const selector = require("../../agent/page/selector.js");

const HOSTILE = ['a"b', "a\\b", "a\\\"b", "a\nb", "{}", '", host="', "`", "'", "<img src=x>", "é \u{1F600}", "", "a,b", "\\"];

for (const value of HOSTILE)
	test(`a value survives: ${JSON.stringify(value)}`, () => {
		const text = selector.withService("", value || "x");
		assert.strictEqual(selector.service(text), value || "x");
		const matchers = [{ name: "host", op: "!=", value }];
		assert.deepStrictEqual(selector.parse(selector.format(matchers)), matchers);
	});

test("an expression of several values matches these alone", () => {
	const values = ["a.b", "c+d", "e|f", "(g)", "h\\i", "[j]", "k{2}", "^l$"];
	const matcher = selector.anyOf("n", values);
	const regex = new RegExp("^(?:" + matcher.value + ")$");
	assert.strictEqual(matcher.op, "=~");
	for (const value of values)
		assert.ok(regex.test(value), value);
	for (const other of ["aXb", "cd", "e", "f", "kk", "l"])
		assert.ok(!regex.test(other), other);
	assert.deepStrictEqual(selector.anyOf("n", ["a.b"]), { name: "n", op: "=", value: "a.b" });
});

const PARSED = [
	["", []],
	["{}", []],
	["{ }", []],
	['{a="b"}', [["a", "=", "b"]]],
	['{ a = "b" , c =~ "d.*", }', [["a", "=", "b"], ["c", "=~", "d.*"]]],
	["{a!='b', c!~`d\\`}", [["a", "!=", "b"], ["c", "!~", "d\\"]]],
	['{a="\\u00e9\\x41\\t"}', [["a", "=", "éA\t"]]],
	['{a=}', null],
	['{a="b}', null],
	['{a="b" c="d"}', null],
	['a="b"', null],
	['{a=="b"}', null],
	['{1a="b"}', null],
	['{a="b"}}', null],
];

for (const [text, expected] of PARSED)
	test(`parse ${text}`, () => {
		const all = expected && expected.map(([name, op, value]) => ({ name, op, value }));
		assert.deepStrictEqual(selector.parse(text), all);
	});

test("a service replaces the one before and leaves the rest", () => {
	const text = selector.withService('{service_name="a", host="h"}', 'b"');
	assert.deepStrictEqual(selector.parse(text), [{ name: "service_name", op: "=", value: 'b"' }, { name: "host", op: "=", value: "h" }]);
	assert.strictEqual(selector.withService('{service_name="a"}', ""), "");
});

test("one service is one that is said to be equal", () => {
	assert.strictEqual(selector.service('{service_name=~"a.*"}'), "");
	assert.strictEqual(selector.service('{service_name="a", service_name="b"}'), "");
	assert.strictEqual(selector.service("{nonsense"), "");
});

test("the same matcher is added once", () => {
	const m = { name: "a", op: "=", value: "b" };
	assert.strictEqual(selector.add(selector.add("", m), m), '{a="b"}');
});

test("in words", () => {
	assert.strictEqual(selector.describe(""), "all services");
	assert.strictEqual(selector.describe('{service_name="a", host!="b"}'), "a, host != b");
	assert.strictEqual(selector.describe('{service_name=~"a"}'), "all services, service_name =~ a");
	assert.strictEqual(selector.forServer(" "), "{}");
});
