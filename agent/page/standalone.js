/* SPDX-License-Identifier: Apache-2.0 */
/* The page of one flame graph in one file: what stands around the widget, see standalone.html. */
(function () {
	"use strict";

	const { format, tree: trees, flame, tip } = globalThis.xagent;
	const { element } = tip;
	/* More rows than anybody reads; the search finds the others. */
	const TABLE_ROWS = 300;
	const at = (id) => document.getElementById(id);

	/* --- what is shown --- */

	function readProfile() {
		const profile = JSON.parse(at("xagent-profile").textContent);
		const tree = trees.fromFlamebearer(profile.flamebearer, { unit: profile.unit, diff: profile.diff });
		return { title: profile.title || "Flame graph", tree };
	}

	function fileName(page, ending) {
		const stem = page.title.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[-.]+|-+$/g, "").slice(0, 80);
		return (stem || "flamegraph") + ending;
	}

	function save(page, blob, ending) {
		const link = element("a", {});
		link.href = URL.createObjectURL(blob);
		link.download = fileName(page, ending);
		link.click();
		setTimeout(() => URL.revokeObjectURL(link.href), 10000);
	}

	/* --- theme --- */

	const THEME_WORDS = { auto: "Theme: auto", light: "Theme: light", dark: "Theme: dark" };
	const coarse = window.matchMedia("(pointer: coarse)");
	const dark = window.matchMedia("(prefers-color-scheme: dark)");

	function widgets(page) {
		return [page.graph, page.callers, page.callees].filter(Boolean);
	}

	function applyTheme(page) {
		document.documentElement.dataset.theme = page.theme === "auto" ? (dark.matches ? "dark" : "light") : page.theme;
		at("theme").textContent = THEME_WORDS[page.theme];
		for (const widget of widgets(page))
			widget.setTheme(page.theme);
	}

	function nextTheme(page) {
		page.theme = { auto: dark.matches ? "light" : "dark", light: "dark", dark: "light" }[page.theme];
		applyTheme(page);
	}

	/* --- search --- */

	function search(page, text) {
		at("search").value = text;
		page.text = text;
		const found = widgets(page).map((widget) => widget.search(text))[page.sandwiched ? 2 : 0];
		const one = found.count === 1 ? "frame" : "frames";
		at("found").textContent = text ? `${format.share(found.share, 1)} in ${format.number(found.count)} ${one}` : "";
		at("next").disabled = at("previous").disabled = !found.count;
		drawTable(page);
	}

	/* --- zoom, focus, sandwich --- */

	function ofAll(tree, path) {
		const node = trees.find(tree, path);
		const right = tree.totalRight ? tree.totalRight[node] : 0;
		return `, ${format.share(tree.total[node] + right, tree.whole + tree.wholeRight)} of all`;
	}

	function drawCrumb(page) {
		const { zoom, focus } = page.graph.state();
		const tree = page.graph.tree();
		const words = [];
		if (page.sandwiched)
			words.push("Callers and callees of ", element("b", {}, page.sandwiched));
		else if (zoom.length)
			words.push(focus === null ? "Zoomed to " : `In ${focus}: zoomed to `, element("b", {}, zoom.at(-1)), ofAll(tree, zoom));
		else if (focus !== null)
			words.push("Only ", element("b", {}, focus), ofAll(tree, []));
		else
			words.push(coarse.matches ? "Tap a frame to zoom in, hold it for more." :
				"Click a frame to zoom in, right click for more.");
		at("crumb").replaceChildren(...words);
		at("crumb").title = zoom.join(" › ");
		at("back").hidden = !page.sandwiched && !zoom.length && focus === null;
	}

	function listenTo(page, widget) {
		widget.on("sandwich", ({ name }) => sandwich(page, name));
		widget.on("search", ({ text }) => search(page, text));
		widget.on("zoom", () => drawCrumb(page));
		widget.on("focus", () => drawCrumb(page));
		widget.on("select", ({ node, name }) => widgets(page).forEach((each) => each.mark(node ? name : null)));
	}

	function createSide(page, id, layout) {
		const widget = flame.create(at(id), { layout, title: page.title, theme: page.theme, hues: page.hues, legend: false });
		listenTo(page, widget);
		return widget;
	}

	function showSandwich(page, shown) {
		at("sandwich").hidden = !shown;
		at("graph").hidden = shown;
		drawCrumb(page);
		search(page, page.text);
	}

	function sandwich(page, name) {
		const sides = trees.sandwich(page.tree, name);
		page.sandwiched = name;
		at("sandwich").hidden = false;
		page.callers ||= createSide(page, "callers", "flame");
		page.callees ||= createSide(page, "callees", "icicle");
				page.callers.setTree(sides.callers);
		page.callees.setTree(sides.callees);
		showSandwich(page, true);
		page.callees.element.querySelector("[role=tree]").focus();
	}

	function back(page) {
		if (!page.sandwiched)
			page.graph.zoomOut();
		page.sandwiched = "";
		showSandwich(page, false);
	}

	function reset(page) {
		page.sandwiched = "";
		page.graph.reset();
		search(page, "");
		showSandwich(page, false);
	}

	/* --- table --- */

	function columnsOf(tree) {
		const share = (side, whole) => (row) => (whole ? row[side] / whole : 0);
		const one = [
			{ id: "self", label: "Self", of: share("self", tree.sum) },
			{ id: "total", label: "Total", of: share("total", tree.sum) },
		];
		const [before, after] = [share("total", tree.sum), share("totalRight", tree.sumRight)];
		const two = [
			{ id: "before", label: "Before", of: before },
			{ id: "after", label: "After", of: after },
			{ id: "change", label: "Change", of: (row) => after(row) - before(row), signed: true },
		];
		return tree.totalRight ? two : one;
	}

	function compare(page) {
		const column = page.columns.find(({ id }) => id === page.sort);
		const sign = page.ascending ? -1 : 1;
		if (!column)
			return (a, b) => sign * (a.name < b.name ? 1 : a.name > b.name ? -1 : 0);
		const size = column.signed ? (row) => Math.abs(column.of(row)) : column.of;
		return (a, b) => sign * (size(b) - size(a));
	}

	function sortBy(page, id) {
		page.ascending = page.sort === id ? !page.ascending : id === "name";
		page.sort = id;
		drawTable(page);
	}

	function drawColumns(page) {
		const head = ({ id, label }) => {
			const button = element("button", {}, label + (page.sort === id ? (page.ascending ? " ↑" : " ↓") : ""));
			button.type = "button";
			button.addEventListener("click", () => {
				sortBy(page, id);
				at("columns").querySelector("[aria-sort] button").focus();
			});
			const cell = element("th", {}, button);
			cell.scope = "col";
			if (page.sort === id)
				cell.setAttribute("aria-sort", page.ascending ? "ascending" : "descending");
			return cell;
		};
		const actions = element("th", {});
		actions.setAttribute("aria-label", "Callers and callees");
		at("columns").replaceChildren(...[{ id: "name", label: "Function" }, ...page.columns].map(head), actions);
	}

	function rowButton(text, title, act) {
		const button = element("button", {}, text);
		button.type = "button";
		button.title = title;
		button.addEventListener("click", act);
		return button;
	}

	function tableRow(page, row) {
		const name = element("td", {}, rowButton(row.name, row.name, () => search(page, page.text === row.name ? "" : row.name)));
		const numbers = page.columns.map((column) => {
			const part = column.of(row);
			const cell = element("td", {}, column.signed ? format.points(0, part).replace(" pp", "") : format.share(part, 1));
			cell.className = column.signed ? "" : "meter";
			cell.style.setProperty("--part", `${(100 * Math.min(1, Math.abs(part))).toFixed(1)}%`);
			cell.title = column.signed ? format.points(0, part) : format.value(valueOf(page, row, column.id), page.tree.unit);
			return cell;
		});
		const open = rowButton("⇅", "Callers and callees", () => sandwich(page, row.name));
		open.setAttribute("aria-label", `Callers and callees of ${row.name}`);
		const made = element("tr", {}, name, ...numbers, element("td", {}, open));
		made.setAttribute("aria-current", String(page.text === row.name));
		return made;
	}

	function valueOf(page, row, id) {
		return { self: row.self, total: row.total, before: row.total, after: row.totalRight }[id];
	}

	function drawTable(page) {
		const wanted = trees.search(page.tree, page.text);
		const matching = new Set();
		if (page.text)
			wanted.nodes.forEach((is, node) => is && matching.add(page.tree.name[node]));
		const rows = page.rows.filter((row) => !page.text || matching.has(row.id)).sort(compare(page));
		drawColumns(page);
		at("rows").replaceChildren(...rows.slice(0, TABLE_ROWS).map((row) => tableRow(page, row)));
		at("more").hidden = rows.length > 0 && rows.length <= TABLE_ROWS;
		at("more").textContent = rows.length ? `${format.number(rows.length - TABLE_ROWS)} more functions: search for them` :
			page.text ? "No function matches." : "No samples: nothing ran while this was taken.";
	}

	/* --- the page --- */

	function setLayout(page, layout) {
		page.graph.setLayout(layout);
		for (const id of ["icicle", "flame"])
			at(id).setAttribute("aria-pressed", String(id === layout));
	}

	function setHues(page) {
		page.hues = page.hues === "red-green" ? "blue-orange" : "red-green";
		at("hues").textContent = page.hues === "red-green" ? "Blue and orange" : "Green and red";
		for (const widget of widgets(page))
			widget.setHues(page.hues);
	}

	function shownWidget(page) {
		return page.sandwiched ? page.callees : page.graph;
	}

	function savePng(page) {
		shownWidget(page).toPNG().then((blob) => save(page, blob, ".png"), (error) => {
			at("crumb").textContent = error.message;
		});
	}

	function listen(page) {
		const click = (id, act) => at(id).addEventListener("click", act);
		click("theme", () => nextTheme(page));
		click("help", () => at("keys").showModal());
		click("icicle", () => setLayout(page, "icicle"));
		click("flame", () => setLayout(page, "flame"));
		click("hues", () => setHues(page));
		click("reset", () => reset(page));
		click("back", () => back(page));
		click("next", () => shownWidget(page).next(1));
		click("previous", () => shownWidget(page).next(-1));
		click("svg", () => save(page, new Blob([shownWidget(page).toSVG()], { type: "image/svg+xml" }), ".svg"));
		click("png", () => savePng(page));
		click("folded", () => save(page, new Blob([trees.folded(page.tree)], { type: "text/plain" }), ".folded"));
		at("search").addEventListener("input", (event) => search(page, event.target.value));
		at("search").addEventListener("keydown", (event) => {
			if (event.key === "Enter")
				shownWidget(page).next(event.shiftKey ? -1 : 1);
			else if (event.key === "Escape" && page.text)
				search(page, "");
		});
		dark.addEventListener("change", () => applyTheme(page));
		document.addEventListener("keydown", (event) => onKey(page, event));
	}

	function onKey(page, event) {
		const typing = event.target.matches("input, textarea, select") || at("keys").open;
		if (typing || event.ctrlKey || event.metaKey || event.altKey)
			return;
		if (event.key === "/") {
			event.preventDefault();
			at("search").select();
			at("search").focus();
		} else if (event.key === "?")
			at("help").click();
		else if (event.key === "Escape" && page.sandwiched)
			back(page);
	}

	function start() {
		const { title, tree } = readProfile();
		const page = {
			title, tree, rows: trees.table(tree), columns: columnsOf(tree), sort: tree.totalRight ? "change" : "self", ascending: false,
			text: "", theme: "auto", hues: "red-green", sandwiched: "", graph: null, callers: null, callees: null,
		};
		document.title = title;
		at("title").textContent = title;
		at("about").textContent = format.whole(tree);
		at("hues").hidden = !tree.totalRight;
		page.graph = flame.create(at("graph"), { title });
		page.graph.setTree(tree);
		globalThis.xagent.standalone = page;
		listenTo(page, page.graph);
		listen(page);
		applyTheme(page);
		setLayout(page, "icicle");
		search(page, "");
		drawCrumb(page);
	}

	function problem(error) {
		document.querySelector("main").replaceChildren(element("p", {}, `This profile cannot be shown: ${error.message}`));
		document.querySelector("main p").className = "problem";
	}

	try {
		start();
	} catch (error) {
		problem(error);
		throw error;
	}
})();
