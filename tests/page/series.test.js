/* SPDX-License-Identifier: Apache-2.0 */
/* From answers of SelectSeries to bars. */
"use strict";
const test = require("node:test");
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
require("../../agent/page/time.js");
require("../../agent/page/format.js");
const series = require("../../agent/page/series.js");

const STEP = 15000;

function answer(values) {
	return {
		series: Object.entries(values).map(([name, points]) => ({
			labels: [{ name: "service_name", value: name }],
			points: points.map(([timestamp, value]) => ({ timestamp: String(timestamp), value })),
		})),
	};
}

test("bars stay where they are when time goes on", () => {
	const a = series.question(1000000000, 1000300000);
	const b = series.question(1000004999, 1000304999);
	assert.strictEqual(a.grid.first % STEP, 0);
	assert.strictEqual((b.grid.first - a.grid.first) % STEP, 0);
	assert.ok(a.end >= 1000300000 && a.start <= 1000000000);
	assert.strictEqual(a.step, 15);
});

test("each point is in its bar, those outside in none", () => {
	const { grid } = series.question(1000005000, 1000065000);
	const model = series.build(answer({ a: [[grid.first, 5], [grid.first + STEP, 7], [grid.first - STEP, 9], [grid.first + 99 * STEP, 9]] }),
		"service_name", grid);
	assert.deepStrictEqual([...model.groups[0].values].slice(0, 2), [5, 7]);
	assert.strictEqual(model.total, 12);
});

test("the largest come first and the small ones together", () => {
	const { grid } = series.question(1000005000, 1000065000);
	const values = {};
	for (let i = 1; i <= 14; i++)
		values["s" + i] = [[grid.first, i]];
	const model = series.build(answer(values), "service_name", grid);
	assert.strictEqual(model.groups.length, series.MAX_GROUPS + 1);
	assert.strictEqual(model.groups[0].name, "s14");
	assert.ok(model.groups[9].rest);
	assert.strictEqual(model.groups[9].total, 5 + 4 + 3 + 2 + 1);
	assert.strictEqual(model.total, 105);
});

test("an answer without anything is an empty chart", () => {
	const { grid } = series.question(1000005000, 1000065000);
	assert.deepStrictEqual(series.build({}, "service_name", grid).groups, []);
	assert.deepStrictEqual(series.totals({}, "service_name"), []);
	assert.deepStrictEqual(series.totals(answer({ a: [[1, 2], [2, "3"]], b: [[1, 9]] }), "service_name"),
		[{ name: "b", total: 9 }, { name: "a", total: 5 }]);
});

test("values of a bar in words", () => {
	assert.strictEqual(series.rate(30e9, series.rateUnit("process_cpu:cpu:nanoseconds:cpu:nanoseconds"), STEP), "2.00 cores");
	assert.strictEqual(series.rate(15e9, "core", STEP), "1.00 core");
	assert.strictEqual(series.rate(0, "core", STEP), "0 cores");
	assert.strictEqual(series.rate(45e9, series.rateUnit("wall:wall:nanoseconds:wall:nanoseconds"), STEP), "3.00 threads");
	assert.strictEqual(series.rate(15 * 2048, series.rateUnit("memory:alloc_space:bytes:space:bytes"), STEP), "2 KiB/s");
});

test("averages begin with the first value", () => {
	const { grid } = series.question(1000005000, 1000065000);
	const at = grid.first + (grid.n - 2) * STEP;
	const model = series.build(answer({ a: [[at, 30e9]], b: [[at + STEP, 30e9]] }), "service_name", grid);
	assert.ok(grid.n > 3);
	assert.strictEqual(series.average(model, "core"), "2.00 cores");
	assert.strictEqual(series.average(series.build({}, "", grid), "core"), "0 cores");
});

test("types in words", () => {
	assert.strictEqual(series.typeTitle("process_cpu:cpu:nanoseconds:cpu:nanoseconds"), "CPU time");
	assert.strictEqual(series.typeTitle("x:y:z:p:q"), "x · y (z)");
	assert.strictEqual(series.unitOf("x:y:z:p:q"), "z");
});

test("each type of our own events has words", () => {
	const text = fs.readFileSync(path.join(__dirname, "../../bpf/events.h"), "utf8");
	const events = [...text.matchAll(/\bX\([A-Z_]+, "(\w+)", "(\w+)",([^X]*)/g)].map(([, name, profile, rest]) => ({ name, profile, rest }));
	const types = events.flatMap(({ profile, rest }) => [...rest.matchAll(/\bV\("(\w+)", "(\w+)"\)/g)].map(([, type, unit]) => `${profile}:${type}:${unit}`));
	/* A tracepoint is called as its block. */
	const without = types.filter((type) => series.typeTitle(type).includes("·") && !type.startsWith("tracepoint:"));
	assert.ok(events.length >= 11 && types.length >= 16, types.join());
	assert.deepStrictEqual(without, []);
});
