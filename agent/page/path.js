/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A place in a tree in a few letters, so that a link and the next answer find it again: depth and a hash of the names on the way. Pure.
 *
 * Two places of one tree with the same key: about one in 10^5 at 50,000 nodes, and then a neighbour is shown.
 */
(function (xagent) {
	"use strict";

	/* FNV-1a, 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
	const BASIS = 0x811c9dc5;
	const PRIME = 0x01000193;

	function hashText(text) {
		let h = BASIS;
		for (let i = 0; i < text.length; i++)
			h = Math.imul(h ^ text.charCodeAt(i), PRIME);
		return h;
	}

	function step(parentHash, nameHash) {
		return Math.imul(parentHash ^ nameHash, PRIME) ^ (nameHash >>> 15);
	}

	function hashesOf(tree) {
		const names = tree.names.map(hashText);
		const hashes = new Int32Array(tree.n);
		for (let i = 0; i < tree.n; i++)
			hashes[i] = tree.parent[i] < 0 ? BASIS : step(hashes[tree.parent[i]], names[tree.name[i]]);
		return hashes;
	}

	/* "" is the root. */
	function key(tree, node) {
		if (!(node > 0))
			return "";
		return tree.depth[node] + "." + (hashesOf(tree)[node] >>> 0).toString(36);
	}

	/* The node, -1 where there is none. */
	function find(tree, text) {
		const [depth, hash] = text.split(".");
		const wanted = parseInt(hash, 36) | 0;
		if (text === "")
			return 0;
		const hashes = hashesOf(tree);
		for (let i = 1; i < tree.n; i++)
			if (hashes[i] === wanted && tree.depth[i] === Number(depth))
				return i;
		return -1;
	}

	xagent.path = { key, find };
	if (typeof module !== "undefined")
		module.exports = xagent.path;
})((globalThis.xagent = globalThis.xagent || {}));
