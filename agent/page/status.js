/* SPDX-License-Identifier: Apache-2.0 */
/* How the agent is: components, what became of every tick, the store, who is profiled, and what cannot be seen. */
(function (xagent) {
	"use strict";

	const { el } = xagent.dom;
	/* More would be a list nobody reads; typing finds the others. */
	const MAX_TARGETS = 200;

	function panel(id, title, ...content) {
		return el("section", { class: "panel", id, "aria-label": title }, el("div", { class: "panel-head" }, el("h2", { text: title })), ...content);
	}

	function column(...panels) {
		return el("div", { class: "column" }, panels);
	}

	function number(n) {
		return Number(n || 0).toLocaleString("en-US");
	}

	function words(name) {
		return name.replace(/_/g, " ");
	}

	/* list: [{name, value, text}]; a bar of all parts and a row for each that there is */
	function parts(id, list) {
		const items = list.filter((item) => item.value > 0);
		const none = list.filter((item) => !(item.value > 0)).map((item) => words(item.name));
		const all = items.reduce((n, item) => n + item.value, 0);
		const colour = (i) => "var(--series-" + (i < xagent.series.MAX_GROUPS ? i + 1 : "rest") + ")";
		const bar = el("div", { class: "parts", "aria-hidden": "true" }, items.map((item, i) => el("span", {
			vars: { share: all ? item.value / all : 0, colour: colour(i) }, title: item.name + " " + xagent.format.share(item.value, all) })));
		const rows = items.map((item, i) => el("tr", {},
			el("td", { class: "name" }, el("span", { class: "swatch", vars: { colour: colour(i) } }), " ", words(item.name)),
			el("td", { class: "number", text: number(item.value) }), el("td", { class: "number", text: xagent.format.share(item.value, all) }),
			el("td", { class: "muted", text: item.text })));
		return el("div", { class: "scroll", id }, bar, el("table", { class: "plain" }, el("tbody", {}, rows)),
			none.length ? el("p", { class: "muted none", text: "None: " + none.join(", ") + "." }) : null);
	}

	function outcomes(samples) {
		const items = [...(samples.outcomes || [])].sort((a, b) => b.value - a.value);
		return panel("status-samples", "What became of every tick",
			el("p", { class: "inside muted", text: number(samples.ticks) + " ticks of the clock that samples, " + number(samples.received) + " with a stack." }),
			parts("outcomes", items));
	}

	function stackEnds(stacks) {
		const items = [...stacks].sort((a, b) => b.value - a.value).map((s) => ({ name: s.end, value: s.value, text: s.text }));
		return panel("status-stacks", "Where stacks end", parts("stack-ends", items));
	}

	function interpreters(results) {
		const items = [...results].sort((a, b) => b.value - a.value).map((r) => ({ name: r.runtime + " " + r.result, value: r.value, text: r.text }));
		return items.length ? panel("status-interpreters", "Stacks of interpreters", parts("interpreter-results", items)) : null;
	}

	function state(text) {
		return el("span", { class: "badge", "data-state": text, text });
	}

	function components(list) {
		return panel("status-components", "Components", el("div", { class: "scroll" }, el("table", { class: "plain" }, el("tbody", {},
			list.map((c) => el("tr", {}, el("td", {}, state(c.state)), el("td", { class: "mono name", text: c.id }), el("td", { text: c.message })))))));
	}

	function fact(name, value) {
		return el("div", {}, el("dt", { class: "muted", text: name }), el("dd", { class: "number", text: value }));
	}

	function store(s, now) {
		if (!s)
			return panel("status-store", "Store", el("div", { class: "inside" }, xagent.problems.noStoreHint()));
		const since = s.oldest_ms ? xagent.time.full(s.oldest_ms) + " (" + xagent.time.words(now - s.oldest_ms) + ")" : "nothing yet";
		const part = s.max_bytes ? s.bytes / s.max_bytes : 0;
		return panel("status-store", "Store", el("div", { class: "inside" },
			el("div", { class: "fill", role: "meter", "aria-label": "Store in use", "aria-valuemin": "0", "aria-valuemax": "100",
				"aria-valuenow": String(Math.round(part * 100)), vars: { share: part } }),
			el("dl", { class: "facts" },
				fact("In use", xagent.format.value(s.bytes, "bytes") + " of " + xagent.format.value(s.max_bytes, "bytes")),
				fact("Keeps at most", xagent.time.words(s.max_age_s * 1000)), fact("Oldest profile", since),
				fact("Newest profile", s.newest_ms ? xagent.time.full(s.newest_ms) : "nothing yet"),
				fact("Series", number(s.series)), fact("Profiles", number(s.profiles)), fact("Samples", number(s.samples)))));
	}

	function about(s) {
		return panel("status-agent", "Agent", el("dl", { class: "facts inside" }, fact("Host", s.hostname), fact("Version", s.version),
			fact("Address", s.listen), fact("Runs for", xagent.time.words(s.now_ms - s.started_ms))));
	}

	function notes(list) {
		const body = list.length ? el("ul", { class: "inside notes" }, list.map((n) => el("li", { text: n })))
			: el("p", { class: "inside muted", text: "Nothing known: the whole host is in sight." });
		return panel("status-notes", "What is not seen of this host", body);
	}

	function targetRow(t, open) {
		const labels = Object.entries(t.labels || {}).filter(([name]) => name !== "service_name").map(([name, value]) => name + "=" + value).join(" ");
		return el("tr", {},
			el("td", {}, el("a", { href: open.href(t.service_name), text: t.service_name,
				on: { click: (event) => { event.preventDefault(); open.go(t.service_name); } } })),
			el("td", { class: "number", text: number(t.processes) }), el("td", { class: "number", text: number(t.samples) }),
			el("td", { class: "mono muted", text: labels }), el("td", { class: "muted", text: t.component }));
	}

	/* The field stays when the numbers below change. */
	class Targets {
		constructor(open) {
			this.open = open;
			this.list = [];
			this.field = el("input", { type: "search", id: "targets-find", placeholder: "service or label", "aria-label": "Find a target",
				on: { input: () => this.draw() } });
			this.note = el("p", { class: "inside muted" });
			this.body = el("tbody", {});
			this.root = panel("status-targets", "Who is profiled", el("div", { class: "inside" }, this.field),
				el("div", { class: "scroll tall", tabindex: "0" }, el("table", { class: "plain" }, el("thead", {}, el("tr", {},
					["Service", "Processes", "Samples", "Labels", "By"].map((t, i) =>
						el("th", { scope: "col", class: i === 1 || i === 2 ? "number" : null, text: t })))), this.body)), this.note);
		}

		set(list) {
			this.list = [...list].sort((a, b) => b.samples - a.samples);
			this.draw();
		}

		draw() {
			const text = this.field.value.toLowerCase();
			const found = this.list.filter((t) => (t.service_name + " " + Object.entries(t.labels || {}).join(" ")).toLowerCase().includes(text));
			this.body.replaceChildren(...found.slice(0, MAX_TARGETS).map((t) => targetRow(t, this.open)));
			this.note.textContent = found.length > MAX_TARGETS ? found.length - MAX_TARGETS + " more: type to find them."
				: found.length ? "" : this.list.length ? "None with these letters." : "Nobody was sampled yet.";
		}
	}

	/* app as in toolbar.js, and besides: serviceLink(name), openService(name) */
	class Status {
		constructor(root, app) {
			this.app = app;
			this.targets = new Targets({ href: (name) => app.serviceLink(name), go: (name) => app.openService(name) });
			this.missing = xagent.missing.create({ onAsk: (process) => app.set({ process }) });
			this.top = el("div", { class: "columns" });
			this.middle = el("div", { class: "columns" });
			this.problem = el("div", { id: "status-problem" });
			root.append(this.problem, this.top, this.missing.root, this.middle, this.targets.root);
			this.targets.root.hidden = true;
		}

		show(state) {
			this.missing.set(state.process);
		}

		async load(signal) {
			const status = await xagent.api.status(signal);
			this.app.onStatus(status);
			this.problem.replaceChildren();
			this.top.replaceChildren(column(about(status), store(status.store, status.now_ms)), components(status.components || []));
			this.middle.replaceChildren(outcomes(status.samples || {}), column(stackEnds(status.stacks || []), interpreters(status.interpreters || []),
				notes(status.notes || [])));
			this.targets.root.hidden = false;
			this.targets.set(status.targets || []);
		}

		fail(error) {
			const node = error.kind === "auth" ? xagent.problems.auth()
				: xagent.problems.broken(error.kind === "nostore" ? "This server does not tell its status." : error.message);
			this.problem.replaceChildren(node);
		}
	}

	xagent.status = { create: (root, app) => new Status(root, app) };
})((globalThis.xagent = globalThis.xagent || {}));
