/* SPDX-License-Identifier: Apache-2.0 */
/* Joins all: the state in the address, the view that shows it, the clock that asks again, and what is said when nobody answers. */
(function (xagent) {
	"use strict";

	const { el, byId } = xagent.dom;

	const LIVE_MS = 5000;
	/* A store that is slow to answer is asked less often: at most this part of its time. */
	const LIVE_SHARE = 1 / 8;
	/* While the store is empty: the first profile is what everybody waits for. */
	const WAIT_MS = 1500;
	const REWRITE_MS = 1000;
	const YOUNG_MS = 300000;
	const YOUNG_FROM = "now-5m";
	const RETRY_MS = [1000, 2000, 5000];
	/* What another answer is needed for; all else is about the one that is there. */
	const ASKED = ["view", "type", "q", "from", "to", "by", "lq", "lf", "lt", "rq", "rf", "rt"];

	class App {
		constructor() {
			this.now = xagent.state.parse(window.location.hash);
			this.types = [];
			this.at = null;
			this.failures = 0;
			this.timer = 0;
			this.tookMs = 0;
			this.controller = null;
			this.toolbar = xagent.toolbar.create(this);
			this.views = {
				profile: xagent.profile.create(byId("profile"), this),
				compare: xagent.compare.create(byId("compare"), this),
				status: xagent.status.create(byId("status"), this),
			};
		}

		state() {
			return this.now;
		}

		/* The type that is asked for: the one that was chosen, else CPU, else what there is. */
		type() {
			const { CPU } = xagent.state;
			if (this.now.type !== "")
				return this.now.type;
			return this.types.length === 0 || this.types.some((t) => t.ID === CPU) ? CPU : this.types[0].ID;
		}

		/* The range of the last question, so that all that is shown is of one time. */
		window() {
			if (!this.at)
				this.at = xagent.time.resolve(this.now, Date.now()) || xagent.time.resolve(xagent.state.defaults(), Date.now());
			return this.at;
		}

		view() {
			return this.views[this.now.view];
		}

		link(patch) {
			return xagent.state.format({ ...this.now, ...patch });
		}

		/* The whole address of what is on the screen now, for others and for later. */
		fixedLink(patch) {
			const { start, end } = this.window();
			return new URL(this.link({ from: String(start), to: String(end), ...patch }), window.location.href).href;
		}

		set(patch, options) {
			const before = this.now;
			const next = { ...before, ...patch };
			const changed = xagent.state.changed(before, next);
			if (changed.length === 0)
				return;
			this.now = next;
			this.write(options && options.replace ? "replaceState" : "pushState");
			this.changed(changed);
		}

		/* Browsers refuse when an address changes too often, as under a key that is held: then a moment later. */
		write(how) {
			const text = xagent.state.format(this.now);
			window.clearTimeout(this.writer);
			try {
				window.history[how](null, "", text);
			} catch {
				this.writer = 0;
			}
			if (window.location.hash !== (text === "#" ? "" : text))
				this.writer = window.setTimeout(() => this.write("replaceState"), REWRITE_MS);
		}

		changed(names) {
			const ask = names.some((name) => ASKED.includes(name));
			if (ask)
				this.at = null;
			this.show();
			if (ask)
				this.refresh();
			else if (names.includes("live"))
				this.plan();
		}

		show() {
			for (const name of Object.keys(this.views)) {
				byId(name).hidden = name !== this.now.view;
				byId("view-" + name).toggleAttribute("aria-current", false);
				byId("view-" + name).href = this.link({ view: name });
			}
			byId("view-" + this.now.view).setAttribute("aria-current", "page");
			document.title = (xagent.selector.service(this.now.q) || (this.hostname ? this.hostname : "all services")) + " · xagent";
			this.toolbar.show(this.now);
			this.view().show(this.now);
		}

		/* Asks anew; what was asked before is let go. */
		async refresh() {
			if (this.controller)
				this.controller.abort();
			const controller = new AbortController();
			this.controller = controller;
			this.at = null;
			const begun = performance.now();
			document.body.dataset.busy = "";
			byId("main").setAttribute("aria-busy", "true");
			const error = await this.loadAll(controller.signal);
			if (this.controller !== controller)
				return;
			this.controller = null;
			this.tookMs = performance.now() - begun;
			delete document.body.dataset.busy;
			byId("main").setAttribute("aria-busy", "false");
			this.settle(error);
		}

		async loadAll(signal) {
			const jobs = [this.view().load(signal)];
			if (this.now.view !== "status")
				jobs.push(this.loadTypes(signal), this.loadServices(signal));
			const results = await Promise.allSettled(jobs);
			const errors = results.filter((r) => r.status === "rejected").map((r) => r.reason);
			return errors.find((e) => e.kind !== "aborted") || null;
		}

		settle(error) {
			if (error && !(error instanceof xagent.api.Problem))
				console.error(error);
			if (error)
				this.fail(error);
			else
				this.recovered();
			this.plan();
		}

		async loadTypes(signal) {
			const before = this.type();
			const answer = await xagent.api.profileTypes(this.window(), signal);
			this.types = answer.profileTypes || [];
			this.toolbar.setTypes(this.types);
			if (this.type() !== before)
				this.again = true;
		}

		async loadServices(signal) {
			const { start, end } = this.window();
			const what = { type: this.type(), q: xagent.selector.withService(this.now.view === "compare" ? "" : this.now.q, ""), start, end };
			if (xagent.selector.parse(this.now.q) === null)
				what.q = "";
			const name = xagent.selector.SERVICE;
			const answer = await xagent.api.series(what, { groupBy: [name], step: Math.ceil((end - start) / 1000) }, signal);
			this.toolbar.setServices(xagent.series.totals(answer, name));
			this.views.compare.setServices(this.toolbar.service.options);
		}

		/* When to ask next. Nobody looks at a hidden page. */
		plan() {
			window.clearTimeout(this.timer);
			if (this.again) {
				this.again = false;
				this.refresh();
				return;
			}
			const wait = this.nextWait();
			if (wait)
				this.timer = window.setTimeout(() => this.tick(), wait);
		}

		nextWait() {
			if (document.hidden)
				return 0;
			if (this.failures)
				return RETRY_MS[Math.min(this.failures, RETRY_MS.length) - 1];
			if (this.waiting)
				return WAIT_MS;
			if (this.now.live !== "on")
				return 0;
			return this.now.view === "status" || (this.now.view === "profile" && xagent.time.isLive(this.now)) ? Math.max(LIVE_MS, this.tookMs / LIVE_SHARE) : 0;
		}

		tick() {
			if (this.controller)
				this.plan();
			else
				this.refresh();
		}

		waitForProfile() {
			this.waiting = true;
		}

		onProfile() {
			this.waiting = false;
		}

		fail(error) {
			if (error.kind === "gone") {
				this.gone(error);
				return;
			}
			this.recovered();
			this.view().fail(error instanceof xagent.api.Problem ? error : { kind: "server", message: String(error.message || error) });
		}

		gone(error) {
			this.failures++;
			this.since = this.since || Date.now();
			const banner = byId("banner");
			if (!banner.hidden)
				return;
			banner.hidden = false;
			banner.replaceChildren(el("span", { text: "The agent does not answer since " + xagent.time.clock(this.since, true) +
				". What you see is from before; it is asked again and again." }),
			el("button", { type: "button", id: "retry", text: "Ask now", title: error.message, on: { click: () => this.refresh() } }));
		}

		recovered() {
			this.failures = 0;
			this.since = 0;
			byId("banner").hidden = true;
		}

		async status() {
			try {
				const status = await xagent.api.status();
				this.onStatus(status);
				return status;
			} catch {
				return null;
			}
		}

		onStatus(status) {
			const ill = (status.components || []).some((c) => c.state === "unhealthy");
			this.hostname = status.hostname;
			this.oldest = status.store ? status.store.oldest_ms : 0;
			byId("host").textContent = status.hostname || "";
			byId("status-dot").hidden = !ill;
		}

		serviceLink(name) {
			return this.link({ view: "profile", q: xagent.selector.withService("", name) });
		}

		openService(name) {
			this.set({ view: "profile", q: xagent.selector.withService("", name) });
		}

		start() {
			xagent.app.frame(this);
			this.show();
			this.refresh();
			this.begin();
		}

		/* Of a store that has just begun, the usual time would be a sliver at the right border. */
		async begin() {
			const status = await this.status();
			if (window.location.hash === "" && status && status.store && (!this.oldest || status.now_ms - this.oldest < YOUNG_MS))
				this.set({ from: YOUNG_FROM }, { replace: true });
		}
	}

	const THEME_GLYPHS = { system: "system", light: "sun", dark: "moon" };

	function themeButton() {
		const node = byId("theme");
		const show = () => {
			const choice = xagent.theme.choice();
			const text = "Colours: " + (choice === "system" ? "as the system" : choice);
			node.replaceChildren(xagent.dom.glyph(THEME_GLYPHS[choice]));
			node.title = text;
			node.setAttribute("aria-label", text);
		};
		node.addEventListener("click", () => { xagent.theme.next(); show(); });
		show();
	}

	/* What is around the views. */
	function frame(app) {
		themeButton();
		xagent.keys.install(app);
		byId("skip").addEventListener("click", (event) => { event.preventDefault(); byId("main").focus(); });
		for (const view of Object.keys(app.views))
			byId("view-" + view).addEventListener("click", (event) => {
				if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0)
					return;
				event.preventDefault();
				app.set({ view });
			});
		window.addEventListener("popstate", () => {
			const before = app.now;
			app.now = xagent.state.parse(window.location.hash);
			app.changed(xagent.state.changed(before, app.now));
		});
		document.addEventListener("visibilitychange", () => (app.nextWait() ? app.tick() : app.plan()));
	}

	xagent.app = { frame };
	xagent.app.app = new App();
	xagent.app.app.start();
})((globalThis.xagent = globalThis.xagent || {}));
