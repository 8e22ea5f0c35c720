/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bars on a canvas: xagent.paint.
 *
 * A scene is all that a picture depends on: {tree, view, colours (number of the colour of each node), palette, matches (null or
 * Uint8Array), marked (number of a name that is underlined, or -1), zoomDepth (ancestors above it are faded), row (height of a
 * level), topOf(level), texts}. Names are drawn where
 * they fit, see layout.texts(); what is too narrow for three letters stays empty.
 */
(function () {
	"use strict";

	const { layout } = globalThis.xagent;
	const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';
	const PADDING = 5;
	/* Three letters and an ellipsis. */
	const LEAST_TEXT_PX = 30;
	/* Narrower bars are drawn without a gap and square, so that many of them keep their mass. */
	const LEAST_ROUND_PX = 6;
	const MARK_PX = 2;

	function isFaded(scene, node, level) {
		return scene.matches ? !scene.matches[node] : level < scene.zoomDepth;
	}

	/* Who stands for several bars that are drawn as one: a match, so that none is overlooked, else the first. */
	function standIn(scene, begin, end) {
		const { order } = scene.tree;
		for (let k = begin; scene.matches && k < end; k++)
			if (scene.matches[order[k]])
				return order[k];
		return order[begin];
	}

	function fillOf(scene, node, level) {
		const { palette, matches, colours } = scene;
		if (isFaded(scene, node, level))
			return palette.fadedFills[colours[node]];
		return matches ? palette.match : palette.fills[colours[node]];
	}

	function drawBar(ctx, left, top, width, height) {
		if (width < LEAST_ROUND_PX) {
			ctx.fillRect(left, top, width > 2 ? width - 0.5 : width, height);
			return;
		}
		ctx.beginPath();
		ctx.roundRect(left, top, width - 1, height, 2);
		ctx.fill();
	}

	function drawMark(ctx, scene, level, left, width) {
		ctx.fillStyle = scene.palette.ring;
		ctx.fillRect(left, scene.topOf(level) + scene.row - 1 - MARK_PX, Math.max(1, width - 1), MARK_PX);
	}

	function drawLabels(ctx, scene, labels) {
		const { tree, palette, row, texts: names } = scene;
		ctx.font = FONT;
		ctx.textBaseline = "middle";
		for (const { node, level, left, width } of labels) {
			const room = width - 2 * PADDING;
			const text = names.fit(tree.name[node], room);
			if (!text)
				continue;
			ctx.fillStyle = isFaded(scene, node, level) ? palette.onFaded : palette.onFill;
			ctx.fillText(text, left + PADDING, scene.topOf(level) + row / 2, room);
		}
	}

	/** Draws all that is in sight; the number of bars. */
	function paint(ctx, scene) {
		const labels = [];
		let bars = 0;
		layout.eachBar(scene.tree, scene.view, (node, level, left, width, begin, end) => {
			ctx.fillStyle = fillOf(scene, node < 0 ? standIn(scene, begin, end) : node, level);
			drawBar(ctx, left, scene.topOf(level), width, scene.row - 1);
			if (node >= 0 && scene.tree.name[node] === scene.marked)
				drawMark(ctx, scene, level, left, width);
			bars++;
			if (node >= 0 && width >= LEAST_TEXT_PX)
				labels.push({ node, level, left, width });
		});
		drawLabels(ctx, scene, labels);
		return bars;
	}

	const api = { paint, FONT };
	globalThis.xagent.paint = api;
	if (typeof module !== "undefined")
		module.exports = api;
})();
