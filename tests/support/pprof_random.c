/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles with the shape of real ones, and stranger ones, from a seed. */
#include "tests/support/pprof_random.h"

#include <stdio.h>
#include <string.h>

#define NAME_BYTES 160
#define DEPTH_MAX 128
#define LABELS_MAX 4

uint64_t pprof_random_below(struct pprof_random *random, uint64_t n)
{
	/* SplitMix64 (Steele, Lea, Flood 2014). */
	uint64_t x = random->state += 0x9E3779B97F4A7C15ULL;

	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
	return (x ^ (x >> 31)) % n;
}

static const char *const words[] = { "http",   "request", "handle", "json",  "decode",	"write",
				     "buffer", "queue",	  "lock",   "cache", "runtime", "alloc" };

static void random_name(struct pprof_random *random, uint64_t number, char name[NAME_BYTES])
{
	size_t n = 0;

	if (random->strange && number % 4 == 0) {
		struct pprof_random own = { .state = number };

		for (n = 0; n < 1 + number % (NAME_BYTES - 1); n++)
			name[n] = (char)(1 + pprof_random_below(&own, 255));
		name[n] = '\0';
		return;
	}
	(void)snprintf(name, NAME_BYTES, "%s::%s<%s>::%s_%lu", words[number % 12],
		       words[number / 12 % 12], words[number / 5 % 12], words[number / 7 % 12],
		       (unsigned long)number);
}

static int random_function(struct pprof_random *random, struct pprof_builder *b, uint64_t *ret_id)
{
	/* Some functions are far hotter than others: the smaller of two draws. */
	uint64_t x = pprof_random_below(random, random->n_functions);
	uint64_t y = pprof_random_below(random, random->n_functions);
	uint64_t number = x < y ? x : y;
	char name[NAME_BYTES];
	char filename[64];
	struct pprof_function f = { .name = name, .filename = filename };

	random_name(random, number, name);
	(void)snprintf(filename, sizeof(filename), "/usr/src/service/%s/%s.cc", words[number % 12],
		       words[number / 12 % 12]);
	if (random->strange && number % 3 == 0)
		f = (struct pprof_function){ .name = name, .system_name = name, .start_line = 70 };
	return pprof_builder_function(b, &f, ret_id);
}

static int random_location(struct pprof_random *random, struct pprof_builder *b, uint64_t *ret_id)
{
	struct pprof_mapping m = { .filename = "/usr/bin/service",
				   .build_id = "0123456789abcdef0123456789abcdef01234567",
				   .start = 0x400000,
				   .limit = 0x800000,
				   .has_functions = true };
	struct pprof_line lines[3] = { 0 };
	uint64_t address = random->strange ? pprof_random_below(random, UINT64_MAX) : 0;
	size_t n_lines = pprof_random_below(random, 8) ? 1 : 3;
	uint64_t mapping_id;
	int r = pprof_builder_mapping(b, &m, &mapping_id);

	for (size_t i = 0; r == 0 && i < n_lines; i++) {
		r = random_function(random, b, &lines[i].function_id);
		lines[i].line = (int64_t)(lines[i].function_id % 900);
		lines[i].column = (int64_t)pprof_random_below(random, 3);
	}
	return r ? r : pprof_builder_location(b, mapping_id, address, lines, n_lines, ret_id);
}

int pprof_random_add(struct pprof_random *random, struct pprof_builder *b)
{
	static const char *const keys[LABELS_MAX] = { "span_id", "pid", "bytes", "comm" };
	struct pprof_label labels[LABELS_MAX] = { 0 };
	uint64_t ids[DEPTH_MAX];
	size_t n_labels = pprof_random_below(random, random->max_labels + 1) % (LABELS_MAX + 1);
	size_t n = 1 + pprof_random_below(random, random->max_depth) % DEPTH_MAX;
	int64_t value = 1 + (int64_t)pprof_random_below(random, (uint64_t)random->max_value);
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = random_location(random, b, &ids[i]);
	for (size_t i = 0; i < n_labels; i++) {
		labels[i].key = keys[i];
		labels[i].str = i % 2 ? words[pprof_random_below(random, 12)] : NULL;
		labels[i].num = i % 2 ? 0 : (int64_t)pprof_random_below(random, 9) - 4;
		labels[i].num_unit = i % 2 ? NULL : "bytes";
	}
	return r ? r : pprof_builder_sample(b, ids, n, &value, labels, n_labels);
}
