/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Label selectors, {a="b", c=~"d.*"}: text to matchers and back. Pure.
 *
 * A matcher is {name, op, value}. What this cannot read is left to the server, which knows all of the language and says what is wrong.
 */
(function (xagent) {
	"use strict";

	const OPERATORS = ["=", "!=", "=~", "!~"];
	const SERVICE = "service_name";
	const ESCAPES = { n: "\n", t: "\t", r: "\r", a: "\x07", b: "\b", f: "\f", v: "\v" };

	function quote(value) {
		return '"' + value.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n") + '"';
	}

	/* Of a text, the expression that matches it and nothing else. */
	function regexQuote(text) {
		return text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
	}

	function formatMatcher(m) {
		return m.name + m.op + quote(m.value);
	}

	function format(matchers) {
		return "{" + matchers.map(formatMatcher).join(", ") + "}";
	}

	/* The matcher for any of these values. */
	function anyOf(name, values) {
		if (values.length === 1)
			return { name, op: "=", value: values[0] };
		return { name, op: "=~", value: values.map(regexQuote).join("|") };
	}

	/* string = '"' … '"' | "'" … "'" | "`" … "`" */
	function readString(text, at) {
		const mark = text[at];
		let value = "";
		if (mark !== '"' && mark !== "'" && mark !== "`")
			return null;
		for (let i = at + 1; i < text.length; i++) {
			if (text[i] === mark)
				return { value, end: i + 1 };
			if (text[i] !== "\\" || mark === "`") {
				value += text[i];
				continue;
			}
			const code = /^\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))/.exec(text.slice(i, i + 6));
			if (code) {
				value += String.fromCharCode(parseInt(code[1] || code[2], 16));
				i += code[0].length - 1;
			} else {
				i++;
				value += Object.hasOwn(ESCAPES, text[i]) ? ESCAPES[text[i]] : text[i];
			}
		}
		return null;
	}

	/* matcher = name ("=" | "!=" | "=~" | "!~") string */
	function readMatcher(text, at) {
		const head = /^\s*([a-zA-Z_][a-zA-Z0-9_.]*)\s*(=~|!~|!=|=)\s*/.exec(text.slice(at));
		const string = head && readString(text, at + head[0].length);
		if (!string)
			return null;
		return { matcher: { name: head[1], op: head[2], value: string.value }, end: string.end };
	}

	/* selector = "{" [matcher {"," matcher} [","]] "}". Its matchers, or null. */
	function parse(text) {
		const trimmed = text.trim();
		const matchers = [];
		if (trimmed === "")
			return [];
		if (trimmed[0] !== "{" || trimmed[trimmed.length - 1] !== "}")
			return null;
		const body = trimmed.slice(1, -1);
		let at = 0;
		while (/\S/.test(body.slice(at))) {
			const one = readMatcher(body, at);
			const after = one && /^\s*(,|$)/.exec(body.slice(one.end));
			if (!after)
				return null;
			matchers.push(one.matcher);
			at = one.end + after[0].length;
		}
		return matchers;
	}

	/* The one service that is chosen, "" for all or several. */
	function service(text) {
		const found = (parse(text) || []).filter((m) => m.name === SERVICE);
		return found.length === 1 && found[0].op === "=" ? found[0].value : "";
	}

	/* The text with nothing said of `name` but `matcher`; null takes it out. */
	function replace(text, name, matcher) {
		const rest = (parse(text) || []).filter((m) => m.name !== name);
		const all = matcher ? [matcher, ...rest] : rest;
		return all.length ? format(all) : "";
	}

	function withService(text, value) {
		return replace(text, SERVICE, value === "" ? null : { name: SERVICE, op: "=", value });
	}

	/* The text and one matcher more; what is there already stays once. */
	function add(text, matcher) {
		const all = parse(text) || [];
		if (!all.some((m) => formatMatcher(m) === formatMatcher(matcher)))
			all.push(matcher);
		return format(all);
	}

	/* For people: "postgres, host = db1", "all services". */
	function describe(text) {
		const matchers = parse(text);
		if (!matchers)
			return text;
		const name = service(text);
		const rest = matchers.filter((m) => m.name !== SERVICE || name === "");
		return [name || "all services", ...rest.map((m) => m.name + " " + m.op + " " + m.value)].join(", ");
	}

	/* What the server is asked with. */
	function forServer(text) {
		return text.trim() === "" ? "{}" : text;
	}

	xagent.selector = {
		OPERATORS, SERVICE, quote, regexQuote, format, formatMatcher, anyOf, parse, service, withService, replace, add, describe, forServer,
	};
	if (typeof module !== "undefined")
		module.exports = xagent.selector;
})((globalThis.xagent = globalThis.xagent || {}));
