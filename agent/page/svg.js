/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flame graph as a picture that needs nothing else: xagent.svg.
 *
 * Each bar has a title, which browsers show under the pointer. Texts are as untrusted as anywhere: what XML reserves is
 * escaped, what it forbids is replaced. Bars have light colours and dark text, readable on a light and on a dark page. Pure.
 */
(function () {
	"use strict";

	const { layout, format, colour } = globalThis.xagent;
	const WIDTH = 1200;
	const ROW = 18;
	const MARGIN = 10;
	const HEAD = 44;
	const FOOT = 30;
	/* Of the sans-serif fonts that browsers take at 12 pixels, as wide as their wider letters: there is nothing to measure with. */
	const LETTER_PX = 7;

	/** For text and for values in quotes. XML has no way to write most control characters, nor half of a surrogate pair. */
	function escapeXml(text) {
		return String(text).replace(/\p{Surrogate}/gu, "\ufffd").replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
			.replace(/[&<>"'\r\n\t]/g, (c) => `&#${c.charCodeAt(0)};`);
	}

	function titleOf(tree, i) {
		const name = tree.names[tree.name[i]];
		const one = (total, self, whole) =>
			`${format.value(total, tree.unit)}, ${format.share(total, whole)}` +
			(tree.inverted ? "" : `, self ${format.value(self, tree.unit)}`);
		if (!tree.totalRight)
			return `${name}: ${one(tree.total[i], tree.self[i], tree.whole)}`;
		return `${name}: before ${one(tree.total[i], tree.self[i], tree.whole)}; after ` +
			one(tree.totalRight[i], tree.selfRight[i], tree.wholeRight);
	}

	const px = (n) => String(Math.round(n * 10) / 10);

	function barText(scene, node, left, top, width) {
		const room = width - 8;
		const text = room >= 4 * LETTER_PX ? scene.texts.fit(scene.tree.name[node], room) : "";
		return text ? `<text x="${px(left + 4)}" y="${px(top + 13)}">${escapeXml(text)}</text>` : "";
	}

	function bars(scene) {
		const { tree, palette, colours, matches, view } = scene;
		const lines = [];
		layout.eachBar(tree, view, (node, level, left, width, begin) => {
			const top = scene.topOf(level);
			const x = left + MARGIN;
			const first = tree.order[begin];
			const fill = matches && matches[first] ? palette.match : palette.fills[colours[first]];
			const box = `<rect x="${px(x)}" y="${px(top)}" width="${px(Math.max(0.5, width - 0.7))}" height="${ROW - 1}" ` +
				`rx="2" fill="${fill}"/>`;
			lines.push(node < 0 ? box : `<g><title>${escapeXml(titleOf(tree, node))}</title>${box}` +
				`${barText(scene, node, x, top, width)}</g>`);
		});
		return lines;
	}

	function legend(tree, y, hues) {
		let x = MARGIN;
		return colour.legend(tree, "light", hues).map(({ label, fill }) => {
			const swatch = fill ? `<rect x="${px(x)}" y="${y}" width="12" height="12" rx="2" fill="${fill}"/>` : "";
			x += fill ? 16 : 0;
			const text = label ? `<text class="page" x="${px(x)}" y="${y + 10}">${escapeXml(label)}</text>` : "";
			x += label ? 10 + label.length * LETTER_PX : 0;
			return swatch + text;
		});
	}

	const STYLE = `
text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: #1c2127; pointer-events: none; white-space: pre; }
.page { fill: #1c2127; } .title { font-size: 16px; font-weight: 600; } .sheet { fill: #ffffff; }
g:hover > rect { stroke: #000; stroke-width: 1px; }
@media (prefers-color-scheme: dark) { .sheet { fill: #14171b; } .page { fill: #f1f3f5; } g:hover > rect { stroke: #fff; } }
`;

	function viewOf(tree, zoom) {
		const view = {
			from: tree.x[zoom], to: tree.x[zoom] + tree.weight[zoom], width: WIDTH - 2 * MARGIN,
			first: 0, last: layout.deepest(tree, zoom),
		};
		return { ...view, last: layout.deepestInSight(tree, view) };
	}

	function frameOf(title, height, about) {
		return [
			'<?xml version="1.0" encoding="UTF-8"?>',
			`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
			`<title>${escapeXml(title)}</title>`,
			`<style>${STYLE}</style>`,
			'<rect class="sheet" width="100%" height="100%"/>',
			`<text class="page title" x="${MARGIN}" y="26">${escapeXml(title)}</text>`,
			`<text class="page" x="${WIDTH - MARGIN}" y="26" text-anchor="end">${escapeXml(about)}</text>`,
		];
	}

	/** options: {title, layout: "icicle" or "flame", zoom: node, matches, hues}. The text of an SVG file. */
	function draw(tree, options) {
		const { title, zoom = 0, matches, hues, layout: direction } = options || {};
		const view = viewOf(tree, zoom);
		const levels = view.last + 1;
		const height = HEAD + levels * ROW + FOOT;
		const scene = {
			tree, matches, view,
			palette: colour.palette("light", { diff: Boolean(tree.totalRight), hues }),
			colours: colour.indices(tree),
			texts: layout.texts(tree.names, (text) => text.length * LETTER_PX),
			topOf: (level) => HEAD + (direction === "flame" ? levels - 1 - level : level) * ROW,
		};
		const head = frameOf(title || "Flame graph", height, format.whole(tree));
		return [...head, ...bars(scene), ...legend(tree, height - 22, hues), "</svg>", ""].join("\n");
	}

	const api = { draw, escapeXml };
	globalThis.xagent.svg = api;
	if (typeof module !== "undefined")
		module.exports = api;
})();
