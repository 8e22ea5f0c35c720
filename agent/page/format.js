/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values and names as people read them: xagent.format.
 *
 * Three digits that count, a unit that fits, and the same text everywhere: tooltip, table, picture, what is read aloud. Pure.
 */
(function () {
	"use strict";

	/* Each step: from how many of the base unit on, how many make one, its name. Largest first. */
	const STEPS = {
		nanoseconds: [
			[86400e9, 86400e9, "d"],
			[3600e9, 3600e9, "h"],
			[120e9, 60e9, "min"],
			[1e9, 1e9, "s"],
			[1e6, 1e6, "ms"],
			[1e3, 1e3, "µs"],
			[1, 1, "ns"],
		],
		bytes: [
			[2 ** 40, 2 ** 40, "TiB"],
			[2 ** 30, 2 ** 30, "GiB"],
			[2 ** 20, 2 ** 20, "MiB"],
			[2 ** 10, 2 ** 10, "KiB"],
			[0, 1, "B"],
		],
	};
	const TIME_IN_NS = { nanoseconds: 1, microseconds: 1e3, milliseconds: 1e6, seconds: 1e9 };
	const COUNTED = { samples: "sample", objects: "object", goroutines: "goroutine", events: "event" };

	/** Three digits that count, thousands apart: 1,234 and 12.3 and 0.00123. */
	function number(n) {
		const size = Math.abs(n);
		if (!Number.isFinite(n))
			return "–";
		if (size >= 1000 || Number.isInteger(n))
			return Math.round(n).toLocaleString("en-US");
		return String(Number(n.toPrecision(3)));
	}

	function stepped(n, steps) {
		const size = Math.abs(n);
		for (const [from, one, name] of steps)
			if (size >= from)
				return number(n / one) + " " + name;
		return number(n) + " " + steps[steps.length - 1][2];
	}

	/** A value with its unit: value(1.23e9, "nanoseconds") is "1.23 s". */
	function value(n, unit) {
		n = Number(n);
		if (Object.hasOwn(TIME_IN_NS, unit))
			return n === 0 ? "0 s" : stepped(n * TIME_IN_NS[unit], STEPS.nanoseconds);
		if (unit === "bytes")
			return stepped(n, STEPS.bytes);
		if (!unit || unit === "count" || unit === "short")
			return number(n);
		return number(n) + " " + (Math.abs(n) === 1 && Object.hasOwn(COUNTED, unit) ? COUNTED[unit] : unit);
	}

	/** part of whole: "12.3%", "0.04%", "<0.01%"; of nothing "0%". */
	function share(part, whole) {
		const percent = whole ? (100 * part) / whole : 0;
		const size = Math.abs(percent);
		if (!Number.isFinite(percent) || size === 0)
			return "0%";
		if (size < 0.01)
			return percent < 0 ? ">-0.01%" : "<0.01%";
		return (size < 1 ? percent.toFixed(2) : size < 99.95 ? percent.toFixed(1) : percent.toFixed(0)) + "%";
	}

	/** How a share changed, in percentage points: "+3.2 pp". */
	function points(before, after) {
		const change = 100 * (after - before);
		if (Math.abs(change) < 0.005)
			return "±0 pp";
		return (change > 0 ? "+" : "−") + Math.abs(change).toFixed(Math.abs(change) < 1 ? 2 : 1) + " pp";
	}

	/** All of a tree: "4.2 min"; of a comparison "4.2 min before, 5 min after". */
	function whole(tree) {
		if (!tree.totalRight)
			return value(tree.sum, tree.unit);
		return `${value(tree.sum, tree.unit)} before, ${value(tree.sumRight, tree.unit)} after`;
	}

	/** What a frame's name tells beside the function: {object, note}; both may be empty. */
	function frame(name) {
		const unnamed = /^(.+)\+0x[0-9a-f]+$/.exec(name);
		if (unnamed)
			return { object: unnamed[1], note: "no name is known for this code" };
		if (name.startsWith("[truncated"))
			return { object: "", note: "the stack could not be followed further" };
		if (name === "[jit]")
			return { object: "", note: "code made at run time" };
		if (name === "[kernel]")
			return { object: "", note: "the kernel hides its names" };
		return { object: "", note: "" };
	}

	/* Template arguments and parameters hold separators of their own: only those outside of brackets count. */
	function lastSeparator(name, separator, from) {
		let depth = 0;
		for (let i = from; i > 0; i--) {
			const c = name[i];
			if (c === ")" || c === ">" || c === "]")
				depth++;
			else if (c === "(" || c === "<" || c === "[")
				depth--;
			else if (depth <= 0 && name.startsWith(separator, i))
				return i;
		}
		return -1;
	}

	/** Shorter and shorter texts for a name, the whole first: without the import path, without the classes around it. */
	function shorter(name) {
		const texts = [name];
		const slash = name.lastIndexOf("/");
		let rest = name;
		if (slash > 0 && slash < name.length - 1 && !name.includes(" "))
			texts.push((rest = name.slice(slash + 1)));
		const inner = lastSeparator(rest, "::", rest.length - 1);
		const outer = inner > 0 ? lastSeparator(rest, "::", inner - 1) : -1;
		for (const at of [outer, inner])
			if (at > 0)
				texts.push(rest.slice(at + 2));
		return texts;
	}

	const api = { value, share, points, whole, number, frame, shorter };
	globalThis.xagent = globalThis.xagent || {};
	globalThis.xagent.format = api;
	if (typeof module !== "undefined")
		module.exports = api;
})();
