/* SPDX-License-Identifier: Apache-2.0 */
/* A long table of which only the rows in sight exist. Sorted by its heads; arrows move, Enter takes a row. */
(function (xagent) {
	"use strict";

	const { el } = xagent.dom;
	const ROW_PX = 24;
	/* Above and below what is in sight, so that scrolling shows no gap. */
	const SPARE_ROWS = 12;

	function head(column, sort, onSort) {
		const mine = sort.replace("-", "") === column.key;
		const state = mine ? (sort[0] === "-" ? "descending" : "ascending") : "none";
		return el("div", { class: "th " + (column.class || ""), role: "columnheader", "aria-sort": state },
			el("button", { type: "button", class: "plain", title: column.title || null, on: { click: () => onSort(column, mine) } },
				column.text, mine ? el("span", { "aria-hidden": "true", text: sort[0] === "-" ? "▾" : "▴" }) : null));
	}

	/*
	 * spec = {id, label, columns: [{key, text, class, first: "-" (largest first), value(row), cell(row) -> node or text}],
	 *         keyOf(row), last(row): always at the end, onSort(sort), onSelect(row), onActivate(row)}
	 */
	class Table {
		constructor(spec) {
			this.spec = spec;
			this.rows = [];
			this.sort = "";
			this.selected = null;
			this.at = 0;
			this.head = el("div", { class: "tr thead", role: "row" });
			this.space = el("div", { class: "tspace", role: "rowgroup" });
			this.body = el("div", { class: "tbody", tabindex: "-1", role: "presentation" }, this.space);
			this.root = el("div", { class: "table " + (spec.class || ""), id: spec.id, role: "grid", tabindex: "0", "aria-label": spec.label },
				el("div", { role: "rowgroup" }, this.head), this.body);
			this.body.addEventListener("scroll", () => this.draw(), { passive: true });
			this.root.addEventListener("keydown", (event) => this.onKey(event));
			new ResizeObserver(() => this.draw()).observe(this.body);
		}

		setRows(rows, sort) {
			const key = this.rows[this.at] && this.spec.keyOf(this.rows[this.at]);
			this.rows = this.sorted(rows, sort);
			this.sort = sort;
			this.at = Math.max(0, this.rows.findIndex((row) => this.spec.keyOf(row) === key));
			this.root.setAttribute("aria-rowcount", String(rows.length + 1));
			this.head.replaceChildren(...this.spec.columns.map((c) => head(c, sort, (column, mine) => this.turn(column, mine))));
			this.space.style.height = rows.length * ROW_PX + "px";
			this.drawn = null;
			this.draw();
		}

		sorted(rows, sort) {
			const column = this.spec.columns.find((c) => c.key === sort.replace("-", ""));
			const sign = sort[0] === "-" ? -1 : 1;
			if (!column)
				return rows;
			const values = new Map(rows.map((row) => [row, column.value(row)]));
			const last = this.spec.last || (() => false);
			return [...rows].sort((a, b) => {
				if (last(a) !== last(b))
					return last(a) ? 1 : -1;
				const [x, y] = [values.get(a), values.get(b)];
				return x === y ? 0 : (x < y ? -sign : sign);
			});
		}

		turn(column, mine) {
			const first = column.first || "";
			const other = first === "-" ? "" : "-";
			this.spec.onSort((mine && this.sort.startsWith("-") === (first === "-") ? other : first) + column.key);
		}

		select(key) {
			this.selected = key;
			this.markRows();
		}

		/* In place: a row that is clicked twice must still be there the second time. */
		markRows() {
			for (const node of this.space.children) {
				const i = Number(node.dataset.row);
				node.setAttribute("aria-selected", String(this.spec.keyOf(this.rows[i]) === this.selected));
				node.classList.toggle("current", this.moved && i === this.at);
			}
			if (this.moved)
				this.root.setAttribute("aria-activedescendant", this.spec.id + "-row-" + this.at);
		}

		onKey(event) {
			const page = Math.max(1, Math.floor(this.body.clientHeight / ROW_PX) - 1);
			const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[event.key];
			if (event.target !== this.root && event.target !== this.body)
				return;
			if (by !== undefined)
				this.go(by);
			else if (event.key === "Enter" && this.rows[this.at])
				this.spec.onActivate(this.rows[this.at]);
			else
				return;
			event.preventDefault();
			event.stopPropagation();
		}

		go(by) {
			if (!this.rows.length)
				return;
			this.at = Math.max(0, Math.min(this.rows.length - 1, this.moved ? this.at + by : this.at));
			this.moved = true;
			this.show(this.at);
			this.draw();
			this.markRows();
			this.spec.onSelect(this.rows[this.at]);
		}

		show(i) {
			const top = i * ROW_PX;
			if (top < this.body.scrollTop)
				this.body.scrollTop = top;
			else if (top + ROW_PX > this.body.scrollTop + this.body.clientHeight)
				this.body.scrollTop = top + ROW_PX - this.body.clientHeight;
		}

		reveal(key) {
			const i = this.rows.findIndex((row) => this.spec.keyOf(row) === key);
			if (i >= 0)
				this.show(i);
		}

		rowNode(row, i) {
			const node = el("div", {
				class: "tr", role: "row", id: this.spec.id + "-row-" + i, "data-row": String(i), "aria-rowindex": String(i + 2),
				on: { click: (event) => this.onClick(row, i, event.detail) },
			}, this.spec.columns.map((c) => el("div", { class: "td " + (c.class || ""), role: "gridcell" }, c.cell(row))));
			node.style.top = i * ROW_PX + "px";
			return node;
		}

		onClick(row, i, times) {
			this.at = i;
			this.moved = true;
			if (times === 2)
				this.spec.onActivate(row);
			else
				this.spec.onSelect(row);
			this.markRows();
		}

		draw() {
			const first = Math.max(0, Math.floor(this.body.scrollTop / ROW_PX) - SPARE_ROWS);
			const last = Math.min(this.rows.length, Math.ceil((this.body.scrollTop + this.body.clientHeight) / ROW_PX) + SPARE_ROWS);
			if (this.drawn && this.drawn[0] === first && this.drawn[1] === last)
				return;
			/* Rows that stay in sight stay the same elements: a pointer may be over one. */
			const kept = new Map(this.drawn ? [...this.space.children].map((node) => [Number(node.dataset.row), node]) : []);
			this.drawn = [first, last];
			this.space.replaceChildren(...this.rows.slice(first, last).map((row, i) => kept.get(first + i) || this.rowNode(row, first + i)));
			this.markRows();
		}
	}

	xagent.table = { create: (spec) => new Table(spec) };
})((globalThis.xagent = globalThis.xagent || {}));
