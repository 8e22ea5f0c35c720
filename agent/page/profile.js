/* SPDX-License-Identifier: Apache-2.0 */
/* The first view: how much over time by service or any label, and below it the flame graph of what is chosen. */
(function (xagent) {
	"use strict";

	const { el, choice } = xagent.dom;

	const CHARTS = [{ value: "bars", text: "Stacked" }, { value: "lines", text: "Lines" }];
	/* When the range held nothing, these may. */
	const WIDER = [["now-1h", "Last hour"], ["now-6h", "Last 6 hours"]];

	/* app as in toolbar.js, and besides: status() -> Promise, fail(error) */
	class Profile {
		constructor(root, app) {
			this.app = app;
			this.asked = "";
			this.buildTimeline();
			this.panel = xagent.panel.create({ id: "work", title: "Flame graph", formats: ["link", "pprof", "folded", "svg", "png"],
				set: (patch, options) => app.set(patch, options), link: () => app.fixedLink(), onProblem: (error) => app.fail(error) });
			this.notice = el("div", { id: "notice" }, xagent.problems.loading());
			this.panel.root.hidden = true;
			root.append(this.timePanel, this.notice, this.panel.root);
		}

		buildTimeline() {
			const set = (patch) => this.app.set(patch);
			this.by = el("select", { id: "by", "aria-label": "Broken down by", on: { change: () => set({ by: this.by.value }) } });
			this.chart = choice("Kind of chart", CHARTS, (chart) => set({ chart }), "chart");
			this.rate = el("span", { class: "number muted", id: "rate" });
			this.timeline = xagent.timeline.create({ id: "timeline", label: "Over time", onRange: (start, end) =>
				set({ from: String(Math.round(start)), to: String(Math.round(end)) }) });
			this.legend = xagent.legend.create({ id: "legend", onPick: (name) => this.pick(name), onPoint: (name) => this.timeline.mark(name) });
			this.timePanel = el("section", { class: "panel", id: "time-panel", "aria-label": "Over time" },
				el("div", { class: "panel-head" }, el("label", { class: "labelled" }, el("span", { class: "caption", text: "By" }), this.by),
					this.chart.root, this.rate, el("span", { class: "push muted hint-drag", text: "drag to zoom into a time" })),
				this.timeline.root, this.legend.root);
			this.setLabels([]);
		}

		/* The legend filters by what it breaks down by; a second click takes that back. */
		pick(name) {
			const { q, by } = this.app.state();
			const matcher = { name: by, op: "=", value: name };
			const there = (xagent.selector.parse(q) || []).some((m) => xagent.selector.formatMatcher(m) === xagent.selector.formatMatcher(matcher));
			this.app.set({ q: xagent.selector.replace(q, by, there ? null : matcher), zoom: "" });
		}

		setLabels(names) {
			const now = this.app.state().by;
			const all = [...new Set(["service_name", ...names.filter((n) => !n.startsWith("__")), ...(now ? [now] : [])])];
			if ([...this.by.options].map((o) => o.value).join() === ["", ...all].join())
				return;
			this.by.replaceChildren(el("option", { value: "", text: "nothing" }), ...all.map((n) => el("option", { value: n, text: n })));
			this.by.value = now;
		}

		show(state) {
			this.by.value = state.by;
			this.chart.set(state.chart);
			if (this.model && this.timeline.chart !== state.chart)
				this.showSeries(state);
			this.panel.show(state);
		}

		what(state) {
			return { type: this.app.type(), q: state.q, ...this.app.window() };
		}

		async load(signal) {
			const state = this.app.state();
			const what = this.what(state);
			if (this.panel.root.hidden && this.notice.childElementCount === 0)
				this.notice.replaceChildren(xagent.problems.loading());
			const jobs = [this.loadSeries(what, state.by, signal), this.loadTree(what, signal), this.loadLabels(what, signal)];
			await Promise.all(jobs);
		}

		async loadSeries(what, by, signal) {
			const q = xagent.series.question(what.start, what.end);
			const answer = await xagent.api.series({ ...what, start: q.start, end: q.end }, { groupBy: by ? [by] : [], step: q.step }, signal);
			this.model = xagent.series.build(answer, by, q.grid);
			this.unit = xagent.series.rateUnit(what.type);
			this.showSeries(this.app.state());
		}

		showSeries(state) {
			const { model, unit } = this;
			const chosen = (xagent.selector.parse(state.q) || []).find((m) => m.name === state.by && m.op === "=");
			this.timeline.set({ model, unit, chart: state.chart });
			this.legend.set(model, chosen ? chosen.value : null);
			this.rate.textContent = model.total ? "on average " + xagent.series.average(model, unit) : "";
		}

		async loadTree(what, signal) {
			const answer = await xagent.api.stacktraces(what, signal);
			const tree = xagent.tree.fromFlamebearer(answer.flamegraph || {}, { unit: xagent.series.unitOf(what.type) });
			if (!tree.sum)
				return this.showNothing(what);
			const asked = what.type + what.q;
			this.notice.replaceChildren();
			this.timePanel.hidden = false;
			this.panel.root.hidden = false;
			this.panel.setTree(tree, what, this.app.state(), asked === this.asked);
			this.asked = asked;
			return this.app.onProfile();
		}

		async loadLabels(what, signal) {
			const answer = await xagent.api.labelNames({ ...what, q: "" }, signal);
			this.setLabels(answer.names || []);
		}

		async showNothing(what) {
			const status = await this.app.status();
			this.panel.root.hidden = true;
			this.timePanel.hidden = Boolean(status && !(status.store && status.store.newest_ms));
			if (status && !status.store)
				this.notice.replaceChildren(xagent.problems.noStore());
			else if (status && !status.store.newest_ms)
				await this.showWaiting(status);
			else
				this.notice.replaceChildren(this.nothing(what));
		}

		async showWaiting(status) {
			this.app.waitForProfile();
			this.intervalS = this.intervalS || xagent.api.collectInterval(status);
			this.notice.replaceChildren(xagent.problems.waiting(status, this.intervalS));
		}

		nothing(what) {
			const set = (patch) => () => this.app.set(patch);
			const actions = WIDER.filter(([from]) => xagent.time.parse(from, Date.now()) < what.start - 60000)
				.map(([from, text]) => ({ text, run: set({ from, to: "now" }) }));
			if (what.q !== "")
				actions.push({ text: "All services, no filter", run: set({ q: "" }) });
			if (!xagent.time.isLive(this.app.state()))
				actions.push({ text: "Last 15 minutes", run: set({ from: "now-15m", to: "now" }) });
			return xagent.problems.nothing("No profile of " + xagent.selector.describe(what.q) + " from " +
				xagent.time.between(what.start, what.end, Date.now()) + ".", actions);
		}

		fail(error) {
			const known = {
				nostore: () => xagent.problems.noStore(),
				auth: () => xagent.problems.auth(),
				query: () => xagent.problems.wrongQuery(error.message, () => this.app.set({ q: "" })),
				server: () => xagent.problems.broken(error.message),
			}[error.kind];
			if (!known)
				return;
			this.panel.root.hidden = true;
			this.timePanel.hidden = error.kind === "nostore" || error.kind === "auth";
			this.notice.replaceChildren(known());
		}

		back(state) {
			return this.panel.back(state);
		}

		focusFind() {
			this.panel.focusFind();
		}
	}

	xagent.profile = { create: (root, app) => new Profile(root, app) };
})((globalThis.xagent = globalThis.xagent || {}));
