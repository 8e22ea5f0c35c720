/* SPDX-License-Identifier: Apache-2.0 */
/* What is on the screen to take away: a link, or a file as pprof, folded stacks, SVG, PNG. */
(function (xagent) {
	"use strict";

	const { el, button } = xagent.dom;

	/* Long enough for a browser to begin to read it. */
	const KEEP_URL_MS = 60000;

	function save(blob, name) {
		const url = URL.createObjectURL(blob);
		const link = el("a", { href: url, download: name });
		document.body.append(link);
		link.click();
		link.remove();
		window.setTimeout(() => URL.revokeObjectURL(url), KEEP_URL_MS);
	}

	/* "xagent-postgres-cpu-20261122-102400", of letters that every file system takes. */
	function fileName(what) {
		const service = xagent.selector.service(what.q) || "all";
		const at = xagent.time.full(what.end).replace(/[-:]/g, "").replace(" ", "-");
		return ["xagent", service, what.type.split(":")[1], at].join("-").replace(/[^A-Za-z0-9._-]+/g, "_");
	}

	async function gzip(blob) {
		if (typeof CompressionStream === "undefined")
			return { blob, suffix: ".pb" };
		const stream = blob.stream().pipeThrough(new CompressionStream("gzip"));
		return { blob: await new Response(stream).blob(), suffix: ".pb.gz" };
	}

	async function pprof(what) {
		const packed = await gzip(await xagent.api.pprof(what));
		save(packed.blob, fileName(what) + packed.suffix);
	}

	function text(what, body, suffix, type) {
		save(new Blob([body], { type }), fileName(what) + suffix);
	}

	/* Without a secure connection pages may not write to the clipboard. */
	async function copyLink(link) {
		try {
			await navigator.clipboard.writeText(link);
			return "Copied";
		} catch {
			window.prompt("The link to this view", link);
			return "";
		}
	}

	const FORMATS = {
		link: { text: "Link to this view", title: "Its times do not move on", run: (now) => copyLink(now.link) },
		pprof: { text: "pprof (.pb.gz)", title: "For go tool pprof, and every tool that reads pprof", run: (now) => pprof(now.what) },
		folded: {
			text: "Folded stacks (.txt)", title: "One line a stack",
			run: (now) => text(now.what, xagent.tree.folded(now.tree), ".folded.txt", "text/plain"),
		},
		svg: { text: "Picture, SVG", title: "As it is on the screen", run: (now) => text(now.what, now.flame.toSVG(), ".svg", "image/svg+xml") },
		png: { text: "Picture, PNG", title: "As it is on the screen", run: async (now) => save(await now.flame.toPNG(), fileName(now.what) + ".png") },
	};

	/* spec = {id, formats, current() -> {what, tree, flame, link}, onProblem(error)} */
	function menu(spec) {
		const opener = button("Save", { id: spec.id, title: "As a link or a file" }, "download");
		const panel = el("div", { class: "menu", role: "dialog", "aria-label": "Save" });
		const popover = xagent.popover.attach(opener, panel, () => panel.querySelector("button"));
		const run = async (format) => {
			popover.close();
			opener.disabled = true;
			try {
				xagent.dom.flash(opener, await format.run(spec.current()) || "Saved");
			} catch (error) {
				spec.onProblem(error);
			}
			opener.disabled = false;
		};
		panel.append(...spec.formats.map((name) => button(FORMATS[name].text, {
			id: spec.id + "-" + name, class: "plain", title: FORMATS[name].title, on: { click: () => run(FORMATS[name]) },
		})));
		return el("div", { class: "download" }, opener, panel);
	}

	xagent.download = { menu, fileName };
})((globalThis.xagent = globalThis.xagent || {}));
