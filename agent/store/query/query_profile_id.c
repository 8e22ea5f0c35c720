/* SPDX-License-Identifier: Apache-2.0 */
/* Names of single profiles. */
#include "agent/store/query/query_profile_id.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/query/query_private.h"
#include "agent/util/hash.h"

#define N_DIGITS 32
#define MS_PER_S 1000
/* Version and variant of a UUID whose other bits are up to who makes it (RFC 9562, version 8). */
#define VERSION_MASK UINT64_C(0xf000)
#define VERSION UINT64_C(0x8000)
#define VARIANT_MASK UINT64_C(0xc000000000000000)
#define VARIANT UINT64_C(0x8000000000000000)

static uint64_t hash_text(uint64_t seed, const char *text)
{
	return hash_bytes(text, strlen(text) + 1, seed);
}

struct query_profile_id query_series_id(const struct segment *s, size_t series)
{
	struct query_profile_id id = { .high = 1, .low = 2 };
	struct segment_series about;

	segment_series(s, series, &about);
	for (size_t i = 0; i < about.n_labels; i++) {
		const char *name = segment_text(s, about.labels[i].name);
		const char *value = segment_text(s, about.labels[i].value);

		id.high = hash_text(hash_text(id.high, name), value);
		id.low = hash_text(hash_text(id.low, name), value);
	}
	return id;
}

struct query_profile_id query_profile_id(struct query_profile_id series, int64_t time_ms)
{
	int64_t second = time_ms / MS_PER_S;

	return (struct query_profile_id){
		.high = (hash_bytes(&second, sizeof(second), series.high) & ~VERSION_MASK) |
			VERSION,
		.low = (hash_bytes(&second, sizeof(second), series.low) & ~VARIANT_MASK) | VARIANT,
	};
}

void query_profile_id_print(struct query_profile_id id, char text[QUERY_PROFILE_ID_BYTES])
{
	(void)snprintf(text, QUERY_PROFILE_ID_BYTES,
		       "%08" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%012" PRIx64,
		       id.high >> 32, id.high >> 16 & 0xffff, id.high & 0xffff, id.low >> 48,
		       id.low & UINT64_C(0xffffffffffff));
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Where a dash may stand: behind so many digits. */
static bool has_dash(size_t n_digits)
{
	return n_digits == 8 || n_digits == 12 || n_digits == 16 || n_digits == 20;
}

bool query_profile_id_parse(const char *text, struct query_profile_id *ret_id)
{
	size_t n = 0, n_dashes = 0;
	uint64_t halves[2] = { 0 };

	for (const char *p = text; *p; p++) {
		int digit = digit_of(*p);

		if (*p == '-' && has_dash(n) && p > text && p[-1] != '-') {
			n_dashes++;
			continue;
		}
		if (digit < 0 || n == N_DIGITS)
			return false;
		halves[n / 16] = halves[n / 16] << 4 | (uint64_t)digit;
		n++;
	}
	*ret_id = (struct query_profile_id){ halves[0], halves[1] };
	return n == N_DIGITS && (n_dashes == 0 || n_dashes == 4);
}

int query_profile_id_compare(const void *a, const void *b)
{
	const struct query_profile_id *x = a, *y = b;

	if (x->high != y->high)
		return x->high < y->high ? -1 : 1;
	return (x->low > y->low) - (x->low < y->low);
}

bool query_takes_profile(const struct query_part *part, struct query_profile_id series, size_t slot)
{
	const struct query *q = part->q;
	struct query_profile_id id;
	struct segment_slot about;

	if (!q->by_profile)
		return true;
	segment_slot(part->segment, slot, &about);
	id = query_profile_id(series, about.time_ms);
	return q->n_profile_ids > 0 &&
	       bsearch(&id, q->profile_ids, q->n_profile_ids, sizeof(id), query_profile_id_compare);
}
