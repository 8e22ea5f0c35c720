/* SPDX-License-Identifier: Apache-2.0 */
/* The ceilings of received profiles: each is reached, and one more is refused, cut or dropped, in the words of a real server. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/ingest/ingest.h"
#include "agent/store/ingest/ingest_inflate.h"
#include "agent/store/ingest/ingest_memory.h"
#include "agent/store/segment/segment_image.h"
#include "agent/util/macro.h"
#include "tests/support/made_profile.h"
#include "tests/support/unit.h"

#define NOW_MS INT64_C(1700000000000)
#define CPU_SERIES "the profile with labels '{__name__=\"process_cpu\", service_name=\"demo\"}' "

struct context {
	struct labels *labels;
	struct made_profile made;
	struct buf why;
	struct ingest *in;
};

static void set_up(struct context *w)
{
	const struct label items[] = { { "__name__", "process_cpu" }, { "service_name", "demo" } };

	w->why = BUF_INIT(100000);
	assert_int_equal(labels_new(items, ARRAY_SIZE(items), &w->labels), 0);
	made_profile_init(&w->made, "cpu/nanoseconds", "cpu/nanoseconds", NOW_MS);
}

static void tear_down(struct context *w)
{
	ingest_free(w->in);
	made_profile_fini(&w->made);
	labels_unref(w->labels);
	buf_fini(&w->why);
}

FIXTURE(struct context, set_up, tear_down)

static int open_bytes(struct context *w, const uint8_t *bytes, size_t n)
{
	ingest_free(w->in);
	w->in = NULL;
	buf_reset(&w->why);
	return ingest_open(w->labels, bytes, n, NOW_MS, 0, NULL, &w->why, &w->in);
}

static int open_plain(struct context *w)
{
	size_t n;
	uint8_t *bytes = made_profile_pack(&w->made, &n);
	int r = open_bytes(w, bytes, n);

	free(bytes);
	return r;
}

static int open_gzip(struct context *w)
{
	size_t n;
	uint8_t *bytes = made_profile_gzip(&w->made, &n);
	int r = open_bytes(w, bytes, n);

	free(bytes);
	return r;
}

static struct segment *put(struct context *w)
{
	const struct head_options options = { .max_bytes = 64 << 20, .slot_ms = 1000, .seed = 3 };
	_cleanup_(head_freep) struct head *h = NULL;
	struct ingest_result result;
	struct segment *s;
	uint8_t *image;
	size_t n;

	assert_int_equal(head_new(&options, &h), 0);
	assert_int_equal(ingest_put(w->in, h, NULL, 0, &result), 0);
	assert_int_equal(head_encode(h, &image, &n), 0);
	assert_int_equal(segment_new(image, n, &s), SEGMENT_OPENED);
	return s;
}

static void sample(struct context *w, const char *stack, int64_t value)
{
	made_profile_sample(&w->made, stack, &value, NULL);
}

static char *letters(size_t n)
{
	char *text = malloc(n + 1);

	assert_non_null(text);
	memset(text, 'x', n);
	text[n] = '\0';
	return text;
}

/* A text that fills the message up to exactly n bytes. */
static void fill_to(struct context *w, size_t n)
{
	size_t have = perftools__profiles__profile__get_packed_size(&w->made.message);
	/* Tag, and a length of four bytes. */
	char *text = letters(n - have - 5);

	made_profile_text(&w->made, text);
	free(text);
	assert_int_equal(perftools__profiles__profile__get_packed_size(&w->made.message), n);
}

static void test_size(void **state)
{
	static const char sentence[] = "uncompressed profile payload size exceeds limit of 4.2 MB";
	struct context *w = *state;

	sample(w, "main", 1);
	fill_to(w, INGEST_MAX_PLAIN_BYTES);
	assert_int_equal(open_plain(w), INGEST_OPENED);
	assert_int_equal(open_gzip(w), INGEST_OPENED);
	/* Two bytes more. */
	w->made.message.keep_frames = 1;
	assert_int_equal(open_plain(w), INGEST_REFUSED_SIZE);
	assert_string_equal(buf_str(&w->why), sentence);
	assert_int_equal(open_gzip(w), INGEST_REFUSED_SIZE);
	assert_string_equal(buf_str(&w->why), sentence);
}

static void test_samples(void **state)
{
	struct context *w = *state;

	for (int i = 0; i < INGEST_MAX_SAMPLES; i++)
		sample(w, "main", 1);
	assert_int_equal(open_plain(w), INGEST_OPENED);
	sample(w, "main", 1);
	assert_int_equal(open_plain(w), INGEST_REFUSED_SAMPLES);
	assert_string_equal(buf_str(&w->why), CPU_SERIES
			    "exceeds the samples count limit (max_profile_stacktrace_samples, "
			    "actual: 16001, limit: 16000)");
}

static void test_sample_labels(void **state)
{
	struct context *w = *state;
	char labels[2000] = "a=b";
	int64_t one = 1;

	for (int i = 1; i < INGEST_MAX_SAMPLE_LABELS; i++)
		memcpy(labels + strlen(labels), ",a=b", 5);
	made_profile_sample(&w->made, "main", &one, labels);
	assert_int_equal(open_plain(w), INGEST_OPENED);
	memcpy(labels + strlen(labels), ",a=b", 5);
	made_profile_sample(&w->made, "main", &one, labels);
	assert_int_equal(open_plain(w), INGEST_REFUSED_SAMPLES);
	assert_string_equal(buf_str(&w->why), CPU_SERIES
			    "exceeds the sample labels limit "
			    "(max_profile_stacktrace_sample_labels, actual: 101, limit: 100)");
}

/* The root's side stays. */
static void test_depth(void **state)
{
	struct context *w = *state;
	_cleanup_buf_ struct buf stack = BUF_INIT(100000);
	struct segment_location l;

	for (int i = 0; i < INGEST_MAX_DEPTH + 200; i++)
		(void)buf_printf(&stack, "%sf%d", i > 0 ? ";" : "", i);
	sample(w, buf_str(&stack), 1);
	assert_int_equal(open_plain(w), INGEST_OPENED);
	struct segment *s = put(w);

	assert_int_equal(segment_n_nodes(s), 1 + INGEST_MAX_DEPTH);
	segment_location(s, segment_node(s, 1).location, &l);
	assert_string_equal(segment_text(s, segment_function(s, l.lines[0].function).name), "f0");
	segment_location(s, segment_node(s, INGEST_MAX_DEPTH).location, &l);
	assert_string_equal(segment_text(s, segment_function(s, l.lines[0].function).name), "f999");
	segment_unref(s);
}

static void test_lines(void **state)
{
	struct context *w = *state;
	Perftools__Profiles__Line *lines[INGEST_MAX_LINES + 1];
	struct segment_location l;

	sample(w, "main", 1);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		lines[i] = w->made.message.location[0]->line[0];
	w->made.message.location[0]->line = lines;
	w->made.message.location[0]->n_line = ARRAY_SIZE(lines);
	assert_int_equal(open_plain(w), INGEST_OPENED);
	struct segment *s = put(w);

	segment_location(s, 0, &l);
	assert_int_equal(l.n_lines, INGEST_MAX_LINES);
	segment_unref(s);
}

/* Of a text that is too long the end stays, from a whole character on. */
static void test_text(void **state)
{
	struct context *w = *state;
	char *name = letters(INGEST_MAX_TEXT_BYTES + 2);
	struct segment_location l;

	memcpy(name, "a\xc3\xa9", 3);
	sample(w, name, 1);
	assert_int_equal(open_plain(w), INGEST_OPENED);
	struct segment *s = put(w);

	segment_location(s, 0, &l);
	const char *kept = segment_text(s, segment_function(s, l.lines[0].function).name);

	assert_int_equal(strlen(kept), INGEST_MAX_TEXT_BYTES - 1);
	assert_string_equal(kept, name + 3);
	segment_unref(s);
	free(name);
}

static void test_labels(void **state)
{
	struct context *w = *state;
	char *name = letters(LABEL_NAME_MAX + 1), *value = letters(LABEL_VALUE_MAX + 1);
	const struct label items[] = { { "__name__", "process_cpu" }, { name + 1, value + 1 } },
			   long_name[] = { { "__name__", "process_cpu" }, { name, "v" } },
			   long_value[] = { { "__name__", "process_cpu" }, { "n", value } };
	const struct label *const rows[] = { items, long_name, long_value };
	static const char *const words[] = { NULL, "has label name too long: 'x",
					     "has label value too long: 'x" };

	sample(w, "main", 1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		labels_unref(w->labels);
		assert_int_equal(labels_new(rows[i], 2, &w->labels), 0);
		assert_int_equal(open_plain(w), words[i] ? INGEST_REFUSED_LABELS : INGEST_OPENED);
		assert_true(!words[i] || strstr(buf_str(&w->why), words[i]));
	}
	free(name);
	free(value);
}

static int open_with_labels(struct context *w, const char *first, const char *second)
{
	const int64_t one = 1;

	made_profile_fini(&w->made);
	made_profile_init(&w->made, "cpu/nanoseconds", "cpu/nanoseconds", NOW_MS);
	made_profile_sample(&w->made, "main", &one, first);
	made_profile_sample(&w->made, "main", &one, second);
	return open_plain(w);
}

/* Long labels of samples are refused before any are compared with each other: a first one that is, whatever a second one is. */
static void test_labels_of_samples(void **state)
{
	static const char bad[] = "0bad=x";
	struct context *w = *state;
	_cleanup_buf_ struct buf name = BUF_INIT(100000), value = BUF_INIT(100000),
				 many = BUF_INIT(100000);

	for (int i = 0; i <= LABEL_NAME_MAX; i++)
		(void)buf_append_char(&name, 'x');
	(void)buf_append_str(&name, "=v");
	(void)buf_append_str(&value, "z=");
	for (int i = 0; i <= LABEL_VALUE_MAX; i++)
		(void)buf_append_char(&value, 'x');
	for (int i = 0; i <= LABELS_MAX; i++)
		(void)buf_printf(&many, "%sz%d=v", i > 0 ? "," : "", i);
	assert_int_equal(open_with_labels(w, "z=x", bad), INGEST_REFUSED_LABELS);
	assert_non_null(strstr(buf_str(&w->why), "invalid label name '0bad'"));
	assert_int_equal(open_with_labels(w, buf_str(&name), bad), INGEST_REFUSED_LABELS);
	assert_non_null(strstr(buf_str(&w->why), "has label name too long: 'x"));
	assert_int_equal(open_with_labels(w, buf_str(&value), bad), INGEST_REFUSED_LABELS);
	assert_non_null(strstr(buf_str(&w->why), "has label value too long: 'x"));
	assert_int_equal(open_with_labels(w, buf_str(&many), bad), INGEST_REFUSED_LABELS);
	assert_non_null(strstr(buf_str(&w->why), "has 33 label names; limit 30"));
}

/* Eight types of value. */
static void test_series(void **state)
{
	struct context *w = *state;
	const int64_t values[8] = { 1 };
	char label[32];

	made_profile_fini(&w->made);
	made_profile_init(&w->made, "a/b c/b d/b e/b f/b g/b h/b i/b", "", NOW_MS);
	for (int i = 0; i < INGEST_MAX_SERIES / 8; i++) {
		(void)snprintf(label, sizeof(label), "n=%d", i);
		made_profile_sample(&w->made, "main", values, label);
	}
	assert_int_equal(open_plain(w), INGEST_OPENED);
	made_profile_sample(&w->made, "main", values, NULL);
	assert_int_equal(open_plain(w), INGEST_REFUSED_SAMPLES);
	assert_string_equal(buf_str(&w->why), "the profile makes 16008 series, limit: 16000");
}

static void test_types(void **state)
{
	struct context *w = *state;
	char *text = letters(LABEL_VALUE_MAX + 1);
	int64_t longest = made_profile_text(&w->made, text + 1),
		longer = made_profile_text(&w->made, text);
	Perftools__Profiles__ValueType *const rows[] = { w->made.message.sample_type[0],
							 w->made.message.period_type };

	free(text);
	sample(w, "main", 1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int64_t *const places[] = { &rows[i]->type, &rows[i]->unit };

		for (size_t j = 0; j < ARRAY_SIZE(places); j++) {
			*places[j] = longer;
			assert_int_equal(open_plain(w), INGEST_REFUSED_MALFORMED);
			assert_non_null(strstr(buf_str(&w->why), "type or unit too long"));
			*places[j] = longest;
			assert_int_equal(open_plain(w), INGEST_OPENED);
		}
	}
	segment_unref(put(w));
}

/* `why` of the caller may be small: the refusal stays one. */
static void test_short_why(void **state)
{
	struct context *w = *state;

	buf_fini(&w->why);
	w->why = BUF_INIT(20);
	w->made.message.n_sample_type = 0;
	w->made.message.time_nanos = -1;
	sample(w, "main", 1);
	assert_int_equal(open_plain(w), INGEST_REFUSED_MALFORMED);
	assert_true(w->why.len <= 20);
}

/* Each empty message takes two bytes, and a hundred once it is unpacked. */
static void test_memory(void **state)
{
	struct context *w = *state;
	size_t n = INGEST_MAX_PLAIN_BYTES;
	uint8_t *bytes = malloc(n);

	assert_non_null(bytes);
	for (size_t i = 0; i < n; i += 2) {
		/* Field 4, a location of no bytes. */
		bytes[i] = 4 << 3 | 2;
		bytes[i + 1] = 0;
	}
	assert_int_equal(open_bytes(w, bytes, n), INGEST_REFUSED_SIZE);
	assert_string_equal(buf_str(&w->why), "the profile takes more than 48 MiB unpacked");
	free(bytes);
}

struct row {
	const char *name;
	const char *bytes;
	size_t n;
	int outcome;
	const char *why;
};

#define BYTES(text) text, sizeof(text) - 1

static const struct row rows[] = {
	{ "nothing", BYTES(""), INGEST_REFUSED_MALFORMED, "empty profile" },
	{ "words", BYTES("hello world"), INGEST_REFUSED_MALFORMED,
	  "not a profile in the format of pprof" },
	{ "magic alone", BYTES("\x1f\x8b"), INGEST_REFUSED_MALFORMED,
	  "the gzip'd profile is cut or damaged" },
	{ "magic and words", BYTES("\x1f\x8bhello world"), INGEST_REFUSED_MALFORMED,
	  "the gzip'd profile is cut or damaged" },
	{ "text cut short", BYTES("\x32\x05hell"), INGEST_REFUSED_MALFORMED,
	  "not a profile in the format of pprof" },
};

static void test_row(void **state)
{
	struct context *w;
	const struct row *row = *state;

	(void)setup((void **)&w);
	assert_int_equal(open_bytes(w, (const uint8_t *)row->bytes, row->n), row->outcome);
	assert_string_equal(buf_str(&w->why), row->why);
	(void)teardown((void **)&w);
}

/* Cut anywhere, and with something behind it; two members one after the other are one file. */
static void test_gzip(void **state)
{
	struct context *w = *state;
	size_t n, n_plain;
	uint8_t *plain;

	sample(w, "main", 1);
	uint8_t *bytes = made_profile_gzip(&w->made, &n);

	for (size_t i = 2; i < n; i++)
		assert_int_equal(open_bytes(w, bytes, i), INGEST_REFUSED_MALFORMED);
	uint8_t *twice = malloc(2 * n);

	assert_non_null(twice);
	memcpy(twice, bytes, n);
	memcpy(twice + n, bytes, n);
	assert_int_equal(inflate_gzip(twice, 2 * n, 1 << 20, &plain, &n_plain), INFLATE_DONE);
	assert_int_equal(n_plain,
			 2 * perftools__profiles__profile__get_packed_size(&w->made.message));
	free(plain);
	assert_int_equal(inflate_gzip(twice, n + 3, 1 << 20, &plain, &n_plain), INFLATE_DAMAGED);
	assert_int_equal(inflate_gzip(twice, n, 10, &plain, &n_plain), INFLATE_TOO_LARGE);
	free(twice);
	free(bytes);
}

/* What was given back may be used again; the ceiling counts what is held. */
static void test_blocks(void **state)
{
	struct ingest_memory m;

	(void)state;
	ingest_memory_init(&m, 1 << 20);
	for (int i = 0; i < 100; i++) {
		void *p = ingest_memory_alloc(&m, 100000), *q = ingest_memory_calloc(&m, 10, 10);

		assert_non_null(p);
		assert_non_null(q);
		memset(p, 1, 100000);
		ingest_memory_free(&m, p);
		ingest_memory_free(&m, q);
		ingest_memory_free(&m, NULL);
	}
	assert_false(m.full);
	assert_null(ingest_memory_alloc(&m, 1 << 20));
	assert_true(m.full);
	assert_null(ingest_memory_calloc(&m, SIZE_MAX, 2));
	ingest_memory_fini(&m);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_size),
	FIXTURE_TEST(test_samples),
	FIXTURE_TEST(test_sample_labels),
	FIXTURE_TEST(test_depth),
	FIXTURE_TEST(test_lines),
	FIXTURE_TEST(test_text),
	FIXTURE_TEST(test_labels),
	FIXTURE_TEST(test_short_why),
	FIXTURE_TEST(test_memory),
	FIXTURE_TEST(test_gzip),
	FIXTURE_TEST(test_blocks),
	FIXTURE_TEST(test_labels_of_samples),
	FIXTURE_TEST(test_series),
	FIXTURE_TEST(test_types),
	TEST_ROWS(test_row, rows, name),
};

TEST_MAIN(tests)
