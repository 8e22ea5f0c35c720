/* SPDX-License-Identifier: Apache-2.0 */
/* Which labels: a chip for each matcher, a small form for a new one, and the selector as text for who knows it. */
(function (xagent) {
	"use strict";

	const { el, button, iconButton } = xagent.dom;
	const selector = xagent.selector;

	const WORDS = { "=": "is", "!=": "is not", "=~": "matches", "!~": "does not match" };

	/* What people see of names: private ones are the server's own. */
	function options(names) {
		return names.filter((name) => !name.startsWith("__")).map((name) => ({ value: name, text: name }));
	}

	function operatorSelect(id) {
		return el("select", { id: id + "-op", "aria-label": "How the value is compared" },
			selector.OPERATORS.map((op) => el("option", { value: op, text: WORDS[op] })));
	}

	/* spec = {id, load: {names(q), values(name, q)} -> Promise of [text], onChange(q)} */
	class Filters {
		constructor(spec) {
			this.spec = spec;
			this.q = "";
			this.editing = null;
			this.chips = el("span", { class: "chips", id: spec.id + "-chips", role: "list", "aria-label": "Label filters" });
			this.opener = button("Filter", { id: spec.id + "-open", class: "plain", title: "Filter by a label (f)",
				on: { click: () => { this.editing = null; } } }, "plus");
			this.buildForm();
			this.root = el("div", { class: "filters" }, this.chips, this.opener, this.panel);
			this.popover = xagent.popover.attach(this.opener, this.panel, () => this.onOpen());
		}

		buildForm() {
			const id = this.spec.id;
			this.name = xagent.picker.create({ id: id + "-name", label: "Label", placeholder: "label", free: true,
				onPick: () => this.onName() });
			this.op = operatorSelect(id);
			this.value = xagent.picker.create({ id: id + "-value", label: "Value", placeholder: "value", free: true, onPick: () => {} });
			this.text = el("textarea", { id: id + "-text", rows: 2, spellcheck: "false", "aria-label": "Selector as text",
				placeholder: '{host="db1", service_name=~"api.*"}' });
			this.problem = el("p", { class: "problem-text", role: "alert", id: id + "-problem", hidden: true });
			const submit = (fn) => (event) => { event.preventDefault(); fn.call(this); };
			this.panel = el("div", { class: "form", "aria-label": "Filter by a label", role: "dialog" },
				el("form", { on: { submit: submit(this.addOne) } },
					el("div", { class: "form-row" }, this.name.root, this.op, this.value.root,
						el("button", { type: "submit", class: "primary", id: id + "-add", text: "Apply" }))),
				el("details", { id: id + "-expert" }, el("summary", { text: "The whole selector as text" }),
					el("form", { on: { submit: submit(this.takeText) } }, this.text,
						el("div", { class: "form-row" },
							el("button", { type: "submit", id: id + "-text-apply", text: "Apply text" }),
							el("span", { class: "muted", text: "= != =~ !~, expressions match the whole value" })))),
				this.problem);
		}

		onOpen() {
			const m = this.editing || { name: "", op: "=", value: "" };
			this.name.setValue(m.name);
			this.op.value = m.op;
			this.value.setValue(m.value);
			this.value.setOptions([]);
			this.text.value = this.q;
			this.load(this.name, () => this.spec.load.names(this.others()));
			if (m.name)
				this.onName();
			return m.name ? this.value.input : this.name.input;
		}

		/* The selector without what is edited, so that the other values are offered. */
		others() {
			const all = selector.parse(this.q) || [];
			const name = this.editing ? this.editing.name : null;
			return selector.format(all.filter((m) => m.name !== name));
		}

		async load(picker, get) {
			try {
				picker.setOptions(options(await get()));
			} catch (error) {
				picker.setOptions([]);
			}
		}

		onName() {
			const name = this.name.value;
			this.value.setOptions([]);
			if (name)
				this.load(this.value, () => this.spec.load.values(name, this.others()));
		}

		addOne() {
			const m = { name: this.name.input.value.trim(), op: this.op.value, value: this.value.input.value };
			if (!/^[a-zA-Z_][a-zA-Z0-9_.]*$/.test(m.name))
				return this.setProblem("A label's name is made of letters, digits and _.");
			const rest = this.editing ? this.without(this.editing) : this.q;
			return this.change(selector.add(rest, m));
		}

		takeText() {
			this.change(this.text.value.trim());
		}

		without(m) {
			const text = selector.formatMatcher(m);
			const rest = (selector.parse(this.q) || []).filter((other) => selector.formatMatcher(other) !== text);
			return rest.length ? selector.format(rest) : "";
		}

		change(q) {
			this.setProblem("");
			this.popover.close();
			this.editing = null;
			this.spec.onChange(q);
		}

		edit(m) {
			this.editing = m;
			this.popover.open();
		}

		chip(m) {
			const text = m.name + " " + m.op + " " + (m.value === "" ? '""' : m.value);
			return el("span", { class: "chip", role: "listitem" },
				button(text, { class: "chip-text", title: "Change: " + text, on: { click: () => this.edit(m) } }),
				iconButton("close", "Remove the filter " + text, { class: "chip-close", on: { click: () => this.change(this.without(m)) } }));
		}

		rawChip() {
			return el("span", { class: "chip", role: "listitem" },
				button(this.q, { class: "chip-text mono", on: { click: () => this.openText() } }),
				iconButton("close", "Remove the selector", { class: "chip-close", on: { click: () => this.change("") } }));
		}

		openText() {
			this.popover.open();
			this.panel.querySelector("details").open = true;
			this.text.focus();
		}

		/* The service has a picker of its own. */
		setQuery(q) {
			const matchers = selector.parse(q);
			const service = selector.service(q);
			this.q = q;
			if (!matchers)
				this.chips.replaceChildren(this.rawChip());
			else
				this.chips.replaceChildren(...matchers.filter((m) => m.name !== selector.SERVICE || service === "").map((m) => this.chip(m)));
		}

		setProblem(text) {
			this.problem.textContent = text;
			this.problem.hidden = text === "";
		}

		focus() {
			this.editing = null;
			this.popover.open();
		}
	}

	xagent.filters = { create: (spec) => new Filters(spec) };
})((globalThis.xagent = globalThis.xagent || {}));
