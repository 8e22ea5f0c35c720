/* SPDX-License-Identifier: Apache-2.0 */
"use strict";

const test = require("node:test");
const assert = require("node:assert");
const { format } = require("./standalone.js").xagent;

function rows(name, fn, table) {
	for (const [args, expected] of table)
		test(`${name}(${args.map((arg) => JSON.stringify(arg)).join(", ")})`, () => assert.deepStrictEqual(fn(...args), expected));
}

rows("value", format.value, [
	[[0, "nanoseconds"], "0 s"],
	[[1, "nanoseconds"], "1 ns"],
	[[999, "nanoseconds"], "999 ns"],
	[[1234, "nanoseconds"], "1.23 µs"],
	[[12345678, "nanoseconds"], "12.3 ms"],
	[[1.23e9, "nanoseconds"], "1.23 s"],
	[[119e9, "nanoseconds"], "119 s"],
	[[120e9, "nanoseconds"], "2 min"],
	[[3600e9 * 5, "nanoseconds"], "5 h"],
	[[86400e9 * 40, "nanoseconds"], "40 d"],
	[[-1.5e6, "nanoseconds"], "-1.5 ms"],
	[[1500, "microseconds"], "1.5 ms"],
	[[2, "seconds"], "2 s"],
	[["1230000000", "nanoseconds"], "1.23 s"],
	[[0, "bytes"], "0 B"],
	[[1023, "bytes"], "1,023 B"],
	[[123456, "bytes"], "121 KiB"],
	[[64 * 2 ** 20, "bytes"], "64 MiB"],
	[[1, "samples"], "1 sample"],
	[[1234567, "samples"], "1,234,567 samples"],
	[[7, ""], "7"],
	[[7, undefined], "7"],
	[[7, "count"], "7"],
	[[0.123456, ""], "0.123"],
	[[7, "constructor"], "7 constructor"],
	[[7, "wall seconds"], "7 wall seconds"],
	[[NaN, "samples"], "– samples"],
]);

rows("share", format.share, [
	[[1, 3], "33.3%"],
	[[1, 1], "100%"],
	[[9996, 10000], "100%"],
	[[9994, 10000], "99.9%"],
	[[0, 5], "0%"],
	[[5, 0], "0%"],
	[[1, 400], "0.25%"],
	[[1, 1e9], "<0.01%"],
	[[-1, 1e9], ">-0.01%"],
	[[NaN, 1], "0%"],
]);

rows("points", format.points, [
	[[0.1, 0.132], "+3.2 pp"],
	[[0.5, 0.1], "−40.0 pp"],
	[[0.1, 0.1], "±0 pp"],
	[[0, 0.0012], "+0.12 pp"],
]);

rows("shorter", format.shorter, [
	[["main"], ["main"]],
	[["ns::Class<a::b>::method(c::d)"], ["ns::Class<a::b>::method(c::d)", "Class<a::b>::method(c::d)", "method(c::d)"]],
	[["std::sort"], ["std::sort", "sort"]],
	[["github.com/a/b.(*T).Get"], ["github.com/a/b.(*T).Get", "b.(*T).Get"]],
	[["libc.so.6+0x1234"], ["libc.so.6+0x1234"]],
	[["operator<"], ["operator<"]],
	[["::"], ["::"]],
	[["/"], ["/"]],
	[[""], [""]],
]);

rows("frame", format.frame, [
	[["main"], { object: "", note: "" }],
	[["libz.so.1.2.13+0x4970"], { object: "libz.so.1.2.13", note: "no name is known for this code" }],
	[["[jit]"], { object: "", note: "code made at run time" }],
	[["[truncated: no unwind information]"], { object: "", note: "the stack could not be followed further" }],
]);
