/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: a symbol's name in every mode. Results are bounded and valid UTF-8. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "agent/object/demangle/demangle.h"
#include "agent/object/demangle/simplify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str name = { (const char *)data, size };
	_cleanup_buf_ struct buf out = BUF_INIT(DEMANGLE_MAX_RESULT_BYTES);
	_cleanup_buf_ struct buf text = BUF_INIT(DEMANGLE_MAX_OUTPUT_BYTES);

	for (int mode = 0; mode < DEMANGLE_MODE_MAX; mode++) {
		if (demangle(name, (enum demangle_mode)mode, &out) != 0)
			abort();
		if (out.len >= DEMANGLE_MAX_RESULT_BYTES ||
		    !str_is_utf8((struct str){ out.data, out.len }))
			abort();
	}
	/* The passes over demangled text, on text that no demangler made. */
	(void)simplify_cxx(name, size & 1, &text);
	buf_reset(&text);
	(void)simplify_rust(name, &text);
	buf_reset(&text);
	(void)simplify_d(name, size & 1, &text);
	return 0;
}
