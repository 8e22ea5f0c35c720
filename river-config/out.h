/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers small pieces before they go to a river_write_fn. Flush at the end. */
#ifndef XAGENT_RIVER_CONFIG_OUT_H
#define XAGENT_RIVER_CONFIG_OUT_H

#include "river-config/river.h"

struct river_out {
	river_write_fn write;
	void *ctx;
	size_t len;
	char data[240];
};

#define RIVER_OUT_INIT(write_fn, write_ctx) \
	((struct river_out){ .write = (write_fn), .ctx = (write_ctx) })

void river_out_append(struct river_out *out, const char *bytes, size_t n);
void river_out_str(struct river_out *out, const char *s);
void river_out_repeat(struct river_out *out, char c, size_t n);
void river_out_rune(struct river_out *out, uint32_t c);

/* A number, right-aligned to `width`; width 0: as it is. */
void river_out_number(struct river_out *out, uint64_t number, unsigned int width);
void river_out_flush(struct river_out *out);

#endif
