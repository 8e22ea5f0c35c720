/* SPDX-License-Identifier: Apache-2.0 */
/* Elements from code. All that a server said becomes text here, never markup. */
(function (xagent) {
	"use strict";

	const SVG = "http://www.w3.org/2000/svg";

	const GLYPHS = {
		refresh: ["M13.5 8a5.5 5.5 0 1 1-1.7-4", "M13.5 1.5V4.5H10.5"],
		sun: ["M8 5a3 3 0 1 0 0 6a3 3 0 0 0 0-6", "M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1"],
		moon: ["M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5Z"],
		system: ["M2 3h12v8H2zM6 14h4M8 11v3"],
		down: ["M4 6l4 4l4-4"],
		close: ["M4 4l8 8M12 4l-8 8"],
		plus: ["M8 3v10M3 8h10"],
		left: ["M10 3L5 8l5 5"],
		right: ["M6 3l5 5l-5 5"],
		out: ["M7 2a5 5 0 1 0 0 10a5 5 0 0 0 0-10M11 11l3.5 3.5M4.5 7h5"],
		clock: ["M8 2a6 6 0 1 0 0 12a6 6 0 0 0 0-12M8 4.5V8l2.5 1.5"],
		download: ["M8 2v8M4.5 7L8 10.5L11.5 7M2.5 13.5h11"],
		search: ["M7 2a5 5 0 1 0 0 10a5 5 0 0 0 0-10M11 11l3.5 3.5"],
		link: ["M6.5 9.5l3-3M7 4.5l1.3-1.3a3 3 0 0 1 4.4 4.3L11.5 9M9 11.5l-1.3 1.3a3 3 0 0 1-4.4-4.3L4.5 7"],
		play: ["M5 3.5v9l7-4.5z"],
		pause: ["M5.5 3.5v9M10.5 3.5v9"],
		swap: ["M3 5.5h10M10 2.5l3 3l-3 3M13 10.5H3M6 7.5l-3 3l3 3"],
	};

	function glyph(name) {
		const svg = document.createElementNS(SVG, "svg");
		svg.setAttribute("class", "glyph");
		svg.setAttribute("viewBox", "0 0 16 16");
		svg.setAttribute("aria-hidden", "true");
		for (const d of GLYPHS[name]) {
			const path = document.createElementNS(SVG, "path");
			path.setAttribute("d", d);
			svg.append(path);
		}
		return svg;
	}

	function setOne(node, name, value) {
		if (name === "text")
			node.textContent = value;
		else if (name === "on")
			for (const event of Object.keys(value))
				node.addEventListener(event, value[event]);
		else if (name === "vars")
			for (const key of Object.keys(value))
				node.style.setProperty("--" + key, value[key]);
		else if (value === true)
			node.setAttribute(name, "");
		else if (value !== false && value !== null && value !== undefined)
			node.setAttribute(name, value);
	}

	/* Attributes by name; `text`, `on` {event: function} and `vars` {custom property: value} besides. null children are left out. */
	function el(tag, attributes, ...children) {
		const node = document.createElement(tag);
		for (const name of Object.keys(attributes || {}))
			setOne(node, name, attributes[name]);
		node.append(...children.flat().filter((child) => child !== null && child !== undefined));
		return node;
	}

	function button(text, attributes, icon) {
		return el("button", { type: "button", ...attributes }, icon ? glyph(icon) : null, text || null);
	}

	/* A button with a picture alone: its name is said and shown when it is pointed at. */
	function iconButton(icon, name, attributes) {
		return el("button", { type: "button", class: "icon", "aria-label": name, title: name, ...attributes }, glyph(icon));
	}

	/* Buttons of which one is chosen. {root, set(value)} */
	function choice(name, options, onChoose, id) {
		const buttons = options.map((o) => el("button", {
			type: "button", title: o.title || o.text, id: id ? id + "-" + o.value : null,
			on: { click: () => onChoose(o.value) },
		}, o.text));
		const root = el("div", { class: "switch", role: "group", "aria-label": name, id }, buttons);
		const set = (value) => buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(options[i].value === value)));
		return { root, set };
	}

	function byId(id) {
		return document.getElementById(id);
	}

	/* To who hears the page instead of seeing it. */
	function announce(text) {
		const region = byId("announcer");
		if (region && region.textContent !== text)
			region.textContent = text;
	}

	function isTyping(target) {
		return target instanceof Element && target.matches("input, textarea, select, [contenteditable]");
	}

	/* For a moment, beside the button that did it. */
	function flash(node, text) {
		const kept = [...node.childNodes];
		if (node.dataset.flash)
			return;
		node.dataset.flash = "1";
		node.replaceChildren(text);
		window.setTimeout(() => {
			node.replaceChildren(...kept);
			delete node.dataset.flash;
		}, 1400);
		announce(text);
	}

	xagent.dom = { el, button, iconButton, glyph, choice, byId, announce, isTyping, flash };
})((globalThis.xagent = globalThis.xagent || {}));
