/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of the table of functions: of one profile, and of two that are compared. */
(function (xagent) {
	"use strict";

	const { el } = xagent.dom;

	/* What the column has room for; the beginning is what many names share. */
	const NAME_LETTERS = 36;

	/* Where a server puts what is too small to be told apart. */
	const OTHER = "other";

	function isOther(row) {
		return row.name === OTHER;
	}

	function nameCell(row) {
		if (isOther(row))
			return el("span", { class: "other", title: "Frames too small to be told apart in so large a profile", text: OTHER });
		const texts = xagent.format.shorter(row.name);
		const text = texts.find((t) => t.length <= NAME_LETTERS) || texts[texts.length - 1];
		return el("span", { class: "mono", title: row.name, text });
	}

	function amountCell(value, whole, unit) {
		return el("span", { class: "amount", vars: { share: whole ? value / whole : 0 } },
			el("span", { class: "number", text: xagent.format.value(value, unit) }),
			el("span", { class: "number muted share", text: xagent.format.share(value, whole) }));
	}

	const NAME = { key: "name", text: "Function", class: "grow", value: (row) => row.name.toLowerCase(), cell: nameCell };

	/* tree() is the tree that is shown now. */
	function plain(tree) {
		const column = (key, text, title) => ({
			key, text, title, class: "wide", first: "-", value: (row) => row[key],
			cell: (row) => amountCell(row[key], tree().sum, tree().unit),
		});
		return [NAME, column("self", "Self", "In the function itself"), column("total", "Total", "With all that it calls")];
	}

	function shareOf(tree, row, key) {
		const right = key.endsWith("Right");
		const whole = right ? tree.sumRight : tree.sum;
		return whole ? row[key] / whole : 0;
	}

	function change(tree, row, key) {
		return shareOf(tree, row, key + "Right") - shareOf(tree, row, key);
	}

	function changeCell(tree, row, key) {
		const by = change(tree, row, key);
		const side = Math.abs(by) < 0.00005 ? "" : by > 0 ? " more" : " less";
		return el("span", { class: "number" + side, text: xagent.format.points(shareOf(tree, row, key), shareOf(tree, row, key + "Right")) });
	}

	function compared(tree) {
		const side = (key, field, text) => ({
			key, text, title: "Share of the samples in the function itself", class: "narrow", first: "-", value: (row) => shareOf(tree(), row, field),
			cell: (row) => el("span", { class: "number", title: xagent.format.value(row[field], tree().unit),
				text: xagent.format.share(row[field], field === "self" ? tree().sum : tree().sumRight) }),
		});
		const diff = (key, field, text, title) => ({
			key, text, title, class: "narrow", first: "-", value: (row) => change(tree(), row, field), cell: (row) => changeCell(tree(), row, field),
		});
		return [NAME, side("left", "self", "Baseline"), side("right", "selfRight", "Comparison"),
			diff("diff", "self", "Change", "Of the share in the function itself, in percentage points"),
			diff("total", "total", "With calls", "Change of the share of the function and all that it calls")];
	}

	/* Those that changed most come first, whichever way. */
	function bySize(tree, rows) {
		const size = new Map(rows.map((row) => [row, Math.abs(change(tree, row, "self"))]));
		return [...rows].sort((a, b) => isOther(a) - isOther(b) || size.get(b) - size.get(a));
	}

	/* One line about one function. */
	function sentence(tree, row) {
		if (!tree.totalRight)
			return "self " + xagent.format.value(row.self, tree.unit) + " (" + xagent.format.share(row.self, tree.sum) + "), total " +
				xagent.format.value(row.total, tree.unit) + " (" + xagent.format.share(row.total, tree.sum) + ")";
		const part = (key) => xagent.format.share(row[key], tree.sum) + " → " + xagent.format.share(row[key + "Right"], tree.sumRight);
		return "self " + part("self") + ", total " + part("total");
	}

	xagent.functions = { isOther, plain, compared, bySize, sentence };
})((globalThis.xagent = globalThis.xagent || {}));
