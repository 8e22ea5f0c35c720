/* SPDX-License-Identifier: Apache-2.0 */
/* The request in protobuf, against bytes made by hand after https://protobuf.dev/programming-guides/encoding/. */
"use strict";
const test = require("node:test");
const assert = require("node:assert");
const proto = require("../../agent/page/proto.js");

const hex = (request) => Buffer.from(proto.selectMergeProfile(request)).toString("hex");

test("each field by its number", () => {
	assert.strictEqual(hex({ profileTypeID: "a:b", labelSelector: "{}", start: 1, end: 300, maxNodes: 5 }),
		"0a03613a62" + "12027b7d" + "1801" + "20ac02" + "2805");
});

test("times of today do not fit into 32 bits", () => {
	/* 1795343235000 = 0x1a202ff37b8, in groups of seven bits from the low end */
	assert.strictEqual(hex({ profileTypeID: "", labelSelector: "", start: 1795343235000, end: 0 }), "18" + groups(1795343235000n));
});

function groups(n) {
	const bytes = [];
	for (; n > 127n; n >>= 7n)
		bytes.push(Number(n & 127n) | 128);
	bytes.push(Number(n));
	return Buffer.from(bytes).toString("hex");
}

test("letters beyond ASCII count by bytes", () => {
	assert.strictEqual(hex({ profileTypeID: "", labelSelector: "é", start: 0, end: 0 }), "1202c3a9");
	const long = "x".repeat(200);
	assert.strictEqual(hex({ profileTypeID: "", labelSelector: long, start: 0, end: 0 }), "12c801" + "78".repeat(200));
});
