/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions in the bytes of a module of WebAssembly: whatever those say, names lie within them, and each function has one. */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/runtimes/v8/wasm_names.h"
#include "agent/util/cleanup.h"
#include "agent/util/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Few, so that there are too many at times. */
#define MAX_NAMES 100

struct module {
	const uint8_t *data;
	size_t size;
};

static bool read_module(void *data, uint32_t off, void *dst, size_t n)
{
	const struct module *m = data;

	assert(off <= m->size && n <= m->size - off);
	memcpy(dst, m->data + off, n);
	return true;
}

static void check_names(const uint8_t *section, uint32_t n_section)
{
	_cleanup_free_ struct wasm_name *names = NULL;
	size_t n;
	int r = wasm_names_read(section, n_section, MAX_NAMES, &names, &n);

	assert(r == 0 || r == -E2BIG);
	for (size_t i = 0; r == 0 && i < n; i++) {
		const char *name = (const char *)section + names[i].at;

		assert(names[i].n && names[i].at + (uint64_t)names[i].n <= n_section);
		assert(i == 0 || names[i - 1].number < names[i].number);
		assert(str_is_utf8((struct str){ name, names[i].n }));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct module m = { data, size };
	const struct wasm_bytes bytes = { read_module, &m, (uint32_t)size };
	uint32_t off, n;

	if (wasm_names_find(&bytes, &off, &n) == 0) {
		assert(off + (uint64_t)n <= size);
		check_names(data + off, n);
	}
	check_names(data, (uint32_t)size);
	return 0;
}
