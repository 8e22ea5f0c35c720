/* SPDX-License-Identifier: Apache-2.0 */
/* How much, over time: stacked bars or lines on a canvas; dragging over it chooses a range, with a mouse, a finger or the keyboard. */
(function (xagent) {
	"use strict";

	const { el } = xagent.dom;
	const PAD = { left: 8, right: 8, top: 16, bottom: 18 };
	/* Less is a click, not a drag. */
	const DRAG_PX = 5;
	const AXIS_TEXT_PX = 76;
	const TIP_ROWS = 8;

	function colourOf(group, i) {
		return xagent.theme.colour(group.rest ? "series-rest" : "series-" + (i % xagent.series.MAX_GROUPS + 1));
	}

	function highest(model, stacked) {
		let most = 0;
		for (let i = 0; i < model.grid.n; i++) {
			const at = model.groups.map((group) => group.values[i]);
			most = Math.max(most, stacked ? at.reduce((a, b) => a + b, 0) : Math.max(0, ...at));
		}
		return most;
	}

	/* spec = {id, label, onRange(start, end)} */
	class Timeline {
		constructor(spec) {
			this.spec = spec;
			this.canvas = el("canvas", { id: spec.id, tabindex: "0", role: "img", "aria-label": spec.label });
			this.tip = el("div", { class: "tip", hidden: true });
			this.root = el("div", { class: "timeline" }, this.canvas, this.tip);
			this.model = null;
			this.chart = "bars";
			this.marked = "";
			this.cursor = null;
			this.drag = null;
			this.selection = null;
			new ResizeObserver(() => this.paint()).observe(this.root);
			xagent.theme.on(() => this.paint());
			this.listen();
		}

		listen() {
			const canvas = this.canvas;
			canvas.addEventListener("pointerdown", (event) => this.onDown(event));
			canvas.addEventListener("pointermove", (event) => this.onMove(event));
			canvas.addEventListener("pointerup", () => this.onUp());
			canvas.addEventListener("pointercancel", () => { this.drag = null; this.paint(); });
			canvas.addEventListener("pointerleave", () => this.point(null));
			canvas.addEventListener("blur", () => this.point(null));
			canvas.addEventListener("keydown", (event) => this.onKey(event));
		}

		/* The times at the left and right border of the bars. */
		span() {
			const g = this.model.grid;
			return { start: g.first - g.step, end: g.first + (g.n - 1) * g.step };
		}

		toX(ms) {
			const { start, end } = this.span();
			return PAD.left + (ms - start) / (end - start) * (this.width - PAD.left - PAD.right);
		}

		toTime(x) {
			const { start, end } = this.span();
			const part = (x - PAD.left) / (this.width - PAD.left - PAD.right);
			return start + Math.max(0, Math.min(1, part)) * (end - start);
		}

		barAt(x) {
			const { start } = this.span();
			const g = this.model.grid;
			return Math.max(0, Math.min(g.n - 1, Math.floor((this.toTime(x) - start) / g.step)));
		}

		onDown(event) {
			if (!this.model || event.button !== 0)
				return;
			this.canvas.setPointerCapture(event.pointerId);
			this.drag = { from: event.offsetX, to: event.offsetX };
		}

		onMove(event) {
			if (!this.model)
				return;
			if (this.drag)
				this.drag.to = event.offsetX;
			this.point(this.barAt(event.offsetX));
		}

		onUp() {
			const drag = this.drag;
			this.drag = null;
			if (drag && Math.abs(drag.to - drag.from) >= DRAG_PX)
				this.choose(this.toTime(Math.min(drag.from, drag.to)), this.toTime(Math.max(drag.from, drag.to)));
			else
				this.paint();
		}

		/* Whole bars: what one sees is what one gets. */
		choose(from, to) {
			const { start } = this.span();
			const step = this.model.grid.step;
			const first = start + Math.floor((from - start) / step) * step;
			const last = start + Math.ceil((to - start) / step) * step;
			this.keys = null;
			this.spec.onRange(first, Math.max(last, first + step));
		}

		/* Arrows move along the bars, with Shift they choose, Enter takes the choice. */
		onKey(event) {
			const g = this.model && this.model.grid;
			const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -1e9, End: 1e9 }[event.key];
			if (!g)
				return;
			if (by) {
				const at = Math.max(0, Math.min(g.n - 1, (this.cursor === null ? g.n - 1 : this.cursor) + (this.cursor === null ? 0 : by)));
				this.keys = event.shiftKey ? { from: this.keys ? this.keys.from : at - Math.sign(by), to: at } : null;
				this.point(at);
				xagent.dom.announce(this.textAt(at));
			} else if (event.key === "Enter" && this.keys) {
				const { start } = this.span();
				const [a, b] = [Math.min(this.keys.from, this.keys.to), Math.max(this.keys.from, this.keys.to)];
				this.choose(start + a * g.step, start + (b + 1) * g.step);
			} else if (event.key === "Escape" && this.keys) {
				this.keys = null;
				this.paint();
			} else {
				return;
			}
			event.preventDefault();
			event.stopPropagation();
		}

		textAt(i) {
			const all = this.model.groups.reduce((n, group) => n + group.values[i], 0);
			return this.timeOf(i) + ": " + xagent.series.rate(all, this.unit, this.model.grid.step);
		}

		timeOf(i) {
			const g = this.model.grid;
			const end = g.first + i * g.step;
			return xagent.time.clock(end - g.step, g.step < 60000) + "–" + xagent.time.clock(end, g.step < 60000);
		}

		point(i) {
			this.cursor = i;
			this.fillTip();
			this.paint();
		}

		fillTip() {
			const i = this.cursor;
			this.tip.hidden = i === null || !this.model;
			if (this.tip.hidden)
				return;
			const step = this.model.grid.step;
			const rows = this.model.groups.map((group, k) => ({ group, k, value: group.values[i] }))
				.filter((row) => row.value > 0).sort((a, b) => b.value - a.value).slice(0, TIP_ROWS);
			this.tip.replaceChildren(el("p", { class: "tip-head number", text: this.textAt(i) }), ...rows.map((row) =>
				el("p", { class: "tip-row" }, el("span", { class: "swatch", vars: { colour: colourOf(row.group, row.k) } }),
					el("span", { class: "tip-name", text: row.group.name || "all" }),
					el("span", { class: "number", text: xagent.series.rate(row.value, this.unit, step) }))));
			const x = this.toX(this.model.grid.first + (i - 0.5) * step);
			this.tip.classList.toggle("to-left", x > this.width / 2);
			this.tip.style.setProperty("--x", x + "px");
		}

		/* model of xagent.series.build(); unit as rateUnit() says; chart "bars" or "lines"; selection {start, end} or null */
		set({ model, unit, chart, selection }) {
			Object.assign(this, { model, unit, chart: chart || "bars", selection: selection || null });
			if (this.cursor !== null && model && this.cursor >= model.grid.n)
				this.cursor = null;
			this.canvas.setAttribute("aria-label", this.spec.label + ". " + this.summary());
			this.fillTip();
			this.paint();
		}

		summary() {
			if (!this.model || !this.model.groups.length)
				return "Nothing in this range.";
			const first = this.model.groups.slice(0, 3).map((g) => (g.name || "all") + " " + xagent.format.share(g.total, this.model.total));
			return first.join(", ") + ". Arrow keys move, Shift and arrows choose a range, Enter shows it.";
		}

		/* The group that the legend points at, "" for none. */
		mark(name) {
			this.marked = name;
			this.paint();
		}

		paint() {
			if (this.painting)
				return;
			this.painting = true;
			requestAnimationFrame(() => {
				this.painting = false;
				this.draw();
			});
		}

		draw() {
			const scale = window.devicePixelRatio || 1;
			const box = this.root.getBoundingClientRect();
			if (!box.width)
				return;
			this.width = box.width;
			this.height = box.height;
			this.canvas.width = Math.round(box.width * scale);
			this.canvas.height = Math.round(box.height * scale);
			const c = this.canvas.getContext("2d");
			c.scale(scale, scale);
			c.font = "11px " + xagent.theme.colour("sans");
			if (!this.model)
				return;
			const most = highest(this.model, this.chart === "bars");
			this.drawAxis(c, most);
			if (this.chart === "bars")
				this.drawBars(c, most);
			else
				this.drawLines(c, most);
			this.drawChoice(c);
		}

		toY(value, most) {
			return this.height - PAD.bottom - (most ? value / most : 0) * (this.height - PAD.top - PAD.bottom);
		}

		drawAxis(c, most) {
			const { start, end } = this.span();
			const y = this.toY(0, most);
			c.strokeStyle = xagent.theme.colour("border");
			c.fillStyle = xagent.theme.colour("muted");
			for (const value of [0, most]) {
				const at = Math.round(this.toY(value, most)) + 0.5;
				c.beginPath();
				c.moveTo(PAD.left, at);
				c.lineTo(this.width - PAD.right, at);
				c.stroke();
			}
			if (most)
				c.fillText(xagent.series.rate(most, this.unit, this.model.grid.step), PAD.left, PAD.top - 4);
			c.textAlign = "center";
			for (const tick of xagent.time.ticks(start, end, this.width / AXIS_TEXT_PX)) {
				const x = this.toX(tick.ms);
				c.fillRect(x, y, 1, 3);
				if (x > 24 && x < this.width - 24)
					c.fillText(tick.text, x, this.height - 4);
			}
			c.textAlign = "left";
		}

		drawBars(c, most) {
			const g = this.model.grid;
			const base = new Float64Array(g.n);
			this.model.groups.forEach((group, k) => {
				c.fillStyle = colourOf(group, k);
				c.globalAlpha = this.marked !== "" && this.marked !== group.name ? 0.25 : 1;
				for (let i = 0; i < g.n; i++) {
					if (!group.values[i])
						continue;
					const left = Math.round(this.toX(g.first + (i - 1) * g.step));
					const right = Math.round(this.toX(g.first + i * g.step));
					const top = this.toY(base[i] + group.values[i], most);
					c.fillRect(left, top, Math.max(1, right - left - (right - left > 4 ? 1 : 0)), this.toY(base[i], most) - top);
					base[i] += group.values[i];
				}
			});
			c.globalAlpha = 1;
		}

		drawLines(c, most) {
			const g = this.model.grid;
			this.model.groups.forEach((group, k) => {
				c.strokeStyle = colourOf(group, k);
				c.lineWidth = this.marked === group.name && this.marked !== "" ? 3 : 1.5;
				c.globalAlpha = this.marked !== "" && this.marked !== group.name ? 0.25 : 1;
				c.beginPath();
				for (let i = 0; i < g.n; i++)
					c.lineTo(this.toX(g.first + (i - 0.5) * g.step), this.toY(group.values[i], most));
				c.stroke();
			});
			c.globalAlpha = 1;
			c.lineWidth = 1;
		}

		shade(c, from, to, alpha, colour) {
			c.globalAlpha = alpha;
			c.fillStyle = xagent.theme.colour(colour);
			c.fillRect(from, PAD.top, to - from, this.height - PAD.top - PAD.bottom);
			c.globalAlpha = 1;
		}

		drawChoice(c) {
			const g = this.model.grid;
			const bar = (i) => this.toX(g.first + (i - 1) * g.step);
			const edge = { from: PAD.left, to: this.width - PAD.right };
			if (this.selection) {
				const from = Math.max(edge.from, this.toX(this.selection.start));
				const to = Math.min(edge.to, this.toX(this.selection.end));
				this.shade(c, edge.from, Math.min(edge.to, from), 0.75, "surface");
				this.shade(c, Math.max(edge.from, to), edge.to, 0.75, "surface");
				c.fillStyle = xagent.theme.colour(this.spec.colour || "accent");
				for (const x of [from, to])
					if (x >= edge.from && x <= edge.to)
						c.fillRect(x - 1, PAD.top, 2, this.height - PAD.top - PAD.bottom);
			}
			if (this.drag)
				this.shade(c, Math.min(this.drag.from, this.drag.to), Math.max(this.drag.from, this.drag.to), 0.25, "accent");
			else if (this.keys)
				this.shade(c, bar(Math.min(this.keys.from, this.keys.to)), bar(Math.max(this.keys.from, this.keys.to) + 1), 0.25, "accent");
			if (this.cursor !== null)
				this.shade(c, bar(this.cursor), bar(this.cursor + 1), 0.15, "text");
		}
	}

	xagent.timeline = { create: (spec) => new Timeline(spec), colourOf };
})((globalThis.xagent = globalThis.xagent || {}));
