/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call trees: xagent.tree.
 *
 * A tree is arrays over its nodes, which stand in preorder: node 0 is the root, the first child of i is i + 1, the first node after
 * all that is below i is end[i]. So "all below i" is a range, and a walk over the whole is one loop.
 *
 *   names                 texts; name[i] is a number of one of them
 *   name, parent, depth, end       Int32Array; parent[0] is -1
 *   self, total           Float64Array in `unit`; of a comparison those of the left side, and of the right side in
 *   selfRight, totalRight          (null when there is one side only)
 *   weight, x             how wide a node is and where it begins; of a comparison both sides count alike, however long they took
 *   order, levelStart     nodes of depth d, from left to right: order[levelStart[d]] to order[levelStart[d + 1] - 1]
 *   sum, sumRight         all of each side: total[0], totalRight[0]
 *   whole, wholeRight     all of the tree that this one was taken from, for shares
 *   inverted              true: children are callers
 *
 * Trees are never changed; those that are taken from another share its `names`. Pure; names are only texts here.
 */
(function () {
	"use strict";

	/* What is not a number is nothing; less than nothing is not wider either. */
	function amount(value) {
		const n = Number(value);
		return n > 0 && Number.isFinite(n) ? n : 0;
	}

	/* Totals of both sides, each as a share of its side, scaled back so that the root is as wide as both totals together. */
	function weights(total, totalRight) {
		if (!totalRight)
			return total;
		const both = total[0] + totalRight[0];
		const left = total[0] && totalRight[0] ? both / 2 / total[0] : 1;
		const right = total[0] && totalRight[0] ? both / 2 / totalRight[0] : 1;
		return total.map((value, i) => value * left + totalRight[i] * right);
	}

	/* Where each node of `raw` stands in preorder. Parents come before their children in `turn`, siblings as they shall stand. */
	function preorder(raw, turn) {
		const size = new Int32Array(raw.n).fill(1);
		const place = new Int32Array(raw.n);
		const next = new Int32Array(raw.n);
		for (let i = raw.n - 1; i > 0; i--)
			size[raw.parent[i]] += size[i];
		next[0] = 1;
		for (const i of turn) {
			if (i === 0)
				continue;
			place[i] = next[raw.parent[i]];
			next[raw.parent[i]] += size[i];
			next[i] = place[i] + 1;
		}
		return { place, size };
	}

	function moved(values, place, Kind) {
		const result = new Kind(place.length);
		for (let i = 0; i < place.length; i++)
			result[place[i]] = values[i];
		return result;
	}

	/* Nodes of each depth, left to right: preorder is left to right already, so counting is enough. */
	function levelsOf(depth) {
		const deepest = depth.reduce((most, d) => Math.max(most, d), 0);
		const levelStart = new Int32Array(deepest + 2);
		for (let i = 0; i < depth.length; i++)
			levelStart[depth[i] + 1]++;
		for (let d = 0; d <= deepest; d++)
			levelStart[d + 1] += levelStart[d];
		const at = levelStart.slice();
		const order = new Int32Array(depth.length);
		for (let i = 0; i < depth.length; i++)
			order[at[depth[i]]++] = i;
		return { order, levelStart };
	}

	function positions(parent, weight) {
		const x = new Float64Array(parent.length);
		const used = new Float64Array(parent.length);
		for (let i = 1; i < parent.length; i++) {
			x[i] = x[parent[i]] + used[parent[i]];
			used[parent[i]] += weight[i];
		}
		return x;
	}

	/**
	 * The tree of raw nodes: plain arrays, in which a parent has a smaller number than its children and node 0 is the root.
	 * `turn` tells the order of siblings, see preorder().
	 */
	function finish(raw, facts, turn) {
		const { place, size } = preorder(raw, turn || raw.parent.map((_, i) => i));
		const parent = moved(raw.parent.map((p) => (p < 0 ? -1 : place[p])), place, Int32Array);
		const depth = new Int32Array(raw.n);
		const end = moved(size, place, Int32Array);
		for (let i = 0; i < raw.n; i++) {
			depth[i] = i ? depth[parent[i]] + 1 : 0;
			end[i] += i;
		}
		const right = raw.totalRight && raw.totalRight.length;
		const tree = {
			names: raw.names, n: raw.n, parent, depth, end,
			name: moved(raw.name, place, Int32Array),
			self: moved(raw.self, place, Float64Array),
			total: moved(raw.total, place, Float64Array),
			selfRight: right ? moved(raw.selfRight, place, Float64Array) : null,
			totalRight: right ? moved(raw.totalRight, place, Float64Array) : null,
			unit: facts.unit || "", inverted: Boolean(facts.inverted),
		};
		tree.weight = weights(tree.total, tree.totalRight);
		tree.x = positions(parent, tree.weight);
		tree.sum = tree.total[0];
		tree.sumRight = right ? tree.totalRight[0] : 0;
		tree.whole = facts.whole ?? tree.sum;
		tree.wholeRight = facts.wholeRight ?? tree.sumRight;
		return Object.assign(tree, levelsOf(depth));
	}

	/* --- from a flamebearer --- */

	/* Names may repeat in what others send; here one text is one number. */
	function intern(texts) {
		const number = new Map();
		const names = [];
		const of = Array.from(texts || [], (text) => {
			text = String(text);
			if (!number.has(text))
				number.set(text, names.push(text) - 1);
			return number.get(text);
		});
		return { names, of };
	}

	function rawNodes(names, two) {
		return {
			names, n: 0, name: [], parent: [], self: [], total: [],
			selfRight: two ? [] : null, totalRight: two ? [] : null,
		};
	}

	function push(raw, node) {
		raw.name.push(node.name);
		raw.parent.push(node.parent);
		raw.self.push(node.self);
		raw.total.push(node.total);
		if (raw.totalRight) {
			raw.selfRight.push(node.selfRight);
			raw.totalRight.push(node.totalRight);
		}
		return raw.n++;
	}

	/* The bars of one level, with where they begin and end among all. Offsets are of each side; both together order the bars. */
	function* bars(values, two) {
		const step = two ? 7 : 4;
		let x = 0;
		for (let i = 0; i + step <= values.length; i += step) {
			const at = (k) => amount(values[i + k]);
			x += at(0) + (two ? at(3) : 0);
			const bar = {
				start: x, total: at(1), self: at(2), name: at(step - 1),
				totalRight: two ? at(4) : 0, selfRight: two ? at(5) : 0,
			};
			x += bar.total + bar.totalRight;
			bar.end = x;
			yield bar;
		}
	}

	/* Who stands under which bar follows from where they begin: both levels are read once, from left to right. */
	function addLevel(raw, values, above, nameOf, two) {
		const level = [];
		let k = 0;
		for (const bar of bars(values, two)) {
			while (k + 1 < above.length && above[k].end <= bar.start)
				k++;
			bar.parent = above[k].node;
			bar.name = nameOf(bar.name);
			bar.node = push(raw, bar);
			level.push(bar);
		}
		return level;
	}

	/**
	 * The tree of a flamebearer: {names, levels} as a standalone file has it (agent/draw), or the flamegraph of a querier's answer, in
	 * which levels are {values} and numbers may be texts. A comparison has 7 numbers a bar: options {diff: true}.
	 */
	function fromFlamebearer(fb, options) {
		const { diff, unit } = options || {};
		const { names, of } = intern(fb.names);
		const levels = Array.from(fb.levels || [], (level) => (Array.isArray(level) ? level : level.values || []));
		const raw = rawNodes(names, diff);
		const missing = () => (names.includes("?") ? names.indexOf("?") : names.push("?") - 1);
		const nameOf = (i) => of[i] ?? missing();
		const roots = [...bars(levels[0] || [], diff)];
		const side = (key) => roots.reduce((sum, bar) => sum + bar[key], 0);
		push(raw, {
			name: roots.length ? nameOf(roots[0].name) : missing(), parent: -1, self: side("self"), total: side("total"),
			selfRight: side("selfRight"), totalRight: side("totalRight"),
		});
		let above = [{ end: Infinity, node: 0 }];
		for (let d = 1; d < levels.length && above.length; d++)
			above = addLevel(raw, levels[d], above, nameOf, diff);
		return finish(raw, { unit });
	}

	/* --- building --- */

	/* A trie of names: the same child of the same parent is one node. */
	function builder(names, two, rootName) {
		const raw = rawNodes(names, two);
		const children = new Map();
		const node = (parent, name) => push(raw, { name, parent, self: 0, total: 0, selfRight: 0, totalRight: 0 });
		node(-1, rootName);
		return {
			raw,
			child(parent, name) {
				const key = parent * (names.length + 1) + name;
				let found = children.get(key);
				if (found === undefined)
					children.set(key, (found = node(parent, name)));
				return found;
			},
			add(at, self, selfRight) {
				raw.self[at] += self;
				if (two)
					raw.selfRight[at] += selfRight;
			},
		};
	}

	function sumUp(raw) {
		const up = (self, total) => {
			for (let i = raw.n - 1; i >= 0; i--) {
				total[i] += self[i];
				if (i)
					total[raw.parent[i]] += total[i];
			}
		};
		up(raw.self, raw.total);
		if (raw.totalRight)
			up(raw.selfRight, raw.totalRight);
	}

	/* Parents are no lighter than their children, and have smaller numbers. */
	function heaviestFirst(raw) {
		const weight = (i) => raw.total[i] + (raw.totalRight ? raw.totalRight[i] : 0);
		return raw.parent.map((_, i) => i).sort((a, b) => weight(b) - weight(a) || a - b);
	}

	function built(build, facts) {
		sumUp(build.raw);
		return finish(build.raw, facts, heaviestFirst(build.raw));
	}

	function factsOf(tree, more) {
		return { unit: tree.unit, whole: tree.whole, wholeRight: tree.wholeRight, ...more };
	}

	function nameNumber(tree, name) {
		return typeof name === "number" ? name : tree.names.indexOf(name);
	}

	/* Nodes of this name that have none of this name above them, so that recursion counts once. */
	function outermost(tree, wanted) {
		const found = [];
		for (let i = 0; i < tree.n;) {
			if (!wanted(i)) {
				i++;
				continue;
			}
			found.push(i);
			i = tree.end[i];
		}
		return found;
	}

	/* --- questions --- */

	function selfOf(tree, i, totals) {
		let self = totals[i];
		for (let child = i + 1; child < tree.end[i]; child = tree.end[child])
			self -= totals[child];
		return Math.max(0, self);
	}

	/* Puts all that is below `from` under `to`. */
	function graft(build, tree, from, to) {
		const at = new Int32Array(tree.end[from] - from);
		at[0] = to;
		for (let i = from; i < tree.end[from]; i++) {
			if (i > from)
				at[i - from] = build.child(at[tree.parent[i] - from], tree.name[i]);
			build.add(at[i - from], selfOf(tree, i, tree.total), tree.totalRight ? selfOf(tree, i, tree.totalRight) : 0);
		}
	}

	/** All that runs below a function, wherever it is called: a tree whose root is the function. */
	function callees(tree, name) {
		const id = nameNumber(tree, name);
		const build = builder(tree.names, tree.totalRight, id);
		for (const i of outermost(tree, (node) => tree.name[node] === id))
			graft(build, tree, i, 0);
		return built(build, factsOf(tree));
	}

	/** Who calls a function: a tree whose root is the function and whose children are callers. */
	function callers(tree, name) {
		const id = nameNumber(tree, name);
		const build = builder(tree.names, tree.totalRight, id);
		for (const i of outermost(tree, (node) => tree.name[node] === id)) {
			let at = 0;
			for (let up = tree.parent[i]; up > 0; up = tree.parent[up])
				at = build.child(at, tree.name[up]);
			build.add(at, tree.total[i], tree.totalRight ? tree.totalRight[i] : 0);
		}
		return built(build, factsOf(tree, { inverted: true }));
	}

	function sandwich(tree, name) {
		return { callers: callers(tree, name), callees: callees(tree, name) };
	}

	/** A function that calls itself directly becomes one frame. */
	function collapse(tree) {
		const build = builder(tree.names, tree.totalRight, tree.name[0]);
		const at = new Int32Array(tree.n);
		for (let i = 0; i < tree.n; i++) {
			const up = tree.parent[i];
			if (i)
				at[i] = tree.name[i] === tree.name[up] ? at[up] : build.child(at[up], tree.name[i]);
			build.add(at[i], selfOf(tree, i, tree.total), tree.totalRight ? selfOf(tree, i, tree.totalRight) : 0);
		}
		return built(build, factsOf(tree));
	}

	/** Two trees beside each other: `left` before, `right` after. */
	function diff(left, right) {
		const { names, of } = intern([...left.names, ...right.names]);
		const build = builder(names, true, of[left.name[0]]);
		const put = (tree, nameOf, add) => {
			const at = new Int32Array(tree.n);
			for (let i = 0; i < tree.n; i++) {
				if (i)
					at[i] = build.child(at[tree.parent[i]], nameOf(tree.name[i]));
				add(at[i], selfOf(tree, i, tree.total));
			}
		};
		put(left, (id) => of[id], (at, self) => build.add(at, self, 0));
		put(right, (id) => of[left.names.length + id], (at, self) => build.add(at, 0, self));
		return built(build, { unit: left.unit });
	}

	/**
	 * The functions, hottest first: {id, name, self, total, selfRight, totalRight}. A stack counts once in the total of a function
	 * however often it is in it. Without the root.
	 */
	function table(tree) {
		const rows = new Map();
		const open = new Int32Array(tree.names.length);
		const path = [];
		for (let i = 1; i < tree.n; i++) {
			while (path.length && tree.end[path[path.length - 1]] <= i)
				open[tree.name[path.pop()]]--;
			const id = tree.name[i];
			let row = rows.get(id);
			if (!row)
				rows.set(id, (row = { id, name: tree.names[id], self: 0, total: 0, selfRight: 0, totalRight: 0 }));
			countIn(row, tree, i, !open[id]);
			open[id]++;
			path.push(i);
		}
		const heat = (row) => row.self + row.selfRight;
		const reach = (row) => row.total + row.totalRight;
		return [...rows.values()].sort((a, b) => heat(b) - heat(a) || reach(b) - reach(a) || (a.name < b.name ? -1 : 1));
	}

	function countIn(row, tree, i, isOutermost) {
		row.self += tree.self[i];
		row.total += isOutermost ? tree.total[i] : 0;
		if (tree.totalRight) {
			row.selfRight += tree.selfRight[i];
			row.totalRight += isOutermost ? tree.totalRight[i] : 0;
		}
	}

	/* Capitals do not matter; between two slashes stands a regular expression, which matches nothing while it is not one. */
	function matcher(text) {
		const pattern = /^\/(.+)\/$/.exec(text);
		if (!pattern) {
			const wanted = text.toLowerCase();
			return (name) => name.toLowerCase().includes(wanted);
		}
		try {
			const regex = new RegExp(pattern[1], "i");
			return (name) => regex.test(name);
		} catch {
			return () => false;
		}
	}

	/** Frames whose name holds the text: {nodes: Uint8Array, count, total, totalRight, share}; recursion counts once. */
	function search(tree, text) {
		const nodes = new Uint8Array(tree.n);
		const result = { nodes, count: 0, total: 0, totalRight: 0, share: 0 };
		if (!text)
			return result;
		const matches = tree.names.map(matcher(text));
		for (let i = 1; i < tree.n; i++)
			result.count += nodes[i] = matches[tree.name[i]] ? 1 : 0;
		let weight = 0;
		for (const i of outermost(tree, (node) => nodes[node])) {
			result.total += tree.total[i];
			result.totalRight += tree.totalRight ? tree.totalRight[i] : 0;
			weight += tree.weight[i];
		}
		result.share = tree.weight[0] ? weight / tree.weight[0] : 0;
		return result;
	}

	/** Names from the outermost frame to this one, without the root. */
	function path(tree, node) {
		const names = [];
		for (let i = node; i > 0; i = tree.parent[i])
			names.push(tree.names[tree.name[i]]);
		return names.reverse();
	}

	/** The node at the end of a path, or the last one on it that there is. */
	function find(tree, names) {
		let at = 0;
		for (const name of names) {
			let child = at + 1;
			while (child < tree.end[at] && tree.names[tree.name[child]] !== name)
				child = tree.end[child];
			if (child >= tree.end[at])
				break;
			at = child;
		}
		return at;
	}

	function children(tree, node) {
		const found = [];
		for (let child = node + 1; child < tree.end[node]; child = tree.end[child])
			found.push(child);
		return found;
	}

	/* As `xagent profile -f folded` writes names: what separates things there cannot stand in them. */
	function foldedName(name) {
		return name.replace(/[;\n]/g, ":");
	}

	/** Folded stacks, one a line: "outermost;…;innermost N"; of a comparison "… N M". */
	function folded(tree) {
		const texts = new Array(tree.n);
		const lines = [];
		for (let i = 1; i < tree.n; i++) {
			const up = tree.parent[i];
			texts[i] = (up ? texts[up] + ";" : "") + foldedName(tree.names[tree.name[i]]);
			const right = tree.totalRight ? tree.selfRight[i] : 0;
			if (tree.self[i] || right)
				lines.push(texts[i] + " " + tree.self[i] + (tree.totalRight ? " " + right : ""));
		}
		return lines.length ? lines.join("\n") + "\n" : "";
	}

	/** A tree of folded stacks. The number of a line stands after its last blank. */
	function fromFolded(text, options) {
		const { unit, root } = options || {};
		const stacks = [];
		const texts = [root || "total"];
		for (const line of text.split("\n")) {
			const found = /^(.+) (\d+(?:\.\d+)?)$/.exec(line);
			if (!found)
				continue;
			const frames = found[1].split(";");
			stacks.push({ count: Number(found[2]), n: frames.length });
			for (const frame of frames)
				texts.push(frame);
		}
		const { names, of } = intern(texts);
		const build = builder(names, false, 0);
		let k = 1;
		for (const stack of stacks) {
			let at = 0;
			for (let i = 0; i < stack.n; i++)
				at = build.child(at, of[k++]);
			build.add(at, stack.count, 0);
		}
		return built(build, { unit });
	}

	const api = {
		fromFlamebearer, fromFolded, table, sandwich, callers, callees, collapse, diff, search, path, find, children, folded, outermost,
	};
	globalThis.xagent = globalThis.xagent || {};
	globalThis.xagent.tree = api;
	if (typeof module !== "undefined")
		module.exports = api;
})();
