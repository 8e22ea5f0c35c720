/* SPDX-License-Identifier: Apache-2.0 */
/* From when to when: the usual ones by one click, any other as text, and steps to earlier, later, wider. */
(function (xagent) {
	"use strict";

	const { el, button, iconButton, glyph } = xagent.dom;
	const time = xagent.time;

	const QUICK = ["5m", "15m", "1h", "3h", "6h", "24h"];
	/* Servers refuse to look at more than a day at once (querier.max-query-length). */
	const LONGEST_MS = 24 * 3600 * 1000;

	function quickLabel(text) {
		return time.label({ from: "now-" + text, to: "now" }, Date.now());
	}

	/* spec = {id, label, steps: with the buttons beside, onChange({from, to})} */
	class Range {
		constructor(spec) {
			this.spec = spec;
			this.range = { from: "now-15m", to: "now" };
			this.caption = el("span", { class: "range-label" });
			this.opener = el("button", { type: "button", id: spec.id, title: spec.label + " (t)", "aria-label": spec.label },
				glyph("clock"), this.caption, glyph("down"));
			this.buildPanel();
			this.root = el("div", { class: "range" }, spec.steps ? this.stepButton("left", "Earlier", -1) : null, this.opener,
				spec.steps ? this.stepButton("right", "Later", 1) : null,
				spec.steps ? iconButton("out", "Twice as long", { id: spec.id + "-out", on: { click: () => this.widen() } }) : null,
				this.panel);
			this.popover = xagent.popover.attach(this.opener, this.panel, () => this.onOpen());
		}

		stepButton(icon, name, by) {
			return iconButton(icon, name, { id: this.spec.id + "-" + icon, on: { click: () => this.shift(by) } });
		}

		buildPanel() {
			const id = this.spec.id;
			const field = (name) => el("input", { type: "text", id: id + "-" + name, autocomplete: "off", spellcheck: "false" });
			this.from = field("from");
			this.to = field("to");
			this.problem = el("p", { class: "problem-text", role: "alert", hidden: true });
			this.quick = QUICK.map((text) => button(quickLabel(text), {
				class: "plain", id: id + "-" + text, on: { click: () => this.change({ from: "now-" + text, to: "now" }) } }));
			this.panel = el("div", { class: "form range-panel", role: "dialog", "aria-label": this.spec.label },
				el("div", { class: "range-quick" }, this.quick),
				el("form", { on: { submit: (event) => { event.preventDefault(); this.apply(); } } },
					el("label", { for: id + "-from", text: "From" }), this.from,
					el("label", { for: id + "-to", text: "To" }), this.to,
					el("p", { class: "muted", text: "10:24, 2026-11-22 10:24, now-90m, now" }), this.problem,
					el("button", { type: "submit", class: "primary", id: id + "-apply", text: "Apply" })));
		}

		onOpen() {
			const now = Date.now();
			const text = (value) => /^\d+$/.test(value) ? time.full(Number(value)) : value;
			this.from.value = text(this.range.from, now);
			this.to.value = text(this.range.to, now);
			this.say("");
			return this.from;
		}

		say(text) {
			this.problem.textContent = text;
			this.problem.hidden = text === "";
		}

		/* What was typed; a time on the clock becomes fixed, "now-…" goes on. */
		apply() {
			const now = Date.now();
			const fix = (text) => text.startsWith("now") ? text : String(time.parse(text, now));
			const range = { from: fix(this.from.value.trim()), to: fix(this.to.value.trim()) };
			const at = time.resolve(range, now);
			if (!at)
				this.say("This is no range: from must be a time before to.");
			else if (at.end - at.start > LONGEST_MS)
				this.say("At most 24 hours can be looked at together.");
			else
				this.change(range);
		}

		change(range) {
			this.popover.close();
			this.set(range);
			this.spec.onChange(range);
		}

		between(start, end) {
			const now = Date.now();
			if (end >= now)
				this.change({ from: "now-" + Math.round((end - start) / 1000) + "s", to: "now" });
			else
				this.change({ from: String(Math.round(start)), to: String(Math.round(end)) });
		}

		shift(by) {
			const at = time.resolve(this.range, Date.now());
			const half = at && (at.end - at.start) / 2 * by;
			if (at)
				this.between(at.start + half, at.end + half);
		}

		widen() {
			const now = Date.now();
			const at = time.resolve(this.range, now);
			if (!at)
				return;
			const span = Math.min(2 * (at.end - at.start), LONGEST_MS);
			const end = Math.min(now, (at.start + at.end + span) / 2);
			this.between(end - span, end);
		}

		set(range) {
			this.range = range;
			this.caption.textContent = time.label(range, Date.now());
			this.quick.forEach((node, i) =>
				node.setAttribute("aria-pressed", String(range.from === "now-" + QUICK[i] && range.to === "now")));
		}

		focus() {
			this.popover.open();
		}
	}

	xagent.range = { LONGEST_MS, create: (spec) => new Range(spec) };
})((globalThis.xagent = globalThis.xagent || {}));
