/* SPDX-License-Identifier: Apache-2.0 */
/* Times as people write them. */
"use strict";
process.env.TZ = "UTC";
const test = require("node:test");
const assert = require("node:assert");
const time = require("../../agent/page/time.js");

const NOW = Date.parse("2026-11-22T10:30:00Z");
const MINUTE = 60000;

const TIMES = [
	["now", NOW],
	["now-15m", NOW - 15 * MINUTE],
	["now - 1h30m", NOW - 90 * MINUTE],
	["now-450s", NOW - 450000],
	["10:24", Date.parse("2026-11-22T10:24:00Z")],
	["10:24:30", Date.parse("2026-11-22T10:24:30Z")],
	["23:00", Date.parse("2026-11-21T23:00:00Z")],
	["2026-11-22 9:05", Date.parse("2026-11-22T09:05:00Z")],
	["2026-11-22", Date.parse("2026-11-22T00:00:00Z")],
	["2026-11-22T10:00:00Z", Date.parse("2026-11-22T10:00:00Z")],
	["1795343235000", 1795343235000],
	["1795343235", 1795343235000],
	["", NaN],
	["now-", NaN],
	["now-5", NaN],
	["now+5m", NaN],
	["24:00", NaN],
	["10:60", NaN],
	["yesterday", NaN],
	["-5", NaN],
];

for (const [text, expected] of TIMES)
	test(`parse ${JSON.stringify(text)}`, () => assert.strictEqual(time.parse(text, NOW), expected));

test("a range begins before it ends", () => {
	assert.deepStrictEqual(time.resolve({ from: "now-5m", to: "now" }, NOW), { start: NOW - 5 * MINUTE, end: NOW });
	assert.strictEqual(time.resolve({ from: "now", to: "now-5m" }, NOW), null);
	assert.strictEqual(time.resolve({ from: "now", to: "now" }, NOW), null);
	assert.strictEqual(time.resolve({ from: "x", to: "now" }, NOW), null);
});

test("only a range that ends now is live", () => {
	assert.ok(time.isLive({ from: "now-5m", to: "now" }));
	assert.ok(!time.isLive({ from: "now-5m", to: "now-1m" }));
	assert.ok(!time.isLive({ from: "1795343235000", to: "1795343245000" }));
});

test("steps are never shorter than the interval of agents, nor too many", () => {
	assert.strictEqual(time.step(5 * MINUTE), 15000);
	assert.strictEqual(time.step(6 * 60 * MINUTE), 300000);
	for (const span of [1, 60, 360, 1440, 10080])
		assert.ok(span * MINUTE / time.step(span * MINUTE) <= 130);
});

test("labels", () => {
	assert.strictEqual(time.label({ from: "now-15m", to: "now" }, NOW), "Last 15 minutes");
	assert.strictEqual(time.label({ from: "now-1h", to: "now" }, NOW), "Last hour");
	assert.strictEqual(time.label({ from: String(NOW - 10 * MINUTE), to: String(NOW - 5 * MINUTE) }, NOW), "10:20:00 – 10:25:00");
	assert.strictEqual(time.label({ from: "x", to: "now" }, NOW), "x – now");
});

test("ticks are round and within", () => {
	const ticks = time.ticks(NOW - 14.5 * MINUTE, NOW, 8);
	assert.ok(ticks.length > 3 && ticks.length <= 8);
	for (const tick of ticks)
		assert.ok(tick.ms >= NOW - 14.5 * MINUTE && tick.ms <= NOW && tick.ms % MINUTE === 0);
	assert.match(ticks[0].text, /^\d\d:\d\d$/);
});
