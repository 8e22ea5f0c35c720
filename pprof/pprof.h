/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From stacks and values to a pprof profile.
 *
 * A builder collects mappings, functions, locations and samples, and gives each distinct one an id
 * from 1 on; the same content gets the same id again. It knows the size of the encoded profile
 * exactly at every moment and refuses what would pass its ceilings, so the caller splits before
 * anything is encoded:
 *
 *	r = add_stack(builder, stack);		(functions, locations, sample)
 *	if (r == PPROF_FULL && pprof_builder_n_samples(builder) > 0)
 *		encode, free, begin a new builder, add the whole stack again (ids do not carry over)
 *	else if (r == PPROF_FULL)
 *		this stack alone is too large: drop it, count it, begin a new builder
 *
 * Functions return 0, a positive enum pprof_outcome, or -errno; after anything but 0 the builder is
 * as it was before the call. Strings are borrowed for the call. NULL means the empty string where a
 * text may be absent. Bytes that are not valid UTF-8 become U+FFFD, one each; of a text longer than
 * PPROF_STRING_MAX_BYTES the last part is kept.
 *
 * Nothing is shared between builders; one builder serves one thread at a time.
 */
#ifndef XAGENT_PPROF_PPROF_H
#define XAGENT_PPROF_PPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* What Pyroscope keeps of a string by default (validation.max-profile-symbol-value-length). */
#define PPROF_STRING_MAX_BYTES 65535
/* Locations of a sample: 1,000 user frames and 127 kernel frames leave ample room. */
#define PPROF_MAX_DEPTH 4096
/* Inlined calls at one address. */
#define PPROF_MAX_LINES 256
/*
 * Labels of a sample: what Pyroscope takes by default (validation.max-profile-stacktrace-sample-
 * labels).
 */
#define PPROF_MAX_LABELS 100
/* Values of a sample: what one event tells of a stack. */
#define PPROF_MAX_VALUES 4
/* The largest max_bytes, so that every index of a builder fits into 32 bits. */
#define PPROF_MAX_MAX_BYTES ((size_t)64 << 20)

enum pprof_outcome {
	PPROF_ADDED = 0,
	/* A ceiling of the options, or the range of the total, would be passed. */
	PPROF_FULL = 1,
};

struct pprof_value_type {
	const char *type; /* what a value counts; no '-' in it, Pyroscope refuses that */
	const char *unit;
};

struct pprof_options {
	struct pprof_value_type value_types[PPROF_MAX_VALUES];
	size_t n_values; /* 1..PPROF_MAX_VALUES */
	struct pprof_value_type period_type;
	int64_t period;	     /* > 0, in period_unit */
	int64_t time_ns;     /* > 0: the end of the interval, wall clock */
	int64_t duration_ns; /* 0 = not told */
	size_t max_samples;
	size_t max_bytes; /* of the profile before compression */
	int gzip_level;	  /* 1..9 */
};

/*
 * The ceilings are Pyroscope's own: 16,000 samples a profile, and a burst of 2 MB, which a larger
 * profile could never pass however often it is sent; the labels of the series count there, too.
 * Level 1: on profiles of real services it gives 12 to 25 % more bytes than level 6 in six tenths
 * of the time, and the bytes of an agent are few.
 */
#define PPROF_OPTIONS_DEFAULT                                \
	((struct pprof_options){                             \
		.value_types = { { "cpu", "nanoseconds" } }, \
		.n_values = 1,                               \
		.period_type = { "cpu", "nanoseconds" },     \
		.max_samples = 16000,                        \
		.max_bytes = 1400000,                        \
		.gzip_level = 1,                             \
	})

struct pprof_mapping {
	const char *filename;
	const char *build_id; /* hex digits */
	uint64_t start;
	uint64_t limit;
	uint64_t file_off;
	bool has_functions;
	bool has_filenames;
	bool has_lines;
	bool has_inlines;
};

struct pprof_function {
	const char *name; /* not empty */
	const char *system_name;
	const char *filename;
	int64_t start_line; /* 0 = unknown */
};

struct pprof_line {
	uint64_t function_id;
	int64_t line;	/* 0 = unknown */
	int64_t column; /* within the line, from 1; 0 = unknown */
};

/* Either str, or num with an optional num_unit. */
struct pprof_label {
	const char *key; /* not empty */
	const char *str;
	int64_t num;
	const char *num_unit;
};

struct pprof_bytes {
	uint8_t *data;
	size_t n;
};

static inline void pprof_bytes_fini(struct pprof_bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct pprof_bytes){ 0 };
}

struct pprof_builder;

/*
 * -EINVAL: a type or unit is empty, or a number is out of its range, or max_bytes has no room for
 * the types.
 */
int pprof_builder_new(const struct pprof_options *options, struct pprof_builder **ret_builder);
void pprof_builder_free(struct pprof_builder *b);

static inline void pprof_builder_freep(struct pprof_builder **b)
{
	pprof_builder_free(*b);
}

/* -ENOMEM or PPROF_FULL, as all that follow. */
int pprof_builder_mapping(struct pprof_builder *b, const struct pprof_mapping *mapping,
			  uint64_t *ret_id);

/* -EINVAL: no name, or a negative line. */
int pprof_builder_function(struct pprof_builder *b, const struct pprof_function *function,
			   uint64_t *ret_id);

/*
 * mapping_id 0 means none. The lines are the calls at this address, the innermost inlined one
 * first. -EINVAL: no line, a negative one, or an id that the builder did not give. -E2BIG: more
 * than PPROF_MAX_LINES.
 */
int pprof_builder_location(struct pprof_builder *b, uint64_t mapping_id, uint64_t address,
			   const struct pprof_line *lines, size_t n_lines, uint64_t *ret_id);

/*
 * Leaf first; options.n_values values, in the order of their types. The values of samples with equal
 * stacks and equal sets of labels are summed. -EINVAL: an empty stack, a value < 0, no value > 0 (the
 * server would drop it), an unknown location, a label without key or of both kinds. -E2BIG: more than
 * PPROF_MAX_DEPTH locations or PPROF_MAX_LABELS labels.
 */
int pprof_builder_sample(struct pprof_builder *b, const uint64_t *location_ids, size_t n_locations,
			 const int64_t *values, const struct pprof_label *labels, size_t n_labels);

size_t pprof_builder_n_samples(const struct pprof_builder *b);
/* The sum of all values of a type; 0 where there is no such. */
int64_t pprof_builder_total(const struct pprof_builder *b, size_t type);
/* The size of the encoded profile before compression: exactly, not an estimate. */
size_t pprof_builder_packed_bytes(const struct pprof_builder *b);

/*
 * The profile, gzip'd or plain; the caller frees it with pprof_bytes_fini. The same calls give the
 * same bytes. The builder does not change and may be filled further. -ENOMEM.
 */
int pprof_builder_encode(const struct pprof_builder *b, struct pprof_bytes *ret_bytes);
int pprof_builder_encode_plain(const struct pprof_builder *b, struct pprof_bytes *ret_bytes);

/* Other bytes as one gzip member; level 1..9. -ENOMEM, -EINVAL. */
int pprof_gzip(const void *data, size_t n, int level, struct pprof_bytes *ret_bytes);

/*
 * Nothing is added any more (who tries finds it full): what only adding needs is given back. From
 * then on any number of threads may read it.
 */
void pprof_builder_freeze(struct pprof_builder *b);
/* What it takes of memory. */
size_t pprof_builder_memory_bytes(const struct pprof_builder *b);

/* What is in it. Samples count from 0 on; locations have the ids that they were given. */
struct pprof_sample {
	const uint64_t *location_ids; /* leaf first */
	size_t n_locations;
	const int64_t *values;
};

int64_t pprof_builder_period(const struct pprof_builder *b);
void pprof_builder_read_sample(const struct pprof_builder *b, size_t i,
			       struct pprof_sample *ret_sample);
/* NULL: the sample has no such label, or it is a number. */
const char *pprof_builder_sample_label(const struct pprof_builder *b, size_t i, const char *key);
size_t pprof_builder_n_lines(const struct pprof_builder *b, uint64_t location_id);
/* Lines count from 0 on, the innermost first. */
const char *pprof_builder_line_function(const struct pprof_builder *b, uint64_t location_id,
					size_t line);

/*
 * The generated message of all that is in it (Perftools__Profiles__Profile), for callers that read profiles
 * in that form and need not pack and unpack it. Texts and numbers are the builder's and stay as long
 * as it; everything else is of `alloc`. NULL: that gave nothing.
 */
void *pprof_builder_message(const struct pprof_builder *b, void *(*alloc)(void *data, size_t n),
			    void *data);

#endif
