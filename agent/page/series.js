/* SPDX-License-Identifier: Apache-2.0 */
/* From the answers of SelectSeries to what a timeline draws, and the words for its values. Pure. */
(function (xagent) {
	"use strict";

	const NS_PER_S = 1e9;
	/* As many as there are colours; what is smaller becomes one. */
	const MAX_GROUPS = 9;

	function labelText(series, name) {
		const label = (series.labels || []).find((l) => l.name === name);
		return label ? label.value : "";
	}

	/* Bars of one step each; the one at `time` is what lies in (time - step, time]. */
	function grid(start, end, step) {
		const first = Math.floor(start / step) * step + step;
		const n = Math.max(1, Math.ceil((end - first) / step) + 1);
		return { first, step, n };
	}

	/* What to ask, so that the bars stay where they are when time goes on. */
	function question(start, end) {
		const step = xagent.time.step(end - start);
		const g = grid(start, end, step);
		return { grid: g, start: g.first - step, end: g.first + (g.n - 1) * step, step: step / 1000 };
	}

	function fill(g, points) {
		const values = new Float64Array(g.n);
		for (const p of points || []) {
			const i = Math.round((Number(p.timestamp) - g.first) / g.step);
			if (i >= 0 && i < g.n)
				values[i] += Number(p.value) || 0;
		}
		return values;
	}

	function sum(values) {
		let all = 0;
		for (const v of values)
			all += v;
		return all;
	}

	function merge(groups, g) {
		const values = new Float64Array(g.n);
		for (const group of groups)
			group.values.forEach((v, i) => { values[i] += v; });
		return { name: groups.length + " others", rest: true, values, total: sum(values) };
	}

	/* {grid, groups: [{name, values, total, rest}] largest first, total} */
	function build(answer, by, g) {
		let groups = (answer.series || []).map((s) => {
			const values = fill(g, s.points);
			return { name: by ? labelText(s, by) : "", rest: false, values, total: sum(values) };
		});
		groups = groups.filter((group) => group.total > 0).sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1));
		const all = groups.length;
		if (all > MAX_GROUPS + 1)
			groups = [...groups.slice(0, MAX_GROUPS), merge(groups.slice(MAX_GROUPS), g)];
		return { grid: g, by, groups, count: all, total: groups.reduce((n, group) => n + group.total, 0) };
	}

	/* On average since the first value: what was before an agent ran is not idle time. */
	function average(model, unit) {
		const { n, step } = model.grid;
		let first = 0;
		while (first < n - 1 && model.groups.every((group) => group.values[first] === 0))
			first++;
		return rate(model.total, unit, (n - first) * step);
	}

	/* Totals by one label: [{name, total}], largest first. */
	function totals(answer, by) {
		const list = (answer.series || []).map((s) => ({
			name: labelText(s, by),
			total: (s.points || []).reduce((n, p) => n + (Number(p.value) || 0), 0),
		}));
		return list.sort((a, b) => b.total - a.total);
	}

	/* "name:type:unit:period_type:period_unit" */
	function unitOf(type) {
		return type.split(":")[2] || "count";
	}

	const KNOWN = {
		"process_cpu:cpu:nanoseconds": "CPU time",
		"process_cpu:samples:count": "CPU samples",
		"offcpu:offcpu:nanoseconds": "Off-CPU time",
		"offcpu:waits:count": "Waits off CPU",
		"wall:wall:nanoseconds": "Wall-clock time",
		"memory:alloc_space:bytes": "Allocated bytes",
		"memory:alloc_objects:count": "Allocated objects",
		"memory:inuse_space:bytes": "Live heap",
		"memory:inuse_objects:count": "Live objects",
		"block:delay:nanoseconds": "Blocked time",
		"block:contentions:count": "Blocking events",
		"mutex:delay:nanoseconds": "Lock wait",
		"mutex:contentions:count": "Lock waits",
		"page_faults:faults:count": "Page faults",
		"run_queue:delay:nanoseconds": "Waiting for a CPU",
		"run_queue:waits:count": "Waits for a CPU",
		"syscalls:duration:nanoseconds": "System call time",
		"syscalls:calls:count": "System calls",
		"tcp:events:count": "TCP connections",
		"block_io:latency:nanoseconds": "Block I/O time",
		"block_io:bytes:bytes": "Block I/O bytes",
		"block_io:ios:count": "Block I/O",
		"rss:growth:bytes": "Growth of resident memory",
	};

	function typeTitle(type) {
		const parts = type.split(":");
		const known = KNOWN[parts.slice(0, 3).join(":")];
		return known || parts[0] + " · " + parts[1] + (parts[2] ? " (" + parts[2] + ")" : "");
	}

	function digits(n) {
		if (n === 0 || n >= 100)
			return String(Math.round(n));
		return n >= 10 ? n.toFixed(1) : n >= 0.01 ? n.toFixed(2) : n.toPrecision(1);
	}

	/* Who spends the time of a type: cores that run, else threads that wait, or do either. Of other values their unit. */
	function rateUnit(type) {
		if (unitOf(type) !== "nanoseconds")
			return unitOf(type);
		return type.startsWith("process_cpu:") ? "core" : "thread";
	}

	/* A value of one bar as people say it: a second of a second is one core, or thread. */
	function rate(value, unit, stepMs) {
		const perSecond = value / (stepMs / 1000);
		if (unit === "core" || unit === "thread")
			return digits(perSecond / NS_PER_S) + " " + unit + (Math.abs(perSecond / NS_PER_S - 1) < 0.005 ? "" : "s");
		return xagent.format.value(perSecond, unit) + "/s";
	}

	xagent.series = { MAX_GROUPS, question, build, totals, unitOf, rateUnit, typeTitle, rate, average };
	if (typeof module !== "undefined")
		module.exports = xagent.series;
})((globalThis.xagent = globalThis.xagent || {}));
