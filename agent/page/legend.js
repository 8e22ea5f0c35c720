/* SPDX-License-Identifier: Apache-2.0 */
/* What the colours of a timeline are: a button each, which filters. */
(function (xagent) {
	"use strict";

	const { el } = xagent.dom;

	/* spec = {id, onPick(name), onPoint(name or "")} */
	class Legend {
		constructor(spec) {
			this.spec = spec;
			this.root = el("div", { class: "legend", id: spec.id, role: "group", "aria-label": "Breakdown" });
		}

		entry(group, i, model, chosen) {
			const share = xagent.format.share(group.total, model.total);
			const name = group.name === "" ? "(none)" : group.name;
			const inside = [
				el("span", { class: "swatch", vars: { colour: "var(--series-" + (group.rest ? "rest" : i + 1) + ")" } }),
				el("span", { class: "legend-name", text: name }), el("span", { class: "number muted", text: share }),
			];
			if (group.rest)
				return el("span", { class: "legend-entry" }, inside);
			return el("button", {
				type: "button", class: "legend-entry", "aria-pressed": String(group.name === chosen),
				title: group.name === chosen ? "Show all again" : "Only " + model.by + " = " + name,
				on: {
					click: () => this.spec.onPick(group.name),
					pointerenter: () => this.spec.onPoint(group.name),
					pointerleave: () => this.spec.onPoint(""),
					focus: () => this.spec.onPoint(group.name),
					blur: () => this.spec.onPoint(""),
				},
			}, inside);
		}

		/* The focus stays on the same name when the numbers change. */
		set(model, chosen) {
			const focused = this.root.contains(document.activeElement) ? document.activeElement.dataset.name : null;
			const nodes = model && model.by ? model.groups.map((g, i) => this.entry(g, i, model, chosen)) : [];
			nodes.forEach((node, i) => { node.dataset.name = model.groups[i].name; });
			this.root.replaceChildren(...nodes);
			this.root.hidden = nodes.length === 0;
			const again = focused !== null && nodes.find((node) => node.dataset.name === focused);
			if (again)
				again.focus();
		}
	}

	xagent.legend = { create: (spec) => new Legend(spec) };
})((globalThis.xagent = globalThis.xagent || {}));
