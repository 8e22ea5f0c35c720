/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions in the bytes of a module of WebAssembly: its custom section "name" (core specification, appendix, 7.4.1). As V8 reads it: the first section of
 * that name counts, names that are no UTF-8 or empty are none, and what is malformed ends it. A function with two names has none. Pure.
 */
#ifndef XAGENT_AGENT_RUNTIMES_V8_WASM_NAMES_H
#define XAGENT_AGENT_RUNTIMES_V8_WASM_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of a module, which lie elsewhere. */
struct wasm_bytes {
	bool (*read)(void *data, uint32_t off, void *dst, size_t n); /* inside of them */
	void *data;
	uint32_t n;
};

/* What is behind the section's own name. 0; -ENOENT: there is none, or it is no module; -EAGAIN: it cannot be read. */
int wasm_names_find(const struct wasm_bytes *bytes, uint32_t *ret_off, uint32_t *ret_n);

struct wasm_name {
	uint32_t number; /* the function's */
	uint32_t at, n;	 /* its name, in the section */
};

/* By number, to be freed; each has some bytes. 0; -E2BIG: there are more than max; -ENOMEM. */
int wasm_names_read(const uint8_t *section, uint32_t n_section, size_t max,
		    struct wasm_name **ret_names, size_t *ret_n);

#endif
