/* SPDX-License-Identifier: Apache-2.0 */
/* Type information, as the kernel's and as the object's at once: what comes out is well-formed, and its own part. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sample/btf_subset.h"
#include "agent/sample/btf_view.h"
#include "agent/util/cleanup.h"

/* What repeats a name for each of its uses grows; this is more than small inputs can make of it in a second. */
#define MAX_OUT_BYTES ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct str part, struct str object)
{
	_cleanup_buf_ struct buf again = BUF_INIT(MAX_OUT_BYTES);
	_cleanup_btf_view_ struct btf_view v = { 0 };

	assert(btf_view_init(&v, part) == 0);
	for (uint32_t id = 1; id <= v.n; id++)
		assert(btf_view_name(&v, btf_view_type(&v, id)->name_off));
	assert(btf_subset(part, object, &again) == 0);
	assert(again.len == part.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf out = BUF_INIT(MAX_OUT_BYTES);
	/* Of exactly this size. */
	_cleanup_free_ char *bytes = malloc(size ? size : 1);

	if (!bytes)
		return 0;
	if (size > 0)
		memcpy(bytes, data, size);
	struct str raw = { bytes, size };
	if (btf_subset(raw, raw, &out) == 0)
		check((struct str){ out.data, out.len }, raw);
	return 0;
}
