/* SPDX-License-Identifier: Apache-2.0 */
/* The one request that is asked in protobuf: its answer then is a pprof file as it is. Pure. */
(function (xagent) {
	"use strict";

	const VARINT = 0;
	const BYTES = 2;

	/* Numbers up to 2^53: shifts would cut them at 32 bits. */
	function putVarint(out, n) {
		for (; n >= 128; n = Math.floor(n / 128))
			out.push((n % 128) | 128);
		out.push(n);
	}

	function putInt(out, field, n) {
		if (!n)
			return;
		putVarint(out, field * 8 + VARINT);
		putVarint(out, n);
	}

	function putText(out, field, text) {
		const bytes = new TextEncoder().encode(text);
		if (bytes.length === 0)
			return;
		putVarint(out, field * 8 + BYTES);
		putVarint(out, bytes.length);
		for (const b of bytes)
			out.push(b);
	}

	/* querier.v1.SelectMergeProfileRequest */
	function selectMergeProfile(request) {
		const out = [];
		putText(out, 1, request.profileTypeID);
		putText(out, 2, request.labelSelector);
		putInt(out, 3, request.start);
		putInt(out, 4, request.end);
		putInt(out, 5, request.maxNodes || 0);
		return Uint8Array.from(out);
	}

	xagent.proto = { selectMergeProfile };
	if (typeof module !== "undefined")
		module.exports = xagent.proto;
})((globalThis.xagent = globalThis.xagent || {}));
