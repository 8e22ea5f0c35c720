/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing byte buffer with a ceiling.
 *
 * The ceiling is an argument of init, so that no input can make a buffer larger than its user meant. `data` is always followed by
 * a NUL byte that `len` does not count; it may be NULL while nothing was appended. A failed append leaves the buffer as it was and
 * sets `failed`, so a caller may append many times and look once.
 */
#ifndef XAGENT_AGENT_UTIL_BUF_H
#define XAGENT_AGENT_UTIL_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "agent/util/cleanup.h"

struct buf {
	char *data;
	size_t len;
	size_t cap;
	size_t max_bytes;
	bool failed;
};

#define BUF_INIT(max) ((struct buf){ .max_bytes = (max) })

void buf_init(struct buf *b, size_t max_bytes);
void buf_fini(struct buf *b);
#define _cleanup_buf_ _cleanup_(buf_fini)

/* Empties, keeps the memory, clears `failed`. */
void buf_reset(struct buf *b);

/* All return 0, -ENOBUFS (ceiling) or -ENOMEM. */
int buf_reserve(struct buf *b, size_t extra);
int buf_append(struct buf *b, const void *bytes, size_t n);
int buf_append_str(struct buf *b, const char *s);
int buf_append_char(struct buf *b, char c);
int buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

/* The text so far, "" when empty; borrowed. */
const char *buf_str(const struct buf *b);

/* Moves the bytes out (NUL terminated, never NULL unless memory ran out); the caller frees. The buffer is empty afterwards. */
char *buf_take(struct buf *b);

#endif
