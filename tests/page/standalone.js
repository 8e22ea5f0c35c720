/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests share: the page's own scripts, call trees as flamebearers, and the one file that holds all (as page_standalone() makes it).
 * usage: node standalone.js FOLDED [UNIT [TITLE [FOLDED_AFTER]]] > page.html
 */
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const FOLDER = path.join(__dirname, "../../agent/page");
const read = (name) => fs.readFileSync(path.join(FOLDER, name), "utf8");

for (const name of ["format", "tree", "colour", "layout", "paint", "svg"])
	require(path.join(FOLDER, name + ".js"));

const { xagent } = globalThis;

/* As the agent writes it: what runs in a function itself stands left of what it calls. */
function toFlamebearer(tree) {
	const two = Boolean(tree.totalRight);
	const startOf = { left: new Float64Array(tree.n), right: new Float64Array(tree.n) };
	const usedOf = { left: Float64Array.from(tree.self), right: two ? Float64Array.from(tree.selfRight) : null };
	const place = (side, totals, i) => {
		const up = tree.parent[i];
		startOf[side][i] = startOf[side][up] + usedOf[side][up];
		usedOf[side][up] += totals[i];
	};
	for (let i = 1; i < tree.n; i++) {
		place("left", tree.total, i);
		if (two)
			place("right", tree.totalRight, i);
	}
	const levels = [];
	let maxSelf = 0;
	for (let d = 0; d + 1 < tree.levelStart.length; d++) {
		const level = [];
		let [left, right] = [0, 0];
		for (let k = tree.levelStart[d]; k < tree.levelStart[d + 1]; k++) {
			const i = tree.order[k];
			level.push(startOf.left[i] - left, tree.total[i], tree.self[i]);
			left = startOf.left[i] + tree.total[i];
			if (two) {
				level.push(startOf.right[i] - right, tree.totalRight[i], tree.selfRight[i]);
				right = startOf.right[i] + tree.totalRight[i];
			}
			level.push(tree.name[i]);
			maxSelf = Math.max(maxSelf, tree.self[i]);
		}
		levels.push(level);
	}
	return { names: tree.names, levels, numTicks: tree.sum, maxSelf };
}

const PUT_IN = {
	script: (name) => `<script>${read(name)}</script>`,
	data: (_, profile) =>
		`<script type="application/json" id="xagent-profile">${JSON.stringify(profile).replaceAll("<", "\\u003c")}</script>`,
};

function standalone(profile) {
	return read("standalone.html").replace(/^<!-- xagent:(\w+)(?: (\S+))? -->$/gm, (_, what, name) => PUT_IN[what](name, profile));
}

module.exports = { xagent, read, FOLDER, toFlamebearer, standalone };

if (require.main === module) {
	const [before, unit = "samples", title = path.basename(before), after] = process.argv.slice(2);
	const load = (file) => xagent.tree.fromFolded(fs.readFileSync(file, "utf8"), { unit });
	const tree = after ? xagent.tree.diff(load(before), load(after)) : load(before);
	process.stdout.write(standalone({ title, unit, diff: Boolean(after), flamebearer: toFlamebearer(tree) }));
}
