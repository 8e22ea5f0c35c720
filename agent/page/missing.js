/* SPDX-License-Identifier: Apache-2.0 */
/* "Why is my process missing?": a pid or a part of a name, and what the agent knows of it. */
(function (xagent) {
	"use strict";

	const { el } = xagent.dom;

	function card(p) {
		return el("div", { class: "card", "data-profiled": String(p.profiled) },
			el("p", {}, el("span", { class: "badge", "data-state": p.profiled ? "healthy" : "unhealthy", text: p.profiled ? "profiled" : "not profiled" }),
				" ", el("strong", { text: p.name }), " ", el("span", { class: "muted", text: "pid " + p.pid })),
			el("p", { text: p.why }),
			p.fix ? el("p", {}, el("strong", { text: "To change that: " }), p.fix) : null,
			el("dl", { class: "facts" },
				el("div", {}, el("dt", { class: "muted", text: "Service" }), el("dd", { text: (p.service_name || "none") +
					(p.service_name_source ? " (from " + p.service_name_source + ")" : "") })),
				el("div", {}, el("dt", { class: "muted", text: "Program" }), el("dd", { class: "mono", text: p.exe || "unknown" }))));
	}

	/* spec = {onAsk(text)} */
	class Missing {
		constructor(spec) {
			this.input = el("input", { type: "search", id: "process", placeholder: "pid or part of a name", "aria-label": "A pid, or a part of the name of a process",
				autocomplete: "off", spellcheck: "false" });
			this.answer = el("div", { class: "cards", id: "process-answer", role: "status", "aria-live": "polite" });
			this.asked = "";
			this.root = el("section", { class: "panel", id: "status-missing", "aria-label": "Why is a process missing?" },
				el("div", { class: "panel-head" }, el("h2", { text: "Why is a process missing?" })),
				el("form", { class: "inside form-row", on: { submit: (event) => { event.preventDefault(); this.again(spec); } } },
					this.input, el("button", { type: "submit", class: "primary", id: "process-ask", text: "Find out" })),
				this.answer);
		}

		again(spec) {
			this.asked = "";
			spec.onAsk(this.input.value.trim());
			this.set(this.input.value.trim());
		}

		set(text) {
			if (text === this.asked)
				return;
			this.asked = text;
			this.input.value = text;
			this.answer.replaceChildren();
			if (text !== "")
				this.ask(text);
		}

		async ask(text) {
			let nodes;
			try {
				const answer = await xagent.api.process(text);
				const list = answer.processes || [];
				nodes = list.length ? list.map(card) : [el("p", { text: answer.why || "There is no such process." })];
			} catch (error) {
				nodes = [el("p", { class: "problem-text", text: error.kind === "gone" ? "The agent does not answer." : error.message || "This server cannot tell." })];
			}
			if (this.asked === text)
				this.answer.replaceChildren(...nodes);
		}
	}

	xagent.missing = { create: (spec) => new Missing(spec) };
})((globalThis.xagent = globalThis.xagent || {}));
