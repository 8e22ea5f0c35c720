/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flame graph: xagent.flame.create(host, options).
 *
 * It fills its host. A canvas as high as what is in sight sticks inside of a box that scrolls, so that 1,000 levels cost no more than
 * the 40 that are seen. To a screen reader it is a tree of which one item is there at a time: the frame that the keyboard stands on.
 * Needs format.js, tree.js, colour.js, layout.js, svg.js, paint.js and tip.js before it, in an order that agrees with standalone.html.
 *
 * options, all of them optional:
 *   title       of pictures, and what the graph is called when it is read aloud
 *   layout      "icicle", the root at the top (the default), or "flame"
 *   theme       "auto" (the default), "light", "dark"
 *   hues        of comparisons: "red-green" (the default), "blue-orange"
 *   legend      false: none
 *
 * The widget: setTree(tree, {keep}) (keep: zoom, focus and selection stay, as far as they are in the new tree), tree() (what is
 * shown, after focus() another than what was set), setLayout, setTheme, setHues, setTitle, zoomTo(node or path), zoomOut(), reset(),
 * select(node), search(text) -> {share, count, total, totalRight}, next(step) (to the next match), mark(name) (underlined wherever it
 * is; null: none), focus(name) (only what runs below it; null: all again), toSVG(), toPNG() -> Promise<Blob>, on(event, fn), state(),
 * stats() (of the last picture), destroy().
 *
 * Events: "zoom" and "select" {node, name, path}; "hover" {node} (-1: none); "focus" {name} or {name: null}: after focus() and its end;
 * "sandwich" {name}, "search" {text}, "copy" {text}: wished by key or menu, for the page to do. A wish that nobody listens to is
 * not offered, except for copying.
 */
(function () {
	"use strict";

	const { tree: trees, layout, colour, paint, svg, tip, format } = globalThis.xagent;
	const { element } = tip;
	const ROW = { fine: 20, coarse: 26 };
	const ZOOM_MS = 180;
	/* As long as Android takes. */
	const HOLD_MS = 500;
	/* When one picture takes longer, a zoom is not worth the pictures between. */
	const ANIMATION_BUDGET_MS = 24;
	/* Of both sides: browsers draw nothing on larger canvases. */
	const MAX_CANVAS_PX = 16384;
	/* Wider than this a frame can be pointed at. */
	const LEAST_RING_PX = 3;

	const HIDDEN = {
		position: "absolute", width: "1px", height: "1px", overflow: "hidden", clipPath: "inset(50%)", whiteSpace: "nowrap",
	};

	let created = 0;

	/* --- elements --- */

	/* Two lines, a light and a dark one: one of them shows on each colour. */
	function outline(colourName, width) {
		return element("div", {
			position: "absolute", display: "none", boxSizing: "border-box", pointerEvents: "none", borderRadius: "3px",
			border: `${width}px solid var(${colourName})`, boxShadow: "inset 0 0 0 1px var(--flame-background)",
		});
	}

	function createItem(id) {
		const item = element("div", { ...HIDDEN, top: "0", left: "0" });
		item.id = id;
		item.setAttribute("role", "treeitem");
		return item;
	}

	function createElements(host) {
		const id = `flame-${++created}`;
		const canvas = element("canvas", { display: "block", position: "sticky", top: "0", width: "100%" });
		canvas.setAttribute("role", "presentation");
		const hover = outline("--flame-ring", 1);
		const ring = outline("--flame-ring", 2);
		/* Two, in turn: that another one is the active one is what makes a screen reader speak. */
		const items = [createItem(`${id}-a`), createItem(`${id}-b`)];
		const space = element("div", { position: "relative", width: "100%", overflow: "hidden" }, hover, ring);
		const sheet = element("div", { position: "relative", width: "100%" }, canvas, space, ...items);
		const box = element("div", {
			flex: "1 1 auto", minHeight: "0", maxHeight: "100vh", overflowX: "hidden", overflowY: "auto", position: "relative",
			outlineOffset: "2px", cursor: "default",
		}, sheet);
		const legend = element("div", {
			display: "flex", flexWrap: "wrap", gap: "4px 14px", padding: "8px 2px 0", fontSize: "12px", color: "var(--flame-muted)",
			alignItems: "center",
		});
		const live = element("div", HIDDEN);
		live.setAttribute("aria-live", "polite");
		box.tabIndex = 0;
		box.className = "flame-box";
		box.setAttribute("role", "tree");
		legend.className = "flame-legend";
		const root = element("div", {
			display: "flex", flexDirection: "column", height: "100%", minHeight: "120px", position: "relative",
			font: '13px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
		}, box, legend, live);
		root.className = "flame";
		space.style.position = "absolute";
		space.style.top = "0";
		host.replaceChildren(root);
		return { root, box, sheet, space, canvas, hover, ring, items, legend, live, id };
	}

	/* --- geometry --- */

	function levelsShown(w) {
		return layout.deepest(w.tree, w.zoom) + 1;
	}

	/* A flame stands on the floor of its box, however low it is. */
	function contentHeight(w) {
		const needed = w.levels * w.row;
		return w.layout === "flame" ? Math.max(needed, w.el.box.clientHeight) : needed;
	}

	function topOf(w, level) {
		return w.layout === "flame" ? contentHeight(w) - (level + 1) * w.row : level * w.row;
	}

	function levelAt(w, y) {
		return Math.floor((w.layout === "flame" ? contentHeight(w) - 1 - y : y) / w.row);
	}

	function width(w) {
		return Math.max(1, w.el.box.clientWidth);
	}

	function shownHeight(w) {
		return Math.min(w.el.box.clientHeight, 2 * window.innerHeight, contentHeight(w));
	}

	function viewOf(w) {
		const top = w.el.box.scrollTop;
		const ends = [levelAt(w, top), levelAt(w, top + shownHeight(w))].sort((a, b) => a - b);
		return { from: w.from, to: w.to, width: width(w), first: ends[0], last: Math.min(ends[1], w.levels - 1) };
	}

	/* Where a node is on the sheet, in pixels; never narrower than what can be seen. */
	function boxOf(w, node) {
		const scale = width(w) / (w.to - w.from);
		const left = Math.max(0, (w.tree.x[node] - w.from) * scale);
		const right = Math.min(width(w), (w.tree.x[node] + w.tree.weight[node] - w.from) * scale);
		return {
			left: Math.min(left, width(w) - LEAST_RING_PX), top: topOf(w, w.tree.depth[node]),
			width: Math.max(LEAST_RING_PX, right - left), height: w.row,
		};
	}

	/* --- drawing --- */

	/* A flame is measured from its root, at the bottom: what is in sight stays where it is when there is more or less above. */
	function fitSheet(w) {
		const height = contentHeight(w);
		const grown = w.layout === "flame" ? height - w.el.sheet.offsetHeight : 0;
		w.el.sheet.style.height = height + "px";
		w.el.space.style.height = height + "px";
		if (w.pinned)
			w.el.box.scrollTop = w.layout === "flame" ? height : 0;
		else if (grown)
			w.el.box.scrollTop += grown;
	}

	function fitCanvas(w, cssWidth, cssHeight) {
		const { canvas } = w.el;
		const ratio = window.devicePixelRatio || 1;
		const [pxWidth, pxHeight] = [Math.round(cssWidth * ratio), Math.max(1, Math.round(cssHeight * ratio))];
		if (canvas.width !== pxWidth || canvas.height !== pxHeight) {
			canvas.width = pxWidth;
			canvas.height = pxHeight;
		}
		canvas.style.height = cssHeight + "px";
		w.ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
		w.ctx.clearRect(0, 0, cssWidth, cssHeight);
	}

	function sceneOf(w, view, shift) {
		/* Asked for once: it needs the browser's layout. */
		const first = topOf(w, 0) - shift;
		const step = w.layout === "flame" ? -w.row : w.row;
		return {
			tree: w.tree, view, colours: w.colours, palette: w.palette, texts: w.texts, matches: w.text ? w.found.nodes : null,
			zoomDepth: w.tree.depth[w.zoom], marked: w.tree.names.indexOf(w.mark), row: w.row,
			topOf: (level) => first + level * step,
		};
	}

	function putOutline(w, box, node, shown) {
		box.style.display = shown ? "block" : "none";
		if (!shown)
			return;
		const at = boxOf(w, node);
		for (const side of ["left", "top", "width", "height"])
			box.style[side] = at[side] + "px";
	}

	function isInSight(w, node) {
		const { tree } = w;
		return node >= 0 && tree.x[node] < w.to && tree.x[node] + tree.weight[node] > w.from;
	}

	function drawOutlines(w) {
		putOutline(w, w.el.hover, w.hovered, isInSight(w, w.hovered));
		putOutline(w, w.el.ring, w.selected, w.ringed && isInSight(w, w.selected));
	}

	function draw(w) {
		const started = performance.now();
		w.frame = 0;
		fitSheet(w);
		fitCanvas(w, width(w), shownHeight(w));
		const bars = paint.paint(w.ctx, sceneOf(w, viewOf(w), w.el.box.scrollTop));
		drawOutlines(w);
		w.stats = { bars, ms: performance.now() - started };
	}

	function drawSoon(w) {
		w.frame ||= requestAnimationFrame(() => !w.gone && draw(w));
	}

	/* --- theme --- */

	function themeOf(w) {
		return w.theme === "auto" ? (w.dark.matches ? "dark" : "light") : w.theme;
	}

	function legendItem({ label, fill }) {
		const swatch = element("span", { width: "12px", height: "12px", borderRadius: "3px", background: fill, flex: "none" });
		return element("span", { display: "inline-flex", alignItems: "center", gap: "6px" }, ...(fill ? [swatch] : []), label);
	}

	function drawLegend(w) {
		const { legend } = w.el;
		legend.style.display = w.options.legend === false ? "none" : "flex";
		legend.style.columnGap = w.tree.totalRight ? "4px" : "14px";
		legend.replaceChildren(...colour.legend(w.tree, themeOf(w), w.hues).map(legendItem));
	}

	function applyTheme(w) {
		w.palette = colour.palette(themeOf(w), { diff: Boolean(w.tree.totalRight), hues: w.hues });
		for (const name of ["text", "background", "muted", "edge", "surface", "ring", "accent"])
			w.el.root.style.setProperty(`--flame-${name}`, w.palette[name]);
		drawLegend(w);
		drawSoon(w);
	}

	/* --- events --- */

	function emit(w, event, detail) {
		const listeners = w.listeners.get(event) || [];
		for (const listener of [...listeners])
			listener(detail);
		return listeners.length;
	}

	function nameOf(w, node) {
		return w.tree.names[w.tree.name[node]];
	}

	function detailOf(w, node) {
		return { node, name: nameOf(w, node), path: trees.path(w.tree, node) };
	}

	function say(w, text) {
		w.el.live.textContent = text;
	}

	/* --- zoom --- */

	function wantsMotion(w) {
		return !w.still.matches && w.stats.ms < ANIMATION_BUDGET_MS && document.visibilityState === "visible";
	}

	function settle(w, from, to) {
		w.from = from;
		w.to = to;
		drawSoon(w);
	}

	function animate(w, from, to) {
		const start = { from: w.from, to: w.to, at: performance.now() };
		const turn = ++w.motion;
		const step = (now) => {
			if (w.gone || turn !== w.motion)
				return;
			const part = Math.min(1, Math.max(0, (now - start.at) / ZOOM_MS));
			const eased = 1 - (1 - part) ** 3;
			w.from = start.from + (from - start.from) * eased;
			w.to = start.to + (to - start.to) * eased;
			draw(w);
			if (part < 1)
				requestAnimationFrame(step);
		};
		requestAnimationFrame(step);
	}

	function setZoom(w, node, still) {
		w.zoom = node;
		w.motion++;
		w.levels = levelsShown(w);
		fitSheet(w);
		w.tooltip.hide();
		const to = w.tree.x[node] + w.tree.weight[node];
		if (still || !wantsMotion(w))
			settle(w, w.tree.x[node], to);
		else
			animate(w, w.tree.x[node], to);
	}

	function zoomTo(w, wanted) {
		const node = Array.isArray(wanted) ? trees.find(w.tree, wanted) : wanted;
		if (!(node >= 0 && node < w.tree.n) || node === w.zoom || !w.tree.weight[node])
			return;
		if (layout.isWithin(w.tree, node, w.zoom))
			w.back.push(w.zoom);
		else
			w.back = w.back.filter((before) => before !== node && layout.isWithin(w.tree, node, before));
		setZoom(w, node);
		revealLevel(w, node);
		emit(w, "zoom", detailOf(w, node));
		say(w, `zoomed: ${describeNode(w, node)}`);
	}

	/* One step back; out of a function in focus at last. False: there is nothing to go back from. */
	function zoomOut(w) {
		if (w.zoom) {
			const node = w.back.length ? w.back.pop() : 0;
			setZoom(w, node);
			emit(w, "zoom", detailOf(w, node));
			say(w, node ? `back at ${nameOf(w, node)}` : "all is shown");
			return true;
		}
		if (w.focused === null)
			return false;
		focus(w, null);
		return true;
	}

	/* --- which tree --- */

	function measure(w) {
		return (text) => {
			w.ctx.font = paint.FONT;
			return w.ctx.measureText(text).width;
		};
	}

	function showTree(w, tree, keep) {
		const path = keep && w.tree ? trees.path(w.tree, w.zoom) : [];
		const selected = keep && w.tree && w.selected >= 0 ? trees.path(w.tree, w.selected) : null;
		w.tree = tree;
		w.texts = layout.texts(tree.names, measure(w));
		w.colours = colour.indices(tree);
		w.found = trees.search(tree, w.text);
		w.hovered = -1;
		w.back = [];
		w.selected = selected ? trees.find(tree, selected) : -1;
		w.tooltip.hide();
		setZoom(w, trees.find(tree, path), true);
		applyTheme(w);
		w.pinned ||= !keep;
		describeBox(w);
	}

	function setTree(w, tree, options) {
		const keep = Boolean(options && options.keep);
		w.base = tree;
		if (keep && w.focused !== null && tree.names.includes(w.focused)) {
			showTree(w, trees.callees(tree, w.focused), keep);
			return;
		}
		w.focused = null;
		showTree(w, tree, keep);
	}

	/* All that runs below a function becomes the tree; null: the whole again. */
	function focus(w, name) {
		if (name !== null && !w.base.names.includes(name))
			return;
		w.focused = name;
		showTree(w, name === null ? w.base : trees.callees(w.base, name));
		if (document.activeElement === w.el.box)
			stand(w, 0, true);
		emit(w, "focus", { name });
		say(w, name === null ? "all functions are shown" : `only what runs below ${name}`);
	}

	/* --- search --- */

	function search(w, text) {
		const isNew = w.text !== (text || "");
		w.text = text || "";
		w.found = trees.search(w.tree, w.text);
		drawSoon(w);
		if (w.text && isNew)
			say(w, `${format.number(w.found.count)} frames match, ${format.share(w.found.share, 1)}`);
		const { share, count, total, totalRight } = w.found;
		return { share, count, total, totalRight };
	}

	/* The next match from the selected frame on, in the order of the tree; from its end on at the beginning again. */
	function next(w, step) {
		const { nodes, count } = w.found;
		if (!count)
			return -1;
		let i = w.selected < 0 ? (step > 0 ? 0 : w.tree.n) : w.selected;
		do
			i = (i + step + w.tree.n) % w.tree.n;
		while (!nodes[i]);
		if (!layout.isWithin(w.tree, i, w.zoom))
			zoomTo(w, commonAbove(w, i));
		select(w, i, true);
		return i;
	}

	function commonAbove(w, node) {
		let above = w.zoom;
		while (!layout.isWithin(w.tree, node, above))
			above = w.tree.parent[above];
		return above;
	}

	/* --- selecting --- */

	function describeNode(w, node) {
		const { tree } = w;
		const kind = tip.describe(tree, node);
		const zoom = layout.isWithin(tree, node, w.zoom) ? w.zoom : 0;
		const words = tip.facts(tree, node, zoom).map(([label, value]) => `${label} ${value.replace(" · ", ", ")}`);
		const n = trees.children(tree, node).length;
		const below = tree.inverted ? ["callers", "caller"] : ["children", "child"];
		return [nameOf(w, node), kind, ...words, `depth ${tree.depth[node]}`, `${n} ${below[n === 1 ? 1 : 0]}`].filter(Boolean).join(", ");
	}

	function describeBox(w) {
		const { box } = w.el;
		box.setAttribute("aria-label", `${w.title || "Flame graph"}: ${format.whole(w.tree)}, ${format.number(w.tree.n)} frames. ` +
			"Arrow keys move, Enter zooms, Escape goes back.");
		if (w.selected < 0)
			box.removeAttribute("aria-activedescendant");
		else
			describeItem(w);
	}

	function describeItem(w) {
		const { tree, selected } = w;
		const item = w.el.items[(w.spoken ^= 1)];
		const siblings = selected ? trees.children(tree, tree.parent[selected]) : [0];
		item.setAttribute("aria-label", describeNode(w, selected));
		item.setAttribute("aria-level", tree.depth[selected] + 1);
		item.setAttribute("aria-setsize", siblings.length);
		item.setAttribute("aria-posinset", siblings.indexOf(selected) + 1);
		item.setAttribute("aria-selected", "true");
		w.el.items[w.spoken ^ 1].setAttribute("aria-selected", "false");
		w.el.box.setAttribute("aria-activedescendant", item.id);
	}

	function revealLevel(w, node) {
		const { box } = w.el;
		const top = topOf(w, w.tree.depth[node]);
		const bottom = top + w.row - box.clientHeight;
		if (top >= box.scrollTop && bottom <= box.scrollTop)
			return;
		w.pinned = false;
		w.revealing = true;
		box.scrollTop = top < box.scrollTop ? top : bottom;
	}

	/* The keyboard stands on this node from now on. */
	function stand(w, node, ringed) {
		w.selected = node;
		w.ringed = Boolean(ringed);
		describeItem(w);
		drawSoon(w);
	}

	function select(w, node, shown) {
		if (!(node >= 0 && node < w.tree.n))
			return;
		stand(w, node, shown);
		emit(w, "select", detailOf(w, node));
		if (!shown)
			return;
		revealLevel(w, node);
		showTipAt(w, node);
	}

	function showTipAt(w, node) {
		const at = boxOf(w, node);
		const sheet = w.el.sheet.getBoundingClientRect();
		w.tooltip.show(w.tree, node, w.zoom, sheet.left + at.left + Math.min(at.width, 60), sheet.top + at.top + w.row / 2);
	}

	/* --- pointer --- */

	function nodeUnder(w, event) {
		const sheet = w.el.sheet.getBoundingClientRect();
		const level = levelAt(w, event.clientY - sheet.top);
		return level < w.levels ? layout.nodeAt(w.tree, viewOf(w), level, event.clientX - sheet.left) : -1;
	}

	function hover(w, node, event) {
		if (node !== w.hovered) {
			w.hovered = node;
			drawOutlines(w);
			w.el.box.style.cursor = node < 0 ? "default" : "pointer";
			emit(w, "hover", { node });
		}
		if (node < 0 || w.menu.isOpen())
			w.tooltip.hide();
		else
			w.tooltip.show(w.tree, node, w.zoom, event.clientX, event.clientY);
	}

	/* Not every browser makes a context menu of a finger that stays. */
	function holdStart(w, event) {
		holdEnd(w);
		w.held = false;
		if (event.pointerType !== "touch")
			return;
		w.hold = setTimeout(() => {
			const node = nodeUnder(w, event);
			w.held = node >= 0;
			if (w.held)
				openMenuAt(w, node, event);
		}, HOLD_MS);
	}

	function holdEnd(w) {
		clearTimeout(w.hold);
	}

	function onClick(w, event) {
		if (w.held)
			return;
		const node = nodeUnder(w, event);
		if (node < 0)
			return;
		select(w, node);
		zoomTo(w, node);
	}

	/* --- wishes --- */

	function copy(w, text) {
		if (!emit(w, "copy", { text }))
			tip.copy(text).then(() => say(w, "copied"), () => say(w, "copying is not allowed here"));
	}

	function wish(w, what, node) {
		const name = nameOf(w, node);
		if (what === "copy")
			copy(w, name);
		else if (what === "focus" && node)
			focus(w, name);
		else if (what === "search")
			emit(w, "search", { text: name });
		else if (what === "sandwich" && node)
			emit(w, "sandwich", { name });
	}

	function openMenu(w, node, x, y) {
		const heard = (event) => (w.listeners.get(event) || []).length > 0;
		const entry = (label, key, act, offered) => (offered ? [{ label, key, act }] : []);
		select(w, node);
		w.tooltip.hide();
		w.menu.open(nameOf(w, node), [
			...entry("Zoom in", "Enter", () => zoomTo(w, node), node !== w.zoom),
			...entry("Only this function", "f", () => wish(w, "focus", node), node > 0 && !w.tree.inverted),
			...entry("Callers and callees", "s", () => wish(w, "sandwich", node), node > 0 && heard("sandwich")),
			...entry("Search for this name", "", () => wish(w, "search", node), node > 0 && heard("search")),
			...entry("Copy the name", "c", () => wish(w, "copy", node), true),
			...entry(w.zoom ? "Zoom out" : "All functions", "Esc", () => zoomOut(w), w.zoom || w.focused !== null),
		], x, y);
	}

	function onContextMenu(w, event) {
		const byKey = event.button !== 2 && !event.pointerType;
		const node = byKey ? Math.max(0, w.selected) : nodeUnder(w, event);
		if (node < 0)
			return;
		event.preventDefault();
		holdEnd(w);
		w.held = event.pointerType === "touch";
		openMenuAt(w, node, byKey ? null : event);
	}

	function openMenuAt(w, node, event) {
		const at = boxOf(w, node);
		const sheet = w.el.sheet.getBoundingClientRect();
		openMenu(w, node, event ? event.clientX : sheet.left + at.left, event ? event.clientY : sheet.top + at.top + w.row);
	}

	/* --- keyboard --- */

	function heaviestChild(tree, node) {
		const heavier = (best, child) => (best < 0 || tree.weight[child] > tree.weight[best] ? child : best);
		return trees.children(tree, node).reduce(heavier, -1);
	}

	/* Down the heaviest children to the end of the stack. */
	function hottestLeaf(tree, node) {
		for (let child; (child = heaviestChild(tree, node)) >= 0;)
			node = child;
		return node;
	}

	/* A bar beside this one; a sibling where there is one, else a cousin, as the eye would go. Never out of the zoom. */
	function besideOf(w, node, step) {
		const found = layout.beside(w.tree, node, step);
		return found >= 0 && layout.isWithin(w.tree, found, w.zoom) ? found : -1;
	}

	const MOVES = {
		child: (w, at) => heaviestChild(w.tree, at),
		parent: (w, at) => w.tree.parent[at],
		left: (w, at) => besideOf(w, at, -1),
		right: (w, at) => besideOf(w, at, 1),
		home: () => 0,
		end: (w, at) => hottestLeaf(w.tree, at),
	};

	function moveOf(w, key) {
		const down = w.layout === "flame" ? "parent" : "child";
		const up = w.layout === "flame" ? "child" : "parent";
		return { ArrowDown: down, ArrowUp: up, ArrowLeft: "left", ArrowRight: "right", Home: "home", End: "end" }[key];
	}

	function move(w, key) {
		const how = moveOf(w, key);
		if (!how)
			return false;
		const node = w.selected < 0 ? w.zoom : MOVES[how](w, w.selected);
		if (how === "home")
			zoomTo(w, 0);
		if (node >= 0)
			select(w, node, true);
		return true;
	}

	function command(w, event) {
		const at = Math.max(0, w.selected);
		const { key, shiftKey } = event;
		if (key === "Enter")
			zoomTo(w, at);
		else if (key === "Escape" || key === "Backspace")
			return zoomOut(w);
		else if (key === "n" || key === "N" || key === "p")
			next(w, key === "n" ? 1 : -1);
		else if (key === "c" || key === "f" || key === "s")
			wish(w, { c: "copy", f: "focus", s: "sandwich" }[key], at);
		else if (key === "ContextMenu" || (key === "F10" && shiftKey))
			openMenuAt(w, at, null);
		else
			return false;
		return true;
	}

	function onKey(w, event) {
		if (event.ctrlKey || event.metaKey || event.altKey || event.target !== w.el.box)
			return;
		if (move(w, event.key) || command(w, event)) {
			event.preventDefault();
			event.stopPropagation();
		}
	}

	/* --- pictures --- */

	function toSVG(w) {
		const matches = w.text ? w.found.nodes : null;
		return svg.draw(w.tree, { title: w.title, layout: w.layout, zoom: w.zoom, hues: w.hues, matches });
	}

	/* All levels, also those to which one would have to scroll; on the ground of the theme. */
	function toPNG(w) {
		const margin = 12;
		const head = w.title ? 36 : 0;
		const cssWidth = Math.max(800, width(w)) + 2 * margin;
		const from = w.tree.x[w.zoom];
		const to = from + w.tree.weight[w.zoom];
		const view = { from, to, width: cssWidth - 2 * margin, first: 0, last: w.levels - 1 };
		const levels = layout.deepestInSight(w.tree, view) + 1;
		const cssHeight = 2 * margin + head + levels * w.row;
		const ratio = Math.min(2, MAX_CANVAS_PX / cssWidth, MAX_CANVAS_PX / cssHeight);
		const canvas = element("canvas", {});
		canvas.width = Math.floor(cssWidth * ratio);
		canvas.height = Math.floor(cssHeight * ratio);
		const ctx = canvas.getContext("2d");
		ctx.scale(ratio, ratio);
		ctx.fillStyle = w.palette.background;
		ctx.fillRect(0, 0, cssWidth, cssHeight);
		ctx.fillStyle = w.palette.text;
		ctx.font = paint.FONT.replace("12px", "600 16px");
		ctx.fillText(w.title, margin, margin + 17, cssWidth - 2 * margin);
		ctx.translate(margin, margin + head);
		const scene = sceneOf(w, view, 0);
		scene.topOf = (level) => (w.layout === "flame" ? levels - 1 - level : level) * w.row;
		paint.paint(ctx, scene);
		return new Promise((resolve, reject) => canvas.toBlob((blob) => {
			if (blob)
				resolve(blob);
			else
				reject(new Error("the picture is too large for this browser"));
		}, "image/png"));
	}

	/* --- putting it together --- */

	function setLayout(w, name) {
		w.layout = name === "flame" ? "flame" : "icicle";
		w.pinned = true;
		w.hovered = -1;
		w.tooltip.hide();
		draw(w);
	}

	function listen(w) {
		const { box } = w.el;
		const add = (target, event, fn, options) => {
			target.addEventListener(event, fn, options);
			w.undo.push(() => target.removeEventListener(event, fn, options));
		};
		add(box, "pointermove", (event) => event.pointerType !== "touch" && hover(w, nodeUnder(w, event), event));
		add(box, "pointerleave", () => hover(w, -1));
		add(box, "pointerdown", (event) => holdStart(w, event));
		for (const event of ["pointerup", "pointercancel", "scroll"])
			add(box, event, () => holdEnd(w));
		add(box, "click", (event) => onClick(w, event));
		add(box, "contextmenu", (event) => onContextMenu(w, event));
		add(box, "keydown", (event) => onKey(w, event));
		add(box, "scroll", () => {
			const below = box.scrollHeight - box.clientHeight - box.scrollTop;
			w.pinned = (w.layout === "flame" ? below : box.scrollTop) < 2;
			if (!w.revealing)
				hover(w, -1);
			w.revealing = false;
			draw(w);
		});
		add(box, "focus", () => {
			stand(w, w.selected < 0 ? w.zoom : w.selected, box.matches(":focus-visible"));
		});
		add(box, "blur", () => {
			w.ringed = false;
			w.tooltip.hide();
			drawOutlines(w);
		});
		add(w.dark, "change", () => applyTheme(w));
		add(window, "resize", () => drawSoon(w));
		const watched = new ResizeObserver(() => !w.gone && draw(w));
		watched.observe(box);
		w.undo.push(() => watched.disconnect());
	}

	function destroy(w) {
		w.gone = true;
		for (const undo of w.undo)
			undo();
		w.el.root.remove();
	}

	function newState(host, options) {
		const el = createElements(host);
		const w = {
			el, options, ctx: el.canvas.getContext("2d"), title: options.title || "", theme: options.theme || "auto",
			hues: options.hues || "red-green", layout: options.layout === "flame" ? "flame" : "icicle",
			dark: window.matchMedia("(prefers-color-scheme: dark)"), still: window.matchMedia("(prefers-reduced-motion: reduce)"),
			row: window.matchMedia("(pointer: coarse)").matches ? ROW.coarse : ROW.fine, listeners: new Map(), undo: [],
			tree: null, base: null, focused: null, zoom: 0, from: 0, to: 1, levels: 1, back: [], selected: -1, hovered: -1, ringed: false,
			text: "", mark: null, found: null, hold: 0, held: false, pinned: true, revealing: false, motion: 0, frame: 0, spoken: 0,
			stats: { bars: 0, ms: 0 }, gone: false,
		};
		w.tooltip = tip.createTooltip(el.root);
		w.menu = tip.createMenu(el.root, () => el.box.focus());
		return w;
	}

	function widget(w) {
		return {
			element: w.el.root,
			setTree: (tree, options) => setTree(w, tree, options),
			tree: () => w.tree,
			setLayout: (name) => setLayout(w, name),
			setTheme: (theme) => ((w.theme = theme), applyTheme(w)),
			setHues: (hues) => ((w.hues = hues), applyTheme(w)),
			setTitle: (title) => ((w.title = title), describeBox(w)),
			zoomTo: (node) => zoomTo(w, node),
			zoomOut: () => zoomOut(w),
			reset() {
				if (w.focused !== null)
					focus(w, null);
				zoomTo(w, 0);
			},
			select: (node) => select(w, node, true),
			search: (text) => search(w, text),
			mark: (name) => ((w.mark = name), drawSoon(w)),
			next: (step = 1) => next(w, step),
			focus: (name) => focus(w, name),
			toSVG: () => toSVG(w),
			toPNG: () => toPNG(w),
			on(event, listener) {
				w.listeners.set(event, [...(w.listeners.get(event) || []), listener]);
			},
			state: () => ({ zoom: trees.path(w.tree, w.zoom), focus: w.focused, search: w.text, layout: w.layout }),
			stats: () => ({ ...w.stats }),
			destroy: () => destroy(w),
		};
	}

	const EMPTY = { names: ["total"], levels: [[0, 0, 0, 0]] };

	function create(host, options) {
		const w = newState(host, options || {});
		setTree(w, trees.fromFlamebearer(EMPTY));
		listen(w);
		return widget(w);
	}

	globalThis.xagent.flame = { create };
})();
