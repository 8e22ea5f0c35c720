// SPDX-License-Identifier: Apache-2.0
// Ten calls deep in V8. usage: node nodes.js SECONDS
'use strict';
const end = Date.now() + 1000 * Number(process.argv[2] || 10);
let x = 1;

function work(until) {
	while (performance.now() < until)
		for (let i = 0; i < 20000; i++)
			x = (x * 1103515245 + 12345) % 2147483648;
}

function descend(level, until) {
	if (level > 0)
		descend(level - 1, until);
	else
		work(until);
}

const timer = setInterval(() => {
	descend(8, performance.now() + 20);
	if (Date.now() >= end)
		clearInterval(timer);
}, 100);
