/* SPDX-License-Identifier: Apache-2.0 */
/* The read API, and what can go wrong with it in five words: gone, auth, nostore, query, server. */
(function (xagent) {
	"use strict";

	const QUERIER = "querier.v1.QuerierService/";

	/* About as many nodes as a flame graph shows with a smooth zoom; what is smaller comes as "other". A whole host has so many in an hour. */
	const MAX_NODES = 65536;

	/* Longer than any answer should take; then somebody must be told. */
	const TIMEOUT_MS = 30000;

	/* pyroscope.ebpf's collect_interval unless it is told another. */
	const INTERVAL_S = 15;

	class Problem extends Error {
		constructor(kind, message) {
			super(message);
			this.kind = kind;
		}
	}

	/* The message of a Connect error. One server puts the JSON of an error into the message of another. */
	function messageOf(text) {
		for (let depth = 0; depth < 3; depth++) {
			try {
				const inner = JSON.parse(text);
				if (!inner || typeof inner.message !== "string")
					break;
				text = inner.message;
			} catch {
				break;
			}
		}
		return text.trim().slice(0, 500);
	}

	async function problemOf(response) {
		const text = messageOf(await response.text());
		if (response.status === 401 || response.status === 403)
			return new Problem("auth", text || "not allowed");
		if (response.status === 404 || response.status === 501)
			return new Problem("nostore", text);
		if (response.status === 400 || response.status === 422)
			return new Problem("query", text);
		if (response.status === 502)
			return new Problem("gone", text);
		return new Problem("server", "status " + response.status + (text ? ": " + text : ""));
	}

	async function ask(path, options) {
		const limit = AbortSignal.timeout(TIMEOUT_MS);
		const signal = options.signal ? AbortSignal.any([options.signal, limit]) : limit;
		let response;
		try {
			response = await fetch(path, { ...options, signal, cache: "no-store", credentials: "same-origin" });
		} catch (error) {
			if (options.signal && options.signal.aborted)
				throw new Problem("aborted", "");
			throw new Problem("gone", limit.aborted ? "no answer in " + TIMEOUT_MS / 1000 + " s" : String(error.message));
		}
		if (!response.ok)
			throw await problemOf(response);
		return response;
	}

	async function read(response, signal) {
		try {
			return await response.json();
		} catch (error) {
			if (signal && signal.aborted)
				throw new Problem("aborted", "");
			throw new Problem("server", "the answer is cut or is no JSON");
		}
	}

	async function query(method, body, signal) {
		const response = await ask(QUERIER + method, {
			method: "POST",
			headers: { "Content-Type": "application/json" },
			body: JSON.stringify(body),
			signal,
		});
		return read(response, signal);
	}

	/* what = {type, q, start, end} */
	function selection(what) {
		return {
			profileTypeID: what.type,
			labelSelector: xagent.selector.forServer(what.q),
			start: what.start,
			end: what.end,
		};
	}

	function profileTypes(range, signal) {
		return query("ProfileTypes", { start: range.start, end: range.end }, signal);
	}

	function labelNames(what, signal) {
		return query("LabelNames", { matchers: [xagent.selector.forServer(what.q)], start: what.start, end: what.end }, signal);
	}

	function labelValues(name, what, signal) {
		const matchers = [xagent.selector.forServer(what.q)];
		return query("LabelValues", { name, matchers, start: what.start, end: what.end }, signal);
	}

	/* more = {groupBy, step in seconds} */
	function series(what, more, signal) {
		return query("SelectSeries", { ...selection(what), ...more }, signal);
	}

	function stacktraces(what, signal) {
		return query("SelectMergeStacktraces", { ...selection(what), maxNodes: MAX_NODES }, signal);
	}

	function diff(left, right, signal) {
		const side = (what) => ({ ...selection(what), maxNodes: MAX_NODES });
		return query("Diff", { left: side(left), right: side(right) }, signal);
	}

	async function pprof(what, signal) {
		const response = await ask(QUERIER + "SelectMergeProfile", {
			method: "POST",
			headers: { "Content-Type": "application/proto" },
			body: xagent.proto.selectMergeProfile(selection(what)),
			signal,
		});
		return response.blob();
	}

	async function get(path, signal) {
		return read(await ask(path, { signal }), signal);
	}

	function status(signal) {
		return get("api/v0/web/status", signal);
	}

	/* How often the profiler of a status gives its profiles, in seconds. */
	function collectInterval(status) {
		return status.collect_interval_ms / 1000 || INTERVAL_S;
	}

	/* A number is a pid, all else a part of a name. */
	function process(text, signal) {
		const name = /^\d+$/.test(text) ? "pid" : "name";
		return get("api/v0/web/process?" + new URLSearchParams([[name, text]]), signal);
	}

	xagent.api = {
		MAX_NODES, Problem, profileTypes, labelNames, labelValues, series, stacktraces, diff, pprof, status, collectInterval, process,
	};
})((globalThis.xagent = globalThis.xagent || {}));
