/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that work everywhere on the page, and the dialog that lists them. */
(function (xagent) {
	"use strict";

	const { el, byId, isTyping } = xagent.dom;

	function actionsOf(app) {
		const run = (text, fn) => ({ text, run: fn });
		const work = () => app.now.view !== "status" && app.view();
		return {
			"/": run("Find a function", () => (work() ? work().focusFind() : byId("targets-find").focus())),
			s: run("Choose a service", () => app.now.view === "profile" && app.toolbar.service.focus()),
			f: run("Filter by a label", () => app.now.view === "profile" && app.toolbar.filters.focus()),
			t: run("Choose the time", () => app.toolbar.range.focus()),
			l: run("Live on or off", () => app.toolbar.toggleLive()),
			r: run("Load now", () => app.refresh()),
			i: run("Icicle or flame", () => app.set({ layout: app.now.layout === "icicle" ? "flame" : "icicle" })),
			b: run("Table, flame graph or both", () => app.set({ show: { both: "table", table: "flame", flame: "both" }[app.now.show] })),
			1: run("View: profile", () => app.set({ view: "profile" })),
			2: run("View: compare", () => app.set({ view: "compare" })),
			3: run("View: status", () => app.set({ view: "status" })),
			"?": run("These keys", () => byId("help").showModal()),
			Escape: run("Back: callers, zoom, search, function", () => work() && work().back(app.now)),
		};
	}

	const MORE_KEYS = [
		["← → ↑ ↓", "In the flame graph, table and timeline: move"],
		["Enter", "In the flame graph: zoom; in the table: callers and callees"],
		["Shift ←", "On the timeline: choose a time, Enter takes it"],
		["n p", "In the flame graph: next and previous match"],
	];

	/* actions = {key: {text, run}} */
	function handler(actions) {
		return (event) => {
			if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target))
				return;
			if (document.querySelector("dialog[open]") || document.querySelector(":popover-open"))
				return;
			const action = actions[event.key];
			if (!action)
				return;
			event.preventDefault();
			action.run();
		};
	}

	const NAMES = { Escape: "Esc" };

	function fill(dialog, actions, more) {
		const rows = [...Object.keys(actions).map((key) => [NAMES[key] || key, actions[key].text]), ...more];
		dialog.querySelector("dl").replaceChildren(...rows.map(([key, text]) =>
			el("div", {}, el("dt", {}, key.split(" ").map((k) => el("kbd", { text: k }))), el("dd", { text }))));
	}

	function install(app) {
		const dialog = byId("help");
		const actions = actionsOf(app);
		fill(dialog, actions, MORE_KEYS);
		byId("help-open").addEventListener("click", () => dialog.showModal());
		byId("help-close").addEventListener("click", () => dialog.close());
		dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
		document.addEventListener("keydown", handler(actions));
	}

	xagent.keys = { install };
})((globalThis.xagent = globalThis.xagent || {}));
