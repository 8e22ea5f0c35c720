/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bars of a tree can be seen, and where: xagent.layout.
 *
 * A view is {from, to, width, first, last}: a range of x of the tree shown on so many pixels, and the levels in sight. What is drawn
 * follows from it alone, so that a tree of 100,000 nodes costs no more than what fits on the screen: a level is entered by binary
 * search, and neighbours that are too narrow for a bar of their own become one. Pure.
 */
(function () {
	"use strict";

	const { format } = globalThis.xagent;
	/* Half a pixel: less cannot be seen. */
	const LEAST_PX = 0.5;

	/* Place in tree.order of the first bar of a level that ends right of x. */
	function firstEndingAfter(tree, level, x) {
		let low = tree.levelStart[level];
		let high = tree.levelStart[level + 1];
		while (low < high) {
			const middle = (low + high) >> 1;
			const i = tree.order[middle];
			if (tree.x[i] + tree.weight[i] > x)
				high = middle;
			else
				low = middle + 1;
		}
		return low;
	}

	/*
	 * From k on, neighbours that are too narrow, until they are wide enough together: {end, next}, where the last of them ends and who
	 * comes after. Not more of them, or many small functions would look like one that is large.
	 */
	function narrowRun(tree, k, stop, least) {
		const start = tree.x[tree.order[k]];
		let end = start;
		for (; k < stop && end - start < 2 * least; k++) {
			const i = tree.order[k];
			if (tree.weight[i] >= least || tree.x[i] - end > least)
				break;
			end = tree.x[i] + tree.weight[i];
		}
		return { end, next: k };
	}

	function eachBarOfLevel(tree, view, level, visit) {
		const scale = view.width / (view.to - view.from);
		const least = LEAST_PX / scale;
		const stop = tree.levelStart[level + 1];
		const put = (node, from, to, begin, end) => {
			const left = Math.max(0, (from - view.from) * scale);
			const width = Math.min(view.width, (to - view.from) * scale) - left;
			if (width >= LEAST_PX)
				visit(node, level, left, width, begin, end);
		};
		for (let k = firstEndingAfter(tree, level, view.from); k < stop;) {
			const i = tree.order[k];
			if (tree.x[i] >= view.to)
				break;
			if (tree.weight[i] >= least) {
				put(i, tree.x[i], tree.x[i] + tree.weight[i], k, k + 1);
				k++;
				continue;
			}
			const run = narrowRun(tree, k, stop, least);
			put(-1, tree.x[i], run.end, k, run.next);
			k = run.next;
		}
	}

	/**
	 * Calls visit(node, level, left, width, begin, end), in pixels, for each bar in sight. node is -1 for several that are too
	 * narrow: those at tree.order[begin] to tree.order[end - 1].
	 */
	function eachBar(tree, view, visit) {
		if (!(view.to > view.from))
			return;
		const last = Math.min(view.last, tree.levelStart.length - 2);
		for (let level = Math.max(0, view.first); level <= last; level++)
			eachBarOfLevel(tree, view, level, visit);
	}

	/** The node at a place of a level, or -1. */
	function nodeAt(tree, view, level, px) {
		if (level < 0 || level > tree.levelStart.length - 2 || !(view.to > view.from))
			return -1;
		const x = view.from + (px / view.width) * (view.to - view.from);
		const k = firstEndingAfter(tree, level, x);
		if (k >= tree.levelStart[level + 1])
			return -1;
		const i = tree.order[k];
		return tree.x[i] <= x ? i : -1;
	}

	/** The node beside this one on its level: step 1 to the right, -1 to the left; -1 where there is none. */
	function beside(tree, node, step) {
		const level = tree.depth[node];
		let low = tree.levelStart[level];
		let high = tree.levelStart[level + 1] - 1;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (tree.order[middle] < node)
				low = middle + 1;
			else
				high = middle;
		}
		const k = low + step;
		return k < tree.levelStart[level] || k >= tree.levelStart[level + 1] ? -1 : tree.order[k];
	}

	/** Depth of the deepest node at or below this one. */
	function deepest(tree, node) {
		let depth = tree.depth[node];
		for (let i = node; i < tree.end[node]; i++)
			depth = Math.max(depth, tree.depth[i]);
		return depth;
	}

	/** True when `node` is `above` or below it. */
	function isWithin(tree, node, above) {
		return node >= above && node < tree.end[above];
	}

	/**
	 * What of a name fits into a bar: fit(id, room in pixels) is the whole name, or without its outer parts, or cut, or nothing.
	 * measure(text) tells how wide a text is; each is asked for once.
	 */
	function texts(names, measure) {
		const known = new Array(names.length);
		const widthsOf = (id) => {
			known[id] ??= format.shorter(names[id]).map((text) => ({ text, width: measure(text) }));
			return known[id];
		};
		return {
			fit(id, room) {
				const variants = widthsOf(id);
				for (const { text, width } of variants)
					if (width <= room)
						return text;
				const { text, width } = variants[variants.length - 1];
				const letters = Math.floor((room / width) * text.length) - 1;
				return letters >= 3 ? text.slice(0, letters) + "…" : "";
			},
		};
	}

	/** Depth of the deepest level on which there is a bar that can be seen; `view.last` where that is all. */
	function deepestInSight(tree, view) {
		let level = view.last;
		for (let seen = false; level > view.first && !seen; level -= seen ? 0 : 1)
			eachBar(tree, { ...view, first: level, last: level }, () => (seen = true));
		return level;
	}

	const api = { eachBar, nodeAt, beside, deepest, deepestInSight, isWithin, texts };
	globalThis.xagent = globalThis.xagent || {};
	globalThis.xagent.layout = api;
	if (typeof module !== "undefined")
		module.exports = api;
})();
