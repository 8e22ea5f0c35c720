/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile to work with: flame graph, table of functions, search, and one function between its callers and callees. One tree or a
 * comparison of two.
 */
(function (xagent) {
	"use strict";

	const { el, button, iconButton, choice } = xagent.dom;

	const SHOWS = [{ value: "both", text: "Both", title: "Table and flame graph (b)" }, { value: "table", text: "Table" }, { value: "flame", text: "Flame graph" }];
	const LAYOUTS = [{ value: "icicle", text: "Icicle", title: "The root at the top (i)" }, { value: "flame", text: "Flame", title: "The root at the bottom (i)" }];

	/* There from the beginning: the rows below must not move under a pointer that clicks twice. */
	const HINT = "A click on a row or a frame tells what it costs; two on a row, who calls it and what it calls.";

	/* A search that finds one name and nothing else. */
	function exactly(name) {
		return "/^" + xagent.selector.regexQuote(name).replace(/\//g, "\\/") + "$/";
	}

	/* spec = {id, title, diff, formats, set(patch, options), link() -> URL, onProblem(error)} */
	class Panel {
		constructor(spec) {
			this.spec = spec;
			this.tree = null;
			this.rows = [];
			this.applying = false;
			this.fromFlame = "";
			this.buildBar();
			this.buildBody();
			this.root = el("section", { class: "panel work", id: spec.id, "aria-label": spec.title }, this.bar, this.strip, this.body);
			xagent.theme.on((theme) => this.flames().forEach((flame) => flame.setTheme(theme)));
		}

		buildBar() {
			const { id, set } = this.spec;
			this.shows = choice("What is shown", SHOWS, (show) => set({ show }), id + "-show");
			this.layouts = choice("Direction", LAYOUTS, (layout) => set({ layout }), id + "-layout");
			this.find = el("input", { type: "search", id: id + "-find", placeholder: "Find a function", "aria-label": "Find a function", title: "Find (/). /…/ is a regular expression",
				spellcheck: "false", on: { input: () => set({ find: this.find.value }, { replace: true }), keydown: (event) => this.onFindKey(event) } });
			this.share = el("span", { class: "number muted", id: id + "-share", role: "status" });
			this.reset = button("Show all", { id: id + "-reset", title: "Back to all functions (Esc)", on: { click: () => set({ zoom: "", only: "", sandwich: "off" }) } });
			this.sum = el("span", { class: "number", id: id + "-sum" });
			const download = xagent.download.menu({ id: id + "-download", formats: this.spec.formats, onProblem: this.spec.onProblem,
				current: () => ({ what: this.what, tree: this.tree, flame: this.flame, link: this.spec.link() }) });
			this.bar = el("div", { class: "panel-head" }, this.shows.root, this.layouts.root, this.find, this.share, this.reset,
				el("span", { class: "push" }), this.sum, download);
			this.strip = el("div", { class: "strip", id: id + "-function" });
		}

		buildBody() {
			const { id, set, diff } = this.spec;
			const tree = () => this.tree;
			const sort = diff ? "dsort" : "sort";
			this.table = xagent.table.create({
				id: id + "-table", class: diff ? "compared" : "", label: "Functions", keyOf: (row) => row.name, last: xagent.functions.isOther,
				columns: diff ? xagent.functions.compared(tree) : xagent.functions.plain(tree),
				onSort: (value) => set({ [sort]: value }, { replace: true }),
				onSelect: (row) => this.fromTable({ fn: row.name }, { replace: true }),
				onActivate: (row) => this.fromTable({ fn: row.name, sandwich: "on" }),
			});
			this.sort = sort;
			this.host = el("div", { class: "flame-host", id: id + "-flame" });
			this.callersHost = el("div", { class: "flame-host" });
			this.calleesHost = el("div", { class: "flame-host" });
			this.around = el("div", { class: "around", id: id + "-sandwich", hidden: true },
				el("h3", { text: "Callers" }), this.callersHost, el("h3", { text: "Callees" }), this.calleesHost);
			this.body = el("div", { class: "work-body" }, this.table.root, this.host, this.around);
			this.flame = this.createFlame(this.host, { title: this.spec.title });
			this.flame.on("zoom", ({ node }) => this.own({ zoom: xagent.path.key(this.flame.tree(), node) }));
			this.flame.on("focus", ({ name }) => this.own({ only: name || "", zoom: "" }));
			this.flame.on("select", ({ name, node }) => this.pointed(node > 0 ? name : ""));
		}

		createFlame(host, options) {
			const flame = xagent.flame.create(host, { theme: xagent.theme.now(), ...options });
			flame.on("sandwich", ({ name }) => this.spec.set({ fn: name, sandwich: "on" }));
			flame.on("search", ({ text }) => this.spec.set({ find: text }));
			return flame;
		}

		flames() {
			return [this.flame, this.callers, this.callees].filter(Boolean);
		}

		/* A frame that was pointed at is marked already: nothing else fades for it. */
		pointed(name) {
			this.fromFlame = name;
			this.own({ fn: name }, { replace: true });
		}

		fromTable(patch, options) {
			this.fromFlame = "";
			this.spec.set(patch, options);
		}

		/* What the widget tells of itself while it is being told is no news. */
		own(patch, options) {
			if (!this.applying)
				this.spec.set(patch, options);
		}

		onFindKey(event) {
			if (event.key === "Enter")
				this.flame.next(event.shiftKey ? -1 : 1);
			else if (event.key === "Escape" && this.find.value !== "")
				this.spec.set({ find: "" }, { replace: true });
			else if (event.key === "Escape")
				this.find.blur();
			else
				return;
			event.preventDefault();
			event.stopPropagation();
		}

		/* what = {type, q, start, end}; keep: the same question again, at another time */
		setTree(tree, what, state, keep) {
			this.tree = tree;
			this.what = what;
			this.rows = xagent.tree.table(tree);
			this.applying = true;
			this.flame.setTitle(this.titleOf(what));
			this.flame.setTree(tree, { keep });
			this.applying = false;
			this.shown = {};
			this.around.dataset.of = "";
			this.show(state);
		}

		titleOf(what) {
			return xagent.selector.describe(what.q) + " · " + xagent.series.typeTitle(what.type);
		}

		show(state) {
			if (!this.tree)
				return;
			const sandwiched = state.sandwich === "on" && this.tree.names.includes(state.fn);
			this.shows.set(state.show);
			this.layouts.set(state.layout);
			this.body.dataset.show = state.show;
			this.around.hidden = !sandwiched || state.show === "table";
			this.host.hidden = sandwiched || state.show === "table";
			this.table.root.hidden = state.show === "flame";
			this.applying = true;
			this.showFlame(state);
			this.applying = false;
			if (sandwiched)
				this.showAround(state.fn);
			this.showTable(state);
			this.showFunction(state, sandwiched);
			this.reset.hidden = state.zoom === "" && state.only === "" && !sandwiched;
			this.sum.textContent = this.sumText();
		}

		sumText() {
			const { sum, sumRight, unit, totalRight } = this.tree;
			const text = xagent.format.value(sum, unit);
			return totalRight ? text + " → " + xagent.format.value(sumRight, unit) : text + " in all";
		}

		showFlame(state) {
			const flame = this.flame;
			const now = flame.state();
			if (now.layout !== state.layout)
				flame.setLayout(state.layout);
			if ((now.focus || "") !== state.only)
				flame.focus(state.only === "" ? null : state.only);
			this.showZoom(state);
			if (document.activeElement !== this.find)
				this.find.value = state.find;
			else if (state.find === "")
				this.find.value = "";
			const found = flame.search(state.find || this.marked(state.fn));
			this.share.textContent = state.find === "" ? "" : found.count === 0 ? "no match" : "matches " + this.foundText(found);
		}

		/* All frames of the function, unless it is the one that the flame graph points at or shows as the whole. */
		marked(name) {
			const path = this.flame.state().zoom;
			return name === "" || name === this.fromFlame || name === path[path.length - 1] ? "" : exactly(name);
		}

		foundText(found) {
			const tree = this.flame.tree();
			if (!tree.totalRight)
				return xagent.format.share(found.total, tree.sum);
			return xagent.format.share(found.total, tree.sum) + " → " + xagent.format.share(found.totalRight, tree.sumRight);
		}

		showZoom(state) {
			const tree = this.flame.tree();
			const node = xagent.path.find(tree, state.zoom);
			const key = xagent.path.key(tree, xagent.tree.find(tree, this.flame.state().zoom));
			if (node >= 0 && key !== state.zoom)
				this.flame.zoomTo(node);
		}

		showTable(state) {
			if (state.show === "flame")
				return;
			const now = { find: state.find, sort: state[this.sort] };
			if (this.shown.find !== now.find || this.shown.sort !== now.sort)
				this.table.setRows(this.rowsFor(state), now.sort);
			this.shown = now;
			if (this.table.selected !== state.fn && state.fn !== "")
				this.table.reveal(state.fn);
			this.table.select(state.fn);
		}

		rowsFor(state) {
			let rows = this.rows;
			if (state.find !== "") {
				const { nodes } = xagent.tree.search(this.tree, state.find);
				const names = new Set();
				nodes.forEach((hit, i) => hit && names.add(this.tree.name[i]));
				rows = rows.filter((row) => names.has(row.id));
			}
			return this.spec.diff && state.dsort === "-size" ? xagent.functions.bySize(this.tree, rows) : rows;
		}

		showFunction(state, sandwiched) {
			const row = state.fn === "" ? null : this.rows.find((r) => r.name === state.fn);
			const { id, set } = this.spec;
			if (!row) {
				this.strip.replaceChildren(el("span", { class: "muted", text: HINT }));
				return;
			}
			const focused = this.strip.contains(document.activeElement) ? document.activeElement.id : "";
			this.strip.replaceChildren(
				el("span", { class: "mono strip-name", text: row.name }),
				el("span", { class: "number", text: xagent.functions.sentence(this.tree, row) }),
				el("span", { class: "strip-actions" },
					button("Callers and callees", { id: id + "-around", "aria-pressed": String(sandwiched), on: { click: () => set({ sandwich: sandwiched ? "off" : "on" }) } }),
					button("Only this", { id: id + "-only", "aria-pressed": String(state.only === row.name), title: "What runs below it, wherever it is called",
						on: { click: () => set({ only: state.only === row.name ? "" : row.name, zoom: "", sandwich: "off" }) } }),
					iconButton("close", "Let go of this function", { id: id + "-let-go", class: "icon plain", on: { click: () => set({ fn: "", sandwich: "off" }) } })));
			const again = focused && xagent.dom.byId(focused);
			if (again)
				again.focus();
		}

		showAround(name) {
			if (this.around.dataset.of === name)
				return;
			if (!this.callers) {
				this.callers = this.createFlame(this.callersHost, { layout: "flame", legend: false });
				this.callees = this.createFlame(this.calleesHost, { layout: "icicle", legend: false });
			}
			const { callers, callees } = xagent.tree.sandwich(this.tree, name);
			this.around.dataset.of = name;
			this.callers.setTitle("Callers of " + name);
			this.callees.setTitle("Callees of " + name);
			this.callers.setTree(callers, {});
			this.callees.setTree(callees, {});
		}

		focusFind() {
			this.find.focus();
			this.find.select();
		}

		/* Whether there was something to go back from. */
		back(state) {
			const patch = state.sandwich === "on" ? { sandwich: "off" } : state.zoom !== "" || state.only !== "" ? { zoom: "", only: "" }
				: state.find !== "" ? { find: "" } : state.fn !== "" ? { fn: "" } : null;
			if (patch)
				this.spec.set(patch);
			return patch !== null;
		}
	}

	xagent.panel = { create: (spec) => new Panel(spec) };
})((globalThis.xagent = globalThis.xagent || {}));
