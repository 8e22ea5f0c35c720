/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands over the flame graph for a moment: the tooltip of a frame and its menu. xagent.tip.
 *
 * Texts are put in as text, never as HTML. Both stay inside of the window.
 */
(function () {
	"use strict";

	const { format, colour } = globalThis.xagent;
	const MARGIN = 8;
	/* Longer names are those of templates, which nobody reads to the end here. */
	const LONGEST_NAME = 600;

	/** An element with properties of its style, and texts or elements in it. */
	function element(tag, style, ...content) {
		const made = document.createElement(tag);
		Object.assign(made.style, style);
		made.append(...content);
		return made;
	}

	function cut(name) {
		return name.length > LONGEST_NAME ? name.slice(0, LONGEST_NAME) + "…" : name;
	}

	/** A promise. Pages that come by plain HTTP from another host may not use the clipboard directly. */
	function copy(text) {
		if (navigator.clipboard)
			return navigator.clipboard.writeText(text);
		const area = element("textarea", { position: "fixed", opacity: "0" });
		const before = document.activeElement;
		area.value = text;
		document.body.append(area);
		area.select();
		const done = document.execCommand("copy");
		area.remove();
		if (before)
			before.focus();
		return done ? Promise.resolve() : Promise.reject(new Error("copying is not allowed here"));
	}

	function fact(label, value) {
		return [
			element("dt", { color: "var(--flame-muted)", margin: "0" }, label),
			element("dd", { margin: "0", textAlign: "right", fontVariantNumeric: "tabular-nums" }, value),
		];
	}

	/** Facts of a frame in words: [[label, value], …]. `zoom` is the node that is shown as the whole. */
	function facts(tree, node, zoom) {
		const amount = (n, whole) => `${format.value(n, tree.unit)} · ${format.share(n, whole)}`;
		const list = [];
		if (tree.totalRight)
			return diffFacts(tree, node, amount);
		list.push([tree.inverted ? "calls into" : "total", amount(tree.total[node], tree.whole)]);
		if (!tree.inverted)
			list.push(["self", amount(tree.self[node], tree.whole)]);
		if (zoom && node >= zoom && node < tree.end[zoom])
			list.push(["of the zoomed frame", format.share(tree.total[node], tree.total[zoom])]);
		return list;
	}

	function diffFacts(tree, node, amount) {
		const before = tree.whole ? tree.total[node] / tree.whole : 0;
		const after = tree.wholeRight ? tree.totalRight[node] / tree.wholeRight : 0;
		const factor = before && after ? `×${format.number(after / before)}` : before ? "gone" : "new";
		const list = [
			["before", amount(tree.total[node], tree.whole)],
			["after", amount(tree.totalRight[node], tree.wholeRight)],
			["change", `${format.points(before, after)}, ${factor}`],
		];
		if (!tree.inverted)
			list.push(["self", `${format.value(tree.self[node], tree.unit)} → ${format.value(tree.selfRight[node], tree.unit)}`]);
		return list;
	}

	/** What kind of code a frame is, in words. */
	function describe(tree, node) {
		if (!node && tree.whole === tree.sum)
			return "all samples";
		const name = tree.names[tree.name[node]];
		const { object, note } = format.frame(name);
		const kind = colour.KINDS[colour.kinds(tree)[tree.name[node]]];
		return [kind.id === "app" || kind.id === "note" ? "" : kind.label, object && `in ${object}`, note].filter(Boolean).join(" · ");
	}

	const FLOATING = {
		position: "fixed", zIndex: "1000", display: "none", boxSizing: "border-box", color: "var(--flame-text)",
		background: "var(--flame-surface)", border: "1px solid var(--flame-edge)", borderRadius: "8px",
		boxShadow: "0 6px 24px rgba(0,0,0,.22)", font: '13px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
	};

	/* Right below the point, or where there is room. */
	function place(box, x, y, gap) {
		box.style.display = "block";
		const { width, height } = box.getBoundingClientRect();
		const { clientWidth, clientHeight } = document.documentElement;
		const left = x + gap + width + MARGIN > clientWidth ? x - gap - width : x + gap;
		const top = y + gap + height + MARGIN > clientHeight ? y - gap - height : y + gap;
		box.style.left = Math.max(MARGIN, Math.min(left, clientWidth - width - MARGIN)) + "px";
		box.style.top = Math.max(MARGIN, Math.min(top, clientHeight - height - MARGIN)) + "px";
	}

	function createTooltip(parent) {
		const box = element("div", {
			...FLOATING, pointerEvents: "none", padding: "8px 12px", maxWidth: "min(480px, calc(100vw - 16px))",
		});
		box.className = "flame-tooltip";
		/* What it says is read aloud from the frame itself. */
		box.setAttribute("aria-hidden", "true");
		parent.append(box);
		return {
			show(tree, node, zoom, x, y) {
				const kind = describe(tree, node);
				box.replaceChildren(
					element("div", { fontWeight: "600", overflowWrap: "anywhere" }, cut(tree.names[tree.name[node]])),
					...(kind ? [element("div", { color: "var(--flame-muted)", overflowWrap: "anywhere" }, kind)] : []),
					element("dl", { display: "grid", gridTemplateColumns: "auto auto", gap: "0 16px", margin: "4px 0 0" },
						...facts(tree, node, zoom).flatMap(([label, value]) => fact(label, value))));
				place(box, x, y, 14);
			},
			hide() {
				box.style.display = "none";
			},
		};
	}

	function menuItem(label, key, act) {
		const item = element("button", {
			display: "flex", justifyContent: "space-between", gap: "24px", width: "100%", padding: "7px 12px", border: "0",
			borderRadius: "5px", background: "transparent", color: "inherit", font: "inherit", textAlign: "left", cursor: "pointer",
			outlineOffset: "-2px", boxShadow: "none",
		}, label, element("span", { color: "var(--flame-muted)" }, key));
		item.type = "button";
		item.setAttribute("role", "menuitem");
		item.tabIndex = -1;
		item.addEventListener("click", act);
		const light = (on) => () => {
			item.style.background = on ? "color-mix(in srgb, var(--flame-muted) 18%, transparent)" : "transparent";
		};
		item.addEventListener("pointerenter", () => item.focus());
		item.addEventListener("focus", light(true));
		item.addEventListener("blur", light(false));
		return item;
	}

	function moveInMenu(box, event) {
		const items = [...box.querySelectorAll("[role=menuitem]")];
		const at = items.indexOf(document.activeElement);
		const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
		if (to !== undefined)
			items[(to + items.length) % items.length].focus();
		return to !== undefined;
	}

	/** `back` is called when it goes by the keyboard or by a choice, to take the focus back. */
	function createMenu(parent, back) {
		const box = element("div", { ...FLOATING, padding: "5px", minWidth: "220px", maxWidth: "calc(100vw - 16px)" });
		box.className = "flame-menu";
		box.setAttribute("role", "menu");
		parent.append(box);
		const isOpen = () => box.style.display === "block";
		const close = () => {
			box.style.display = "none";
		};
		const leave = () => {
			back();
			close();
		};
		box.addEventListener("keydown", (event) => {
			if (event.key === "Escape" || event.key === "Tab")
				leave();
			else if (!moveInMenu(box, event))
				return;
			event.preventDefault();
			event.stopPropagation();
		});
		box.addEventListener("focusout", (event) => {
			if (!box.contains(event.relatedTarget))
				close();
		});
		return {
			/** entries: [{label, key, act}]. */
			open(title, entries, x, y) {
				const head = element("div", {
					padding: "5px 12px 7px", fontWeight: "600", overflow: "hidden", textOverflow: "ellipsis", whiteSpace: "nowrap",
					maxWidth: "320px",
				}, title);
				box.setAttribute("aria-label", title);
				box.replaceChildren(head, ...entries.map(({ label, key, act }) => menuItem(label, key, () => {
					leave();
					act();
				})));
				place(box, x, y, 2);
				box.querySelector("[role=menuitem]").focus();
			},
			close, isOpen,
		};
	}

	const api = { element, copy, facts, describe, createTooltip, createMenu };
	globalThis.xagent.tip = api;
	if (typeof module !== "undefined")
		module.exports = api;
})();
