// SPDX-License-Identifier: Apache-2.0
// nested.js SECONDS: one chain of calls, at the end of which a byte is read.
'use strict';
const fs = require('fs');

const own = fs.openSync(__filename, 'r');
const byte = Buffer.alloc(1);

class Service {
	handle(n) { return outer(n); }
}
function outer(n) { return [n].map(function mapped(m) { return middle(m); })[0]; }
function middle(n) { return inner(n) + 1; }
function inner(n) {
	let sum = 0;
	for (let i = 0; i < n; i++) sum += i % 7;
	return sum + fs.readSync(own, byte, 0, 1, 0);
}
function main() {
	const service = new Service();
	for (const end = Date.now() + 1000 * process.argv[2]; Date.now() < end;) service.handle(2000);
}
main();
