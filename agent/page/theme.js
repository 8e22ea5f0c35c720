/* SPDX-License-Identifier: Apache-2.0 */
/* Light or dark: the system's choice, or the reader's. Runs before the first paint. */
(function (xagent) {
	"use strict";

	const KEY = "xagent.theme";
	const CHOICES = ["system", "light", "dark"];
	const dark = window.matchMedia("(prefers-color-scheme: dark)");
	const listeners = [];
	let choice = "system";

	/* Storage may be forbidden; then the choice lasts as long as the page. */
	function load() {
		try {
			const kept = window.localStorage.getItem(KEY);
			return CHOICES.includes(kept) ? kept : "system";
		} catch {
			return "system";
		}
	}

	function save() {
		try {
			window.localStorage.setItem(KEY, choice);
		} catch {
			return;
		}
	}

	function now() {
		return choice === "system" ? (dark.matches ? "dark" : "light") : choice;
	}

	function apply() {
		document.documentElement.dataset.theme = now();
		for (const fn of listeners)
			fn(now());
	}

	function next() {
		choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
		save();
		apply();
		return choice;
	}

	/* A colour for a canvas, by the name of its property. */
	function colour(name) {
		return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
	}

	choice = load();
	apply();
	dark.addEventListener("change", apply);
	xagent.theme = { now, next, choice: () => choice, colour, on: (fn) => listeners.push(fn) };
})((globalThis.xagent = globalThis.xagent || {}));
