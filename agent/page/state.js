/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that decides what is on the screen, and its form in the address: #type=…&q=…&from=now-1h. Pure.
 *
 * What is as it is without a word is left out, so that addresses stay short and old ones follow better defaults.
 */
(function (xagent) {
	"use strict";

	const CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";

	/* Texts that come from an address end somewhere. */
	const MAX_TEXT = 8192;

	const TEXT = () => true;
	const oneOf = (...words) => (value) => words.includes(value);
	const isType = (value) => value === "" || value.split(":").length >= 5;

	/* name: [default, what is allowed] */
	const FIELDS = {
		view: ["profile", oneOf("profile", "compare", "status")],
		type: ["", isType],
		q: ["", TEXT],
		from: ["now-15m", TEXT],
		to: ["now", TEXT],
		live: ["on", oneOf("on", "off")],
		by: ["service_name", TEXT],
		chart: ["bars", oneOf("bars", "lines")],
		layout: ["icicle", oneOf("icicle", "flame")],
		show: ["both", oneOf("both", "table", "flame")],
		find: ["", TEXT],
		fn: ["", TEXT],
		/* Nothing but what runs below this function. */
		only: ["", TEXT],
		sandwich: ["off", oneOf("on", "off")],
		zoom: ["", (value) => /^[0-9a-z.]{0,32}$/.test(value)],
		sort: ["-self", oneOf("name", "-name", "self", "-self", "total", "-total")],
		dsort: ["-size", oneOf("name", "-name", "left", "-left", "right", "-right", "diff", "-diff", "total", "-total", "-size")],
		/* Compared are two queries, each of its own time. Empty: as the query of the page; halves of its time. */
		lq: ["", TEXT],
		lf: ["", TEXT],
		lt: ["", TEXT],
		rq: ["", TEXT],
		rf: ["", TEXT],
		rt: ["", TEXT],
		process: ["", TEXT],
	};

	function defaults() {
		const state = {};
		for (const name of Object.keys(FIELDS))
			state[name] = FIELDS[name][0];
		return state;
	}

	function parse(hash) {
		const state = defaults();
		for (const [name, value] of new URLSearchParams(hash.replace(/^#/, "")))
			if (Object.hasOwn(FIELDS, name) && value.length <= MAX_TEXT && FIELDS[name][1](value))
				state[name] = value;
		return state;
	}

	function format(state) {
		const out = new URLSearchParams();
		for (const name of Object.keys(FIELDS))
			if (state[name] !== FIELDS[name][0])
				out.set(name, state[name]);
		const text = out.toString();
		return text === "" ? "#" : "#" + text;
	}

	/* The names of what is different. */
	function changed(a, b) {
		return Object.keys(FIELDS).filter((name) => a[name] !== b[name]);
	}

	xagent.state = { CPU, FIELDS, defaults, parse, format, changed };
	if (typeof module !== "undefined")
		module.exports = xagent.state;
})((globalThis.xagent = globalThis.xagent || {}));
