/* SPDX-License-Identifier: Apache-2.0 */
/* The one file that holds a flame graph and all that shows it. */
"use strict";

const test = require("node:test");
const assert = require("node:assert");
const fs = require("node:fs");
const { xagent, read, FOLDER, toFlamebearer, standalone } = require("./standalone.js");

const scripts = fs.readdirSync(FOLDER).filter((name) => name.endsWith(".js"));
const tree = xagent.tree.fromFolded("a;b 1\n", {});
const page = (title, flamebearer) => standalone({ title, unit: "samples", flamebearer });

test("every mark stands in a line of its own and names a file that there is", () => {
	const marks = read("standalone.html").split("\n").filter((line) => line.includes("xagent:") && line.startsWith("<!--"));
	assert.ok(marks.every((mark) => /^<!-- xagent:(data|script [a-z_]+\.js) -->$/.test(mark)));
	assert.strictEqual(marks.filter((mark) => mark === "<!-- xagent:data -->").length, 1);
	for (const [, name] of marks.join("\n").matchAll(/xagent:script (\S+)/g))
		assert.ok(scripts.includes(name), name);
	assert.ok(!page("t", toFlamebearer(tree)).includes("<!-- xagent:"));
});

for (const name of scripts)
	test(`${name} can stand in an element, and makes no elements of text`, () => {
		const text = read(name);
		assert.ok(!/<\/script|<!--/i.test(text), "nothing that ends or changes an element of a script");
		assert.ok(!/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/.test(text), "names are texts");
	});

test("the file asks nobody for anything", () => {
	const text = page("t", toFlamebearer(tree));
	assert.match(text, /<meta http-equiv="Content-Security-Policy" content="default-src 'none';/);
	assert.ok(!/\b(src|href)="(?!data:)/.test(text.replace(/<script[\s\S]*?<\/script>/g, "")));
	assert.ok(!/\b(fetch|XMLHttpRequest|WebSocket|EventSource|importScripts)\b|@import|url\(/.test(text));
});

const HOSTILE = ["</script><script>alert(1)</script>", "<!-- <script>", "\u2028\u2029", "\\u003c", "\"}", "]]>", "<!-- xagent:data -->", "&lt;"];
for (const name of HOSTILE)
	test(`a name cannot leave the data: ${JSON.stringify(name)}`, () => {
		const flamebearer = { names: ["total", name], levels: [[0, 1, 0, 0], [0, 1, 1, 1]], numTicks: 1, maxSelf: 1 };
		const text = page(name, flamebearer);
		const data = /^<script type="application\/json" id="xagent-profile">([\s\S]*?)<\/script>/m.exec(text)[1];
		assert.ok(!data.includes("<"));
		assert.deepStrictEqual(JSON.parse(data), { title: name, unit: "samples", flamebearer });
		const elements = (html) => (html.match(/<\/?script/gi) || []).length;
		assert.strictEqual(elements(text), elements(page("t", toFlamebearer(tree))));
	});
