/* SPDX-License-Identifier: Apache-2.0 */
/* Readers that share no code with us agree: protoc's decoder, and Go's pprof. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pprof/pprof.h"
#include "tests/support/pprof_random.h"
#include "tests/support/unit.h"

#define COMMAND_BYTES 256
/* Where Go's own archive installs it, besides the PATH. */
#define FIND_GO "export PATH=$PATH:/usr/local/go/bin; "

static struct pprof_builder *some_profile(void)
{
	struct pprof_options options = PPROF_OPTIONS_DEFAULT;
	struct pprof_random random = { .state = 11,
				       .n_functions = 400,
				       .max_depth = 25,
				       .max_labels = 4,
				       .max_value = 1000000,
				       .strange = true };
	struct pprof_builder *b = NULL;

	options.period = 10309278;
	options.time_ns = 1700000000000000000;
	assert_int_equal(pprof_builder_new(&options, &b), 0);
	for (int i = 0; i < 300; i++)
		assert_int_equal(pprof_random_add(&random, b), PPROF_ADDED);
	return b;
}

static void write_temporary(const struct pprof_bytes *bytes, char path[])
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes->data, bytes->n), (ssize_t)bytes->n);
	assert_int_equal(close(fd), 0);
}

static void skip_without(const char *test, const char *what)
{
	if (system(test) != 0) {
		print_message("skipped: no %s on this machine\n", what);
		skip();
	}
}

struct reading {
	size_t n_samples;
	int64_t total;
	size_t n_labels;
	size_t n_locations;
	bool type_seen;
	bool in_samples;
};

typedef void (*line_fn)(const char *line, struct reading *reading);

static struct reading read_output(const char *command, line_fn take)
{
	struct reading reading = { 0 };
	static char line[70000];
	FILE *f = popen(command, "r");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		take(line, &reading);
	assert_int_equal(pclose(f), 0);
	return reading;
}

/* Text format: "sample {", two spaces before each of its fields. */
static void take_protoc_line(const char *line, struct reading *reading)
{
	long value;

	reading->n_samples += strcmp(line, "sample {\n") == 0;
	reading->n_locations += strcmp(line, "location {\n") == 0;
	reading->n_labels += strcmp(line, "  label {\n") == 0;
	reading->type_seen |= strcmp(line, "string_table: \"nanoseconds\"\n") == 0;
	if (sscanf(line, "  value: %ld", &value) == 1)
		reading->total += value;
}

/*
 * "Samples:", a line with the types, then "<value>: <location> <location> …" with the labels on
 * lines of their own.
 */
static void take_go_line(const char *line, struct reading *reading)
{
	long value;
	int end = 0;

	if (strcmp(line, "Locations\n") == 0)
		reading->in_samples = false;
	if (reading->in_samples && sscanf(line, "%ld: %n", &value, &end) == 1 && end > 0) {
		reading->n_samples++;
		reading->total += value;
	}
	if (strcmp(line, "Samples:\n") == 0)
		reading->in_samples = true;
	reading->type_seen |= strcmp(line, "PeriodType: cpu nanoseconds\n") == 0;
}

static void test_protoc(void **state)
{
	struct pprof_builder *b;
	char path[] = "/tmp/xagent-test-pprof-XXXXXX";
	char command[COMMAND_BYTES];
	struct pprof_bytes plain;
	struct reading reading;

	(void)state;
	skip_without("command -v protoc >/dev/null", "protoc");
	b = some_profile();
	assert_int_equal(pprof_builder_encode_plain(b, &plain), 0);
	write_temporary(&plain, path);
	(void)snprintf(command, sizeof(command),
		       "protoc --decode=perftools.profiles.Profile -I. pprof/profile.proto <%s",
		       path);
	reading = read_output(command, take_protoc_line);
	(void)unlink(path);
	assert_int_equal(reading.n_samples, pprof_builder_n_samples(b));
	assert_int_equal(reading.total, pprof_builder_total(b, 0));
	assert_true(reading.type_seen);
	assert_in_range(reading.n_labels, 100, 1500);
	assert_in_range(reading.n_locations, 100, 10000);
	pprof_bytes_fini(&plain);
	pprof_builder_free(b);
}

static void test_go_pprof(void **state)
{
	struct pprof_builder *b;
	char path[] = "/tmp/xagent-test-pprof-XXXXXX";
	char command[COMMAND_BYTES];
	struct pprof_bytes gz;
	struct reading reading;

	(void)state;
	skip_without(FIND_GO "go tool -n pprof >/dev/null 2>&1", "go tool pprof");
	b = some_profile();
	assert_int_equal(pprof_builder_encode(b, &gz), 0);
	write_temporary(&gz, path);
	(void)snprintf(command, sizeof(command), FIND_GO "go tool pprof -raw -symbolize=none %s",
		       path);
	reading = read_output(command, take_go_line);
	(void)unlink(path);
	assert_int_equal(reading.n_samples, pprof_builder_n_samples(b));
	assert_int_equal(reading.total, pprof_builder_total(b, 0));
	assert_true(reading.type_seen);
	pprof_bytes_fini(&gz);
	pprof_builder_free(b);
}

static const struct unit_test tests[] = {
	TEST(test_protoc),
	TEST(test_go_pprof),
};

TEST_MAIN(tests)
