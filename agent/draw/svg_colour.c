/* SPDX-License-Identifier: Apache-2.0 */
/* The colour of a function. */
#include "agent/draw/svg_colour.h"

#include <string.h>

#include "agent/util/hash.h"

#define N_HUES 4
#define N_SHADES 3
/* The middle of each kind. */
#define MIDDLE_HUE 1
#define MIDDLE_SHADE 1

struct palette {
	const char *label;
	uint32_t fills[N_HUES][N_SHADES];
};

/* palette("light").fills of agent/page/colour.js: equal steps of hue and lightness in OKLCH. */
static const struct palette palettes[FLAME_KIND_MAX] = {
	[FLAME_PROGRAM] = { "program",
			    { { 0xf9b596, 0xfec1a5, 0xfecfba },
			      { 0xf5b98e, 0xffc297, 0xfdd1b2 },
			      { 0xefbc88, 0xf9c691, 0xffd1a2 },
			      { 0xe8c184, 0xf2ca8d, 0xfcd496 } } },
	[FLAME_LIBRARY] = { "library",
			    { { 0x9ed6bc, 0xa8e0c6, 0xb1ead0 },
			      { 0x98d6c6, 0xa1e0d0, 0xabeada },
			      { 0x94d6d0, 0x9de0d9, 0xa7eae3 },
			      { 0x92d5d9, 0x9cdfe2, 0xa5e9ec } } },
	[FLAME_KERNEL] = { "kernel",
			   { { 0x96d0f2, 0xa0dafc, 0xb4e2fe },
			     { 0x9dcef6, 0xa9d7fd, 0xbce0fe },
			     { 0xa4cbf9, 0xb3d4fc, 0xc3defd },
			     { 0xacc8fa, 0xb9d2fe, 0xc8dcfe } } },
	[FLAME_JIT] = { "interpreted or made at run time",
			{ { 0xbbd197, 0xc5dba1, 0xcee5aa },
			  { 0xb3d39d, 0xbddda6, 0xc6e7b0 },
			  { 0xabd5a3, 0xb5dfad, 0xbfe9b6 },
			  { 0xa4d6aa, 0xade0b3, 0xb7eabd } } },
	[FLAME_UNNAMED] = { "without a name",
			    { { 0xd5c4b6, 0xdfcdc0, 0xe9d7c9 },
			      { 0xd2c5b5, 0xdccfbe, 0xe6d8c8 },
			      { 0xcfc7b4, 0xd9d0bd, 0xe2dac7 },
			      { 0xcbc8b4, 0xd5d2be, 0xdfdcc8 } } },
	[FLAME_NOTE] = { "not known",
			 { { 0xdadee3, 0xdadee3, 0xdadee3 },
			   { 0xdadee3, 0xdadee3, 0xdadee3 },
			   { 0xdadee3, 0xdadee3, 0xdadee3 },
			   { 0xdadee3, 0xdadee3, 0xdadee3 } } },
};

static size_t last_of(const char *name, const char *end, char c)
{
	const char *at = memrchr(name, c, (size_t)(end - name));

	return at ? (size_t)(at - name) : 0;
}

/* "net/http" of "net/http.(*conn).serve", "std::vector" of "std::vector::push_back", "tcp" of "tcp_sendmsg". */
static size_t group_length(const char *name)
{
	const char *end = name + strcspn(name, "(<");
	size_t n = last_of(name, end, '.');

	if (n == 0)
		n = last_of(name, end, ':');
	if (n == 0)
		n = last_of(name, end, '/');
	if (n > 0)
		return n;
	n = strspn(name, "_");
	return n + strcspn(name + n, "_");
}

uint32_t svg_colour(enum flame_kind kind, const char *function)
{
	/* hash_bytes() alone differs little in its low bits for short names. */
	uint64_t group = hash_u64(hash_bytes(function, group_length(function), 0));
	uint64_t own = hash_u64(hash_str(function));

	return palettes[kind].fills[group % N_HUES][own % N_SHADES];
}

uint32_t svg_colour_of_kind(enum flame_kind kind)
{
	return palettes[kind].fills[MIDDLE_HUE][MIDDLE_SHADE];
}

const char *svg_colour_label(enum flame_kind kind)
{
	return palettes[kind].label;
}
