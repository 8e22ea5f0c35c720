/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8: recognise it, and make it of anything. */
#ifndef XAGENT_PPROF_UTF8_H
#define XAGENT_PPROF_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one invalid byte can grow to: U+FFFD. */
#define UTF8_REPLACEMENT_BYTES 3

bool pprof_utf8_valid(const char *text, size_t n);

/*
 * Writes at most n * UTF8_REPLACEMENT_BYTES bytes, each invalid byte as U+FFFD; returns how many.
 */
size_t pprof_utf8_repair(const char *text, size_t n, char *ret_text);

/*
 * How many bytes to leave out at the front of text, so that at most max remain and no code point is
 * cut.
 */
size_t pprof_utf8_tail(const char *text, size_t n, size_t max);

#endif
