/* SPDX-License-Identifier: Apache-2.0 */
/* What to say when there is nothing to show: what is the matter, and what to do about it. */
(function (xagent) {
	"use strict";

	const { el, button } = xagent.dom;

	/* After the first interval, for a slow start; then something is wrong. */
	const PATIENCE_S = 60;

	const STORE_EXAMPLE = 'pyroscope.store "local" { }\n\npyroscope.ebpf "host" {\n\tforward_to = [pyroscope.store.local.receiver]\n}\n';

	function box(id, title, ...content) {
		return el("div", { class: "notice", id }, el("h2", { text: title }), ...content);
	}

	function text(words) {
		return el("p", { text: words });
	}

	function toStatus() {
		return el("a", { href: "#view=status", text: "How the agent is, and what it sees" });
	}

	function noStoreHint() {
		return el("div", { class: "hint" },
			text("To look at profiles here, add a store to the configuration and send profiles to it (to servers, too, if you like):"),
			el("pre", { class: "example", text: STORE_EXAMPLE }),
			el("p", {}, "Or start the agent without a configuration: ", el("code", { text: "xagent run" }), "."));
	}

	function noStore() {
		return box("notice-nostore", "This agent keeps no profiles itself", noStoreHint(), el("p", {}, toStatus()));
	}

	/* Seconds to the first profile, by when the agent was started. */
	function expected(status, intervalS) {
		const age = (status.now_ms - status.started_ms) / 1000;
		return { age, left: Math.max(1, Math.ceil(intervalS - age)) };
	}

	function waiting(status, intervalS) {
		const { age, left } = expected(status, intervalS);
		if (age > intervalS + PATIENCE_S)
			return box("notice-waiting", "Still no profile",
				text("The agent runs and its store is empty. Either nothing runs on this host, or nothing is selected."), el("p", {}, toStatus()));
		return box("notice-waiting", "The first profile is on its way",
			text(age < intervalS ? "It comes in about " + left + " s. This page shows it then." : "It comes any moment. This page shows it then."),
			el("progress", { max: String(intervalS), value: String(Math.min(intervalS, age)), "aria-label": "Until the first profile" }));
	}

	/* actions: [{text, run}] */
	function nothing(words, actions) {
		return box("notice-nothing", "Nothing was sampled here", text(words),
			el("p", { class: "actions" }, actions.map((a) => button(a.text, { on: { click: a.run } }))));
	}

	function wrongQuery(message, onClear) {
		return box("notice-query", "The filter cannot be understood", el("p", { class: "mono", text: message }),
			el("p", { class: "actions" }, button("Remove the filter", { on: { click: onClear } })));
	}

	function auth() {
		return box("notice-auth", "This agent asks for a name and a password",
			text("They were not given, or are not right. Load the page again to be asked."),
			el("p", { class: "actions" }, button("Load again", { on: { click: () => window.location.reload() } })));
	}

	function broken(message) {
		return box("notice-broken", "The agent could not answer", el("p", { class: "mono", text: message }));
	}

	function loading() {
		return el("p", { class: "notice muted", id: "notice-loading", text: "Loading …" });
	}

	xagent.problems = { noStore, noStoreHint, waiting, nothing, wrongQuery, auth, broken, loading, expected };
})((globalThis.xagent = globalThis.xagent || {}));
