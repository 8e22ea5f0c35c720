/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A field with a list that gets shorter as one types: the combobox of the ARIA practices.
 * https://www.w3.org/WAI/ARIA/apg/patterns/combobox/
 */
(function (xagent) {
	"use strict";

	const { el, glyph } = xagent.dom;

	/* More than one reads; typing finds the others. */
	const MAX_SHOWN = 200;

	function matches(option, text) {
		return (option.text + " " + option.value).toLowerCase().includes(text.toLowerCase());
	}

	function optionNode(id, option, pick) {
		const share = option.share === undefined ? null : el("span", { class: "number muted", text: option.note });
		return el("li", {
			id, role: "option", "aria-selected": "false", class: "option",
			vars: { share: option.share || 0 },
			on: { mousedown: (event) => event.preventDefault(), click: () => pick(option.value) },
		}, el("span", { class: "option-text", text: option.text }), share);
	}

	/* The nodes; what they do is added below. */
	function build(spec) {
		const list = el("ul", { class: "options", role: "listbox", id: spec.id + "-list", "aria-label": spec.label, hidden: true });
		const input = el("input", {
			type: "text", id: spec.id, role: "combobox", autocomplete: "off", spellcheck: "false",
			"aria-label": spec.label, "aria-autocomplete": "list", "aria-expanded": "false",
			"aria-controls": spec.id + "-list", placeholder: spec.placeholder || "",
		});
		const more = el("p", { class: "options-more muted", hidden: true });
		const drop = el("div", { class: "options-drop", hidden: true }, list, more);
		const root = el("div", { class: "picker" }, spec.caption ? el("span", { class: "caption", text: spec.caption }) : null,
			el("span", { class: "picker-field" }, input, glyph("down")), drop);
		return { root, input, list, drop, more };
	}

	/* spec = {id, label, caption, placeholder, free: other values are welcome, onPick(value), onOpen()} */
	class Picker {
		constructor(spec) {
			Object.assign(this, build(spec));
			this.spec = spec;
			this.options = [];
			this.shown = [];
			this.value = "";
			this.active = -1;
			this.listen();
		}

		listen() {
			this.input.addEventListener("focus", () => { this.input.select(); });
			this.input.addEventListener("click", () => this.open(""));
			this.input.addEventListener("input", () => this.open(this.input.value));
			this.input.addEventListener("keydown", (event) => this.onKey(event));
			this.input.addEventListener("blur", () => this.leave());
		}

		isOpen() {
			return !this.drop.hidden;
		}

		open(text) {
			if (!this.isOpen() && this.spec.onOpen)
				this.spec.onOpen();
			this.typed = text;
			this.drop.hidden = this.list.hidden = false;
			this.input.setAttribute("aria-expanded", "true");
			this.fill();
			this.keepInside();
		}

		close() {
			this.drop.hidden = this.list.hidden = true;
			this.input.setAttribute("aria-expanded", "false");
			this.input.removeAttribute("aria-activedescendant");
		}

		/* A list at the right border opens to the left. */
		keepInside() {
			this.drop.classList.remove("to-left");
			if (this.drop.getBoundingClientRect().right > document.documentElement.clientWidth)
				this.drop.classList.add("to-left");
		}

		fill() {
			const all = this.options.filter((o) => matches(o, this.typed || ""));
			this.shown = all.slice(0, MAX_SHOWN);
			this.list.replaceChildren(...this.shown.map((o, i) => optionNode(this.spec.id + "-" + i, o, (v) => this.pick(v))));
			this.more.hidden = all.length > 0 && all.length === this.shown.length;
			this.more.textContent = all.length ? all.length - this.shown.length + " more: type to find them" : this.emptyText();
			const now = this.shown.findIndex((o) => o.value === this.value);
			this.mark(this.typed ? (this.shown.length ? 0 : -1) : now);
		}

		emptyText() {
			if (this.spec.free && this.typed)
				return "Enter takes it as it is";
			return this.options.length ? "none with these letters" : "none here";
		}

		mark(i) {
			this.active = i;
			[...this.list.children].forEach((node, k) => node.setAttribute("aria-selected", String(k === i)));
			if (i < 0) {
				this.input.removeAttribute("aria-activedescendant");
				return;
			}
			this.input.setAttribute("aria-activedescendant", this.list.children[i].id);
			this.list.children[i].scrollIntoView({ block: "nearest" });
		}

		move(by) {
			if (!this.isOpen())
				return this.open("");
			const n = this.shown.length;
			return n && this.mark(this.active < 0 ? (by > 0 ? 0 : n - 1) : (this.active + by + n) % n);
		}

		onKey(event) {
			const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
			if (Object.hasOwn(moves, event.key)) {
				this.move(moves[event.key]);
			} else if (event.key === "Enter") {
				this.enter();
			} else if (event.key === "Escape" && this.isOpen()) {
				this.close();
				this.show();
			} else {
				return;
			}
			event.preventDefault();
			event.stopPropagation();
		}

		enter() {
			if (!this.isOpen())
				this.open("");
			else if (this.active >= 0)
				this.pick(this.shown[this.active].value);
			else if (this.spec.free && this.input.value !== "")
				this.pick(this.input.value);
		}

		leave() {
			const typed = this.input.value;
			this.close();
			if (this.spec.free && typed !== this.textOf(this.value))
				this.pick(typed);
			else
				this.show();
		}

		pick(value) {
			this.close();
			this.setValue(value);
			this.spec.onPick(value);
		}

		textOf(value) {
			const option = this.options.find((o) => o.value === value);
			return option ? option.text : value;
		}

		show() {
			if (document.activeElement !== this.input || !this.isOpen())
				this.input.value = this.textOf(this.value);
			this.input.title = this.input.value;
		}

		setValue(value) {
			this.value = value;
			this.show();
		}

		/* [{value, text, share 0…1, note}] */
		setOptions(options) {
			this.options = options;
			if (!this.isOpen()) {
				this.show();
				return;
			}
			const marked = this.active >= 0 && this.shown[this.active] ? this.shown[this.active].value : null;
			this.fill();
			if (marked !== null)
				this.mark(this.shown.findIndex((o) => o.value === marked));
		}

		focus() {
			this.input.focus();
			this.open("");
		}
	}

	xagent.picker = { create: (spec) => new Picker(spec) };
})((globalThis.xagent = globalThis.xagent || {}));
