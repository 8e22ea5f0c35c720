/* SPDX-License-Identifier: Apache-2.0 */
/* Times as people and links write them: "now-15m", "10:24", "2026-11-22 10:24", milliseconds since 1970. Pure. */
(function (xagent) {
	"use strict";

	const SECOND = 1000;
	const MINUTE = 60 * SECOND;
	const HOUR = 60 * MINUTE;
	const DAY = 24 * HOUR;
	const UNITS = { s: SECOND, m: MINUTE, h: HOUR, d: DAY };

	/* No bar is narrower than the interval in which agents push (pyroscope.ebpf's collect_interval): else every other one is empty. */
	const STEPS_S = [15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 86400];
	const MAX_BARS = 130;
	const AXIS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800];

	/* "1h30m" in ms, NaN when it is none. */
	function duration(text) {
		if (!/^(\d+(\.\d+)?[smhd])+$/.test(text))
			return NaN;
		let sum = 0;
		for (const part of text.match(/[\d.]+[smhd]/g))
			sum += Number(part.slice(0, -1)) * UNITS[part.slice(-1)];
		return sum;
	}

	/* "10:24" is today's, or yesterday's when that is still to come. */
	function clockTime(text, now) {
		const m = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(text);
		if (!m || Number(m[1]) > 23 || Number(m[2]) > 59 || Number(m[3] || 0) > 59)
			return NaN;
		const day = new Date(now);
		day.setHours(Number(m[1]), Number(m[2]), Number(m[3] || 0), 0);
		if (day.getTime() > now)
			day.setDate(day.getDate() - 1);
		return day.getTime();
	}

	function calendarTime(text) {
		const m = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{1,2}:\d{2}(?::\d{2})?))?$/.exec(text);
		if (!m)
			return /^\d{4}-\d{2}-\d{2}T.*Z$/.test(text) ? Date.parse(text) : NaN;
		return Date.parse(m[1] + "T" + (m[2] || "00:00").padStart(5, "0"));
	}

	/* Milliseconds, NaN for what is no time. */
	function parse(text, now) {
		text = String(text).trim();
		if (text === "now")
			return now;
		if (/^\d{10,14}$/.test(text))
			return text.length < 12 ? Number(text) * SECOND : Number(text);
		if (/^now\s*-/.test(text))
			return now - duration(text.replace(/^now\s*-\s*/, ""));
		const clock = clockTime(text, now);
		return Number.isNaN(clock) ? calendarTime(text) : clock;
	}

	/* {start, end} in ms, null for what is no range. */
	function resolve(range, now) {
		const start = parse(range.from, now);
		const end = parse(range.to, now);
		return start < end ? { start: Math.round(start), end: Math.round(end) } : null;
	}

	/* Whether the range moves on with the clock. */
	function isLive(range) {
		return range.to === "now";
	}

	function step(span) {
		for (const s of STEPS_S)
			if (span / (s * SECOND) <= MAX_BARS)
				return s * SECOND;
		return STEPS_S[STEPS_S.length - 1] * SECOND;
	}

	function two(n) {
		return String(n).padStart(2, "0");
	}

	function clock(ms, seconds) {
		const d = new Date(ms);
		return two(d.getHours()) + ":" + two(d.getMinutes()) + (seconds ? ":" + two(d.getSeconds()) : "");
	}

	function date(ms) {
		const d = new Date(ms);
		return d.getFullYear() + "-" + two(d.getMonth() + 1) + "-" + two(d.getDate());
	}

	function full(ms) {
		return date(ms) + " " + clock(ms, true);
	}

	const WORDS = { s: "second", m: "minute", h: "hour", d: "day" };

	function count(n, word) {
		return n + " " + word + (n === 1 ? "" : "s");
	}

	/* "15 minutes", for people. */
	function words(ms) {
		for (const unit of ["d", "h", "m"])
			if (ms >= UNITS[unit] && ms % UNITS[unit] === 0)
				return count(ms / UNITS[unit], WORDS[unit]);
		if (ms >= 2 * HOUR)
			return count(Math.round(ms / HOUR * 10) / 10, "hour");
		return ms >= 2 * MINUTE ? count(Math.round(ms / MINUTE), "minute") : count(Math.round(ms / SECOND), "second");
	}

	function between(start, end, now) {
		const seconds = end - start < HOUR;
		const other = date(start) !== date(end);
		const first = (other || date(start) !== date(now) ? date(start) + " " : "") + clock(start, seconds);
		return first + " – " + (other ? date(end) + " " : "") + clock(end, seconds);
	}

	function label(range, now) {
		const m = /^now-(\d+[smhd])$/.exec(range.from);
		if (m && range.to === "now")
			return "Last " + words(duration(m[1])).replace(/^1 /, "");
		const at = resolve(range, now);
		return at ? between(at.start, at.end, now) : range.from + " – " + range.to;
	}

	/* At most `max` round times within, by the clock on the wall. */
	function ticks(start, end, max) {
		const size = AXIS_S.find((s) => (end - start) / (s * SECOND) <= max) || AXIS_S[AXIS_S.length - 1];
		const zone = new Date(start).getTimezoneOffset() * MINUTE;
		const list = [];
		let at = Math.ceil((start - zone) / (size * SECOND)) * size * SECOND + zone;
		for (; at <= end; at += size * SECOND)
			list.push({ ms: at, text: size >= 86400 ? date(at).slice(5) : clock(at, size < 60) });
		return list;
	}

	xagent.time = { duration, parse, resolve, isLive, step, ticks, label, between, words, clock, date, full };
	if (typeof module !== "undefined")
		module.exports = xagent.time;
})((globalThis.xagent = globalThis.xagent || {}));
