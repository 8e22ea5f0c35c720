/* SPDX-License-Identifier: Apache-2.0 */
/* The row above: which service, which type of profile, which labels, which time, and whether it goes on by itself. */
(function (xagent) {
	"use strict";

	const { el, button, byId } = xagent.dom;

	const ALL = { value: "", text: "All services" };

	/* app = {state(), set(patch), window() -> {start, end}, type(), refresh()} */
	class Toolbar {
		constructor(app) {
			this.app = app;
			this.service = xagent.picker.create({ id: "service", label: "Service", caption: "Service",
				onPick: (value) => app.set({ q: xagent.selector.withService(app.state().q, value), zoom: "" }) });
			this.type = el("select", { id: "type", "aria-label": "Profile type", on: { change: () => app.set({ type: this.type.value, zoom: "" }) } });
			this.filters = xagent.filters.create({ id: "filter", load: xagent.toolbar.labelLoader(app), onChange: (q) => app.set({ q, zoom: "" }) });
			this.range = xagent.range.create({ id: "range", label: "Time range", steps: true, onChange: (range) => app.set(range) });
			this.live = button("Live", { id: "live", title: "New profiles every 5 s (l)", on: { click: () => this.toggleLive() } });
			this.pulse = el("span", { class: "pulse", "aria-hidden": "true" });
			this.live.prepend(this.pulse);
			this.refresh = xagent.dom.iconButton("refresh", "Load now (r)", { id: "refresh", on: { click: () => app.refresh() } });
			byId("toolbar").append(el("div", { class: "of-profile" }, this.service.root),
				el("label", { class: "labelled" }, el("span", { class: "caption", text: "Type" }), this.type),
				el("div", { class: "of-profile filters-slot" }, this.filters.root),
				el("div", { class: "times push" }, this.range.root, this.live, this.refresh));
			this.service.setOptions([ALL]);
			this.setTypes([]);
		}

		toggleLive() {
			const { live, to } = this.app.state();
			if (live === "on" && to === "now")
				this.app.set({ live: "off" });
			else
				this.app.set(to === "now" ? { live: "on" } : { live: "on", from: "now-15m", to: "now" });
		}

		show(state) {
			this.service.setValue(xagent.selector.service(state.q));
			this.filters.setQuery(state.q);
			this.range.set({ from: state.from, to: state.to });
			this.live.setAttribute("aria-pressed", String(state.live === "on" && xagent.time.isLive(state)));
			this.type.value = this.app.type();
			byId("toolbar").dataset.view = state.view;
		}

		setTypes(types) {
			const ids = types.map((t) => t.ID);
			const now = this.app.type();
			if (!ids.includes(now))
				ids.unshift(now);
			if (ids.join() === [...this.type.options].map((o) => o.value).join())
				return;
			this.type.replaceChildren(...ids.map((id) => el("option", { value: id, text: xagent.series.typeTitle(id), title: id })));
			this.type.value = now;
		}

		/* totals = [{name, total}], largest first */
		setServices(totals) {
			const all = totals.reduce((n, t) => n + t.total, 0);
			this.service.setOptions([ALL, ...totals.map((t) => ({
				value: t.name, text: t.name, share: all ? t.total / all : 0, note: xagent.format.share(t.total, all),
			}))]);
		}
	}

	/* What filters ask: labels and values in the range that is shown. */
	function labelLoader(app) {
		const private_ = (name) => name.startsWith("__");
		return {
			names: async (q) => ((await xagent.api.labelNames({ q, ...app.window() })).names || []).filter((n) => !private_(n)),
			values: async (name, q) => (await xagent.api.labelValues(name, { q, ...app.window() })).names || [],
		};
	}

	xagent.toolbar = { create: (app) => new Toolbar(app), labelLoader };
})((globalThis.xagent = globalThis.xagent || {}));
