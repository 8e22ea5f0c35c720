/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Colours of frames: xagent.colour.
 *
 * A colour tells what kind of code a frame is (the program's own, a standard library, a runtime, the kernel …) by its hue; within a
 * kind names differ a little, those of one package less. Of a comparison it tells how the share changed. Colours are chosen by perceived
 * lightness (OKLCH), so that one colour of text is readable on each of them: at least 4.5 to 1, which a test computes. Pure.
 */
(function () {
	"use strict";

	/* In the order of their numbers. Hues in degrees of OKLCH. */
	const KINDS = [
		{ id: "app", label: "program", hue: [46, 78], chroma: 1 },
		{ id: "unnamed", label: "without a name", hue: [60, 100], chroma: 0.3 },
		{ id: "library", label: "standard library", hue: [165, 200], chroma: 0.75 },
		{ id: "runtime", label: "runtime", hue: [284, 312], chroma: 0.75 },
		{ id: "kernel", label: "kernel", hue: [235, 262], chroma: 0.85 },
		{ id: "jit", label: "interpreted or made at run time", hue: [125, 148], chroma: 0.9 },
		{ id: "note", label: "not known", hue: [250, 250], chroma: 0.06 },
		{ id: "root", label: "all", hue: [250, 250], chroma: 0.06 },
	];
	const KIND = Object.fromEntries(KINDS.map((kind, i) => [kind.id, i]));
	const HUES = 4;
	const SHADES = 3;
	const VARIANTS = HUES * SHADES;
	/* Steps from "much less" to "much more" on each side of "the same". */
	const DIFF_STEPS = 20;

	const THEMES = {
		light: {
			background: "#ffffff", surface: "#ffffff", edge: "#d9dee5", muted: "#55606e", accent: "#1f5fd0", ring: "#0b0d10",
			text: "#1b222c", onFaded: "#1b222c", onFill: "#1b222c",
			lightness: [0.83, 0.89], chroma: 0.09, grey: 0.9, faded: { l: 0.955, part: 0.3 }, match: [0.76, 0.17, 335],
			diff: { grey: 0.91, end: 0.73, chroma: 0.15 },
		},
		dark: {
			background: "#161b22", surface: "#1d242d", edge: "#39424e", muted: "#9aa6b5", accent: "#78aaff", ring: "#ffffff",
			text: "#e4e9f0", onFaded: "#ccd3dc", onFill: "#10151b",
			lightness: [0.69, 0.76], chroma: 0.082, grey: 0.64, faded: { l: 0.345, part: 0.5 }, match: [0.72, 0.19, 335],
			diff: { grey: 0.62, end: 0.68, chroma: 0.15 },
		},
	};
	/* Hues of less and more. Blue and orange look different to those who do not tell red from green. */
	const DIFF_HUES = { "red-green": [150, 25], "blue-orange": [252, 55] };

	/* --- OKLCH to sRGB (CSS Color 4) --- */

	function linear({ l, c, h }) {
		const a = c * Math.cos((h * Math.PI) / 180);
		const b = c * Math.sin((h * Math.PI) / 180);
		const [x, y, z] = [
			l + 0.3963377774 * a + 0.2158037573 * b,
			l - 0.1055613458 * a - 0.0638541728 * b,
			l - 0.0894841775 * a - 1.291485548 * b,
		].map((v) => v ** 3);
		return [
			4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z,
			-1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z,
			-0.0041960863 * x - 0.7034186147 * y + 1.707614701 * z,
		];
	}

	function encoded(v) {
		const clamped = Math.min(1, Math.max(0, v));
		return Math.round(255 * (clamped <= 0.0031308 ? 12.92 * clamped : 1.055 * clamped ** (1 / 2.4) - 0.055));
	}

	/** "#rrggbb". A colour that screens cannot show loses chroma until they can. */
	function oklch(l, c, h) {
		let rgb = linear({ l, c, h });
		for (let less = c; less > 0 && rgb.some((v) => v < -0.001 || v > 1.001); less -= 0.005)
			rgb = linear({ l, c: less, h });
		return "#" + rgb.map((v) => encoded(v).toString(16).padStart(2, "0")).join("");
	}

	function luminance(hex) {
		const [r, g, b] = [1, 3, 5].map((i) => {
			const v = parseInt(hex.slice(i, i + 2), 16) / 255;
			return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
		});
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	}

	/** Contrast of two "#rrggbb" as WCAG defines it. */
	function contrast(a, b) {
		const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
		return (high + 0.05) / (low + 0.05);
	}

	/* --- kinds --- */

	/* The first frame of the kernel in a stack: entries from user code, interrupts, faults, and where threads of the kernel begin. */
	const KERNEL_ENTRY = new RegExp(
		"^(entry_(SYSCALL|SYSENTER|INT80)|asm_(exc|sysvec|common|load|spurious|call|fred)_|ret_from_fork|do_syscall_64$" +
		"|common_startup_64|secondary_startup_64|start_secondary$|cpu_startup_entry$|x86_64_start_|el[01]t?_|el0_|el1_" +
		"|vectors$|__kernel_|fred_|int80_|\\[kernel\\]$)|_\\[k\\]$");
	const LIBRARY = new RegExp(
		"^(_start|start_thread|clone3?|__clone3?|_int_(malloc|free|realloc)|(m|c|re)alloc|free|cfree|posix_memalign|aligned_alloc" +
		"|malloc_\\w+|unlink_chunk.*|sysmalloc|systrim.*|tcache_\\w+|arena_get\\w*|v?f?s?n?printf\\w*|qsort(_r)?|msort_with_tmp.*" +
		"|(f|p)?(read|write)(v|64)?|f(open|close|flush|gets|puts|seek)\\w*|getdelim|getline|_IO_\\w+|_dl_\\w+|dl_\\w+|_nss_\\w+" +
		"|__(libc|GI|pthread|IO|nptl|nscd|res|strto|mem|str|wcs|vfprintf|printf|poll|select|epoll|clock|getdents|fstat|lstat|stat|open" +
		"|read|write|close|mmap|munmap|mprotect|madvise|brk|sbrk|futex|lll|tls|tz|gettimeofday|ieee754|sin|cos|exp|log|pow)\\w*" +
		"|pthread_\\w+|sem_\\w+|mem(cpy|move|set|cmp|chr|mem|pcpy|rchr)\\w*|(str|stp|wcs)(len|cpy|cmp|chr|cat|str|dup|spn|tok|to|n|r|case)\\w*" +
		"|(clock_)?gettime(ofday)?|nanosleep|clock_nanosleep|usleep|sleep|epoll_p?wait|p?poll|select|sched_yield|mmap(64)?|munmap" +
		"|madvise|s?brk|open(at|dir)?(64)?|close(dir)?|readdir(64)?|l?f?stat(at|x)?(64)?|ioctl|fcntl(64)?|recv(from|msg)?|send(to|msg|file64)?" +
		"|accept4?|connect|socket|wait(4|pid|id)?|fork|v?fork|exec[lv][pe]{0,2}|exit|abort|raise|syscall|getenv|regexec|regcomp|iconv|setjmp|longjmp" +
		"|_Unwind_\\w+|__cxa_\\w+|operator (new|delete).*)(@.*)?$" +
		"|^(libc|libm|libpthread|libdl|librt|libgcc_s|libstdc\\+\\+|ld-linux|ld-musl|ld)([-.][^/]*)?\\+0x|^(std|__gnu_cxx|__gnu_pbds)::");
	const RUNTIME = new RegExp(
		"^(_?Py[A-Z_]|_?_Py|pymain_|run_mod$|run_eval_code_obj|pyrun_|builtin___|builtin_exec|cfunction_|method_vectorcall|object_vacall" +
		"|slot_tp_|type_call$|vectorcall_|import_find|gc_collect|_?gc_" +
		"|runtime[./(]|internal/runtime|gcWriteBarrier|gogo$|rt0_go" +
		"|JVM_|JavaCalls?::|JavaThread::|JavaMain|Interpreter|InterpreterRuntime|G1|ZGC|Shenandoah|GCTaskThread|WorkerThread::|VMThread|Compile(r|Broker|::)" +
		"|C2Compiler|PhaseI|Parse::|Thread::call_run|thread_native_entry|java_start|StubRoutines|call_stub" +
		"|v8::|node::|uv_|uv__|Builtins_|Builtin:|rb_|vm_exec|vm_call|ruby_|rbimpl|yjit|zend_|php_|execute_ex|ZEND_" +
		"|Perl_|perl_|S_[a-z]+_?|lua[A-Z]?_|lua_|luaV|luaD|coreclr|mono_|beam_|erts_|process_main|hs_|stg_|scheduleDo" +
		"|core::|alloc::|tokio::runtime|__rust_|rust_begin)|^(libpython|libruby|libjvm|libnode|libcoreclr|libmono|libperl|libphp)[^/]*\\+0x");

	/** What kind of code a name is by itself. */
	function kindOfName(name) {
		if (KERNEL_ENTRY.test(name))
			return KIND.kernel;
		if (name === "[jit]")
			return KIND.jit;
		if (/^\[.*\]$/.test(name) || name === "other" || name === "?")
			return KIND.note;
		if (LIBRARY.test(name))
			return KIND.library;
		if (RUNTIME.test(name))
			return KIND.runtime;
		return /\+0x[0-9a-f]+$/.test(name) ? KIND.unnamed : KIND.app;
	}

	/* Below an entry of the kernel all is the kernel's, whatever it is called. */
	function weighKernel(tree, kinds) {
		const kernel = new Uint8Array(tree.n);
		const balance = new Float64Array(tree.names.length);
		for (let i = 1; i < tree.n; i++) {
			const id = tree.name[i];
			kernel[i] = kernel[tree.parent[i]] || kinds[id] === KIND.kernel ? 1 : 0;
			balance[id] += kernel[i] ? tree.weight[i] : -tree.weight[i];
		}
		return balance;
	}

	/* By the array of names, which trees share that were taken from one: what is the kernel's is seen in the whole tree only. */
	const known = new WeakMap();

	/** Kind of each name of a tree: Uint8Array. */
	function kinds(tree) {
		const before = known.get(tree.names);
		if (before && before.length === tree.names.length)
			return before;
		const result = Uint8Array.from(tree.names, kindOfName);
		if (tree.inverted)
			return result;
		weighKernel(tree, result).forEach((balance, id) => {
			if (balance > 0 && result[id] !== KIND.note)
				result[id] = KIND.kernel;
		});
		known.set(tree.names, result);
		return result;
	}

	/* FNV-1a. */
	function hash(text) {
		let h = 0x811c9dc5;
		for (let i = 0; i < text.length; i++)
			h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
		return (h ^ (h >>> 15)) >>> 0;
	}

	/* What names of one package, class or file have in common. */
	function family(name) {
		const object = /^(.+)\+0x/.exec(name);
		if (object)
			return object[1];
		const at = Math.max(name.lastIndexOf("::"), name.lastIndexOf("/"), name.indexOf("."));
		return at > 0 ? name.slice(0, at) : name.split("_", 2).join("_");
	}

	/* --- which colour --- */

	function change(tree, i) {
		const left = tree.sum ? tree.total[i] / tree.sum : 0;
		const right = tree.sumRight ? tree.totalRight[i] / tree.sumRight : 0;
		const most = Math.max(left, right);
		return most ? (right - left) / most : 0;
	}

	/** For each node the number of its colour in palette().fills. */
	function indices(tree) {
		if (tree.totalRight)
			return Uint8Array.from({ length: tree.n }, (_, i) => DIFF_STEPS + Math.round(change(tree, i) * DIFF_STEPS));
		const kind = kinds(tree);
		const byName = Uint8Array.from(tree.names, (name, id) =>
			kind[id] * VARIANTS + (hash(family(name)) % HUES) * SHADES + (hash(name) % SHADES));
		const result = Uint8Array.from(tree.name, (id) => byName[id]);
		if (tree.whole === tree.sum && !tree.inverted)
			result[0] = KIND.root * VARIANTS;
		return result;
	}

	/* What is not meant at the moment keeps its hue, close to the ground. */
	function fading(theme) {
		const { l, part } = THEMES[theme].faded;
		return (_, c, h) => oklch(l, c * part, h);
	}

	function kindFill(theme, kind, hueStep, shade, make) {
		const { lightness, chroma, grey } = THEMES[theme];
		if (kind.chroma < 0.1)
			return make(grey, 0.008, kind.hue[0]);
		const hue = kind.hue[0] + ((kind.hue[1] - kind.hue[0]) * hueStep) / (HUES - 1);
		const l = lightness[0] + ((lightness[1] - lightness[0]) * shade) / (SHADES - 1);
		return make(l, chroma * kind.chroma, hue);
	}

	function kindFills(theme, make) {
		const fills = [];
		for (const kind of KINDS)
			for (let hue = 0; hue < HUES; hue++)
				for (let shade = 0; shade < SHADES; shade++)
					fills.push(kindFill(theme, kind, hue, shade, make));
		return fills;
	}

	function diffFills(theme, hues, make) {
		const { grey, end, chroma } = THEMES[theme].diff;
		const [less, more] = DIFF_HUES[hues] || DIFF_HUES["red-green"];
		const fills = [];
		for (let step = -DIFF_STEPS; step <= DIFF_STEPS; step++) {
			const size = Math.abs(step) / DIFF_STEPS;
			fills.push(make(grey + (end - grey) * size, chroma * size ** 0.7, step < 0 ? less : more));
		}
		return fills;
	}

	/**
	 * Colours of a theme ("light", "dark"): fills by number, the same faded, and what else is drawn with. options: {diff: true,
	 * hues: "red-green" or "blue-orange"}.
	 */
	function palette(theme, options) {
		const { diff, hues } = options || {};
		const known = Object.hasOwn(THEMES, theme) ? theme : "light";
		const { text, onFill, onFaded, background, muted, edge, accent, surface, ring, match } = THEMES[known];
		const fillsOf = (make) => (diff ? diffFills(known, hues, make) : kindFills(known, make));
		return {
			fills: fillsOf(oklch), fadedFills: fillsOf(fading(known)), match: oklch(...match),
			text, onFill, onFaded, background, muted, edge, accent, surface, ring,
		};
	}

	/** Kinds that are in a tree, as [{label, fill}], by weight. Of a comparison "less", steps, "more"; either part may be empty. */
	function legend(tree, theme, hues) {
		if (tree.totalRight) {
			const fills = diffFills(theme, hues, oklch);
			const steps = [0, 0.25, 0.5, 0.75, 1].map((at) => ({ label: "", fill: fills[at * 2 * DIFF_STEPS] }));
			return [{ label: "less", fill: "" }, ...steps, { label: "more", fill: "" }];
		}
		const kind = kinds(tree);
		const weight = new Float64Array(KINDS.length);
		for (let i = 1; i < tree.n; i++)
			weight[kind[tree.name[i]]] += tree.self[i] + tree.total[i] * 1e-9;
		const fills = kindFills(theme, oklch);
		return KINDS.map(({ label }, k) => ({ label, k, fill: fills[k * VARIANTS + SHADES + 1] }))
			.filter(({ k }) => weight[k] > 0).sort((a, b) => weight[b.k] - weight[a.k]).map(({ label, fill }) => ({ label, fill }));
	}

	const api = { KINDS, kinds, kindOfName, indices, palette, legend, contrast, oklch };
	globalThis.xagent = globalThis.xagent || {};
	globalThis.xagent.colour = api;
	if (typeof module !== "undefined")
		module.exports = api;
})();
