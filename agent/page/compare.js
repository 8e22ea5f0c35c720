/* SPDX-License-Identifier: Apache-2.0 */
/* Two times, or two sets of labels, beside each other: what grew and what shrank. */
(function (xagent) {
	"use strict";

	const { el, button } = xagent.dom;

	const SIDES = {
		left: { letter: "l", title: "Baseline", colour: "left" },
		right: { letter: "r", title: "Comparison", colour: "right" },
	};

	/* The page's own time in halves, before and after, as far as there are profiles. */
	function halves(at, oldest) {
		const start = oldest < at.end ? Math.max(at.start, oldest) : at.start;
		const middle = Math.round((start + at.end) / 2);
		return { left: { start, end: middle }, right: { start: middle, end: at.end } };
	}

	/* {q, from, to, start, end} of a side; an empty field follows the page. */
	function sideOf(state, key, half, now) {
		const { letter } = SIDES[key];
		const q = state[letter + "q"] === "" ? state.q : state[letter + "q"];
		const own = state[letter + "f"] !== "" && state[letter + "t"] !== "";
		const range = own ? { from: state[letter + "f"], to: state[letter + "t"] } : { from: String(half.start), to: String(half.end) };
		return { q: q === "{}" ? "" : q, ...range, ...(xagent.time.resolve(range, now) || half) };
	}

	/* A card for each side: service, labels, time, and the time again as a timeline to drag on. */
	class Side {
		constructor(key, app) {
			const { letter, title, colour } = SIDES[key];
			this.app = app;
			this.letter = letter;
			this.service = xagent.picker.create({ id: key + "-service", label: title + ": service", caption: "Service",
				onPick: (value) => this.setQuery(xagent.selector.withService(this.side.q, value)) });
			this.filters = xagent.filters.create({ id: key + "-filter", load: xagent.toolbar.labelLoader(app), onChange: (q) => this.setQuery(q) });
			this.range = xagent.range.create({ id: key + "-range", label: title + ": time", steps: false, onChange: (range) => this.setRange(range) });
			this.timeline = xagent.timeline.create({ id: key + "-timeline", label: title + " over time", colour,
				onRange: (start, end) => this.setRange({ from: String(Math.round(start)), to: String(Math.round(end)) }) });
			this.sum = el("span", { class: "number muted push" });
			this.root = el("section", { class: "panel side side-" + key, id: key + "-side", "aria-label": title },
				el("div", { class: "panel-head" }, el("h2", { text: title }), this.service.root, this.filters.root, this.range.root, this.sum),
				this.timeline.root);
		}

		setQuery(q) {
			this.app.set({ [this.letter + "q"]: q === "" ? "{}" : q, zoom: "" });
		}

		setRange(range) {
			this.app.set({ [this.letter + "f"]: range.from, [this.letter + "t"]: range.to, zoom: "" });
		}

		show(side) {
			this.side = side;
			this.service.setValue(xagent.selector.service(side.q));
			this.filters.setQuery(side.q);
			this.range.set(side);
		}

		async load(type, at, signal) {
			const q = xagent.series.question(at.start, at.end);
			const what = { type, q: this.side.q, start: q.start, end: q.end };
			const answer = await xagent.api.series(what, { groupBy: [], step: q.step }, signal);
			const unit = xagent.series.rateUnit(type);
			this.timeline.set({ model: xagent.series.build(answer, "", q.grid), unit, chart: "bars", selection: this.side });
		}
	}

	class Compare {
		constructor(root, app) {
			this.app = app;
			this.asked = "";
			this.left = new Side("left", app);
			this.right = new Side("right", app);
			this.panel = xagent.panel.create({ id: "diff", title: "Comparison", diff: true, formats: ["link", "folded", "svg", "png"],
				set: (patch, options) => app.set(patch, options), link: () => app.fixedLink(this.fixed()), onProblem: (error) => app.fail(error) });
			this.notice = el("div", { id: "diff-notice" });
			this.panel.root.hidden = true;
			root.append(this.actions(), el("div", { class: "sides" }, this.left.root, this.right.root), this.notice, this.panel.root);
		}

		actions() {
			const set = (patch) => this.app.set({ ...patch, zoom: "" });
			const state = () => this.app.state();
			return el("div", { class: "actions compare-actions" },
				el("span", { class: "muted", text: "Drag on a timeline to choose a side's time, or choose other labels." }),
				button("Swap", { id: "compare-swap", class: "push", on: { click: () => this.swap() } }, "swap"),
				button("Same labels", { id: "compare-labels", title: "The comparison gets the labels of the baseline", on: { click: () => set({ rq: this.left.side.q || "{}" }) } }),
				button("Same time", { id: "compare-time", title: "Both sides show all of the page's time",
					on: { click: () => set({ lf: state().from, lt: state().to, rf: state().from, rt: state().to }) } }),
				button("Before and after", { id: "compare-halves", title: "The first and the second half of the page's time",
					on: { click: () => set({ lf: "", lt: "", rf: "", rt: "" }) } }));
		}

		swap() {
			const { left, right } = this.sides(this.app.state());
			const text = (side) => side.q || "{}";
			this.app.set({ lq: text(right), lf: right.from, lt: right.to, rq: text(left), rf: left.from, rt: left.to, zoom: "" });
		}

		/* Both sides with times that do not move on. */
		fixed() {
			const { left, right } = this.sides(this.app.state());
			const times = (side) => [String(side.start), String(side.end)];
			const [[lf, lt], [rf, rt]] = [times(left), times(right)];
			return { lf, lt, rf, rt };
		}

		sides(state) {
			const now = Date.now();
			const { left, right } = halves(this.app.window(), this.app.oldest || 0);
			return { left: sideOf(state, "left", left, now), right: sideOf(state, "right", right, now) };
		}

		show(state) {
			const { left, right } = this.sides(state);
			this.left.show(left);
			this.right.show(right);
			this.panel.show(state);
		}

		setServices(options) {
			this.left.service.setOptions(options);
			this.right.service.setOptions(options);
		}

		async load(signal) {
			if (this.app.oldest === undefined)
				await this.app.status();
			const type = this.app.type();
			const at = this.app.window();
			const { left, right } = this.sides(this.app.state());
			this.left.show(left);
			this.right.show(right);
			await Promise.all([this.left.load(type, at, signal), this.right.load(type, at, signal), this.loadDiff(type, left, right, signal)]);
		}

		async diff(a, b, unit, signal) {
			try {
				const answer = await xagent.api.diff(a, b, signal);
				return xagent.tree.fromFlamebearer(answer.flamegraph || {}, { diff: true, unit });
			} catch (error) {
				if (error.kind !== "nostore")
					throw error;
			}
			/* Older servers have no Diff. */
			const trees = await Promise.all([a, b].map(async (what) =>
				xagent.tree.fromFlamebearer((await xagent.api.stacktraces(what, signal)).flamegraph || {}, { unit })));
			return xagent.tree.diff(trees[0], trees[1]);
		}

		async loadDiff(type, left, right, signal) {
			const what = (side) => ({ type, q: side.q, start: side.start, end: side.end });
			const tree = await this.diff(what(left), what(right), xagent.series.unitOf(type), signal);
			const asked = [type, left.q, right.q].join("\n");
			const missing = !tree.sum ? "baseline" : !tree.sumRight ? "comparison" : "";
			this.panel.root.hidden = missing !== "";
			this.notice.replaceChildren(...(missing ? [this.nothing(missing, missing === "baseline" ? left : right)] : []));
			if (!missing)
				this.panel.setTree(tree, what(right), this.app.state(), asked === this.asked);
			this.asked = asked;
		}

		nothing(name, side) {
			return xagent.problems.nothing("The " + name + " has no profile: " + xagent.selector.describe(side.q) + ", " +
				xagent.time.between(side.start, side.end, Date.now()) + ".", []);
		}

		fail(error) {
			const node = error.kind === "nostore" ? xagent.problems.noStore() : error.kind === "auth" ? xagent.problems.auth()
				: error.kind === "query" ? xagent.problems.wrongQuery(error.message, () => this.app.set({ lq: "", rq: "", q: "" }))
					: xagent.problems.broken(error.message);
			if (error.kind === "gone")
				return;
			this.panel.root.hidden = true;
			this.notice.replaceChildren(node);
		}

		back(state) {
			return this.panel.back(state);
		}

		focusFind() {
			this.panel.focusFind();
		}
	}

	xagent.compare = { create: (root, app) => new Compare(root, app) };
})((globalThis.xagent = globalThis.xagent || {}));
