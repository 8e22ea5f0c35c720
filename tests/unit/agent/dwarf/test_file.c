/* SPDX-License-Identifier: Apache-2.0 */
/* Files read by processes of their own; and what becomes of those who do not answer, end, lie or take too much. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/dwarf/channel.h"
#include "agent/dwarf/client_internal.h"
#include "agent/dwarf/server.h"
#include "agent/util/clock.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/fixture.h"

#define MAX_BYTES ((size_t)16 << 20)
#define STRINGS_BYTES ((size_t)4 << 20)

static const char source[] =
	"static volatile unsigned int sink;\n"
	"static inline __attribute__((always_inline)) unsigned int inner(unsigned int x)\n"
	"{ return x * 2654435761u; }\n"
	"__attribute__((noinline)) void burn(unsigned int n)\n"
	"{\n"
	"	for (unsigned int i = 0; i < n; i++)\n"
	"		sink += inner(i);\n"
	"}\n"
	"int main(int argc, char **argv) { (void)argv; burn((unsigned int)argc); return 0; }\n";

struct fixture {
	struct fixture_dir dir;
	struct telemetry *telemetry;
	struct dwarf_client *client;
	struct dwarf_file *file;
	struct arena strings;
	struct source_frames frames;
	uint64_t burn;
	int fd;
};

/* Or its parent has not waited for it yet, which it does when it has time. */
static bool has_ended(pid_t pid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	for (int i = 0; i < 5000; i++, (void)usleep(1000)) {
		char state = 0;
		FILE *s = fopen(path, "re");

		if (!s)
			return true;
		int n = fscanf(s, "%*d (%*[^)]) %c", &state);
		(void)fclose(s);
		if (n == 1 && state == 'Z')
			return true;
	}
	return false;
}

/* No child is left, in a while. */
static bool has_none(void)
{
	for (int i = 0; i < 5000; i++, (void)usleep(1000))
		if (waitpid(-1, NULL, WNOHANG) < 0)
			return true;
	return false;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char path[FIXTURE_PATH_BYTES];

	assert_non_null(f);
	assert_true(fixture_dir_init(&f->dir) && fixture_write(&f->dir, "p.c", source));
	assert_true(fixture_run(&f->dir, "gcc -O2 -g -o p p.c && strip -g -o plain p"));
	f->burn = fixture_hex(&f->dir, "nm p | awk '$3 == \"burn\" { print $1 }'");
	assert_true(f->burn > 0);
	f->fd = open(fixture_path(&f->dir, "p", path), O_RDONLY | O_CLOEXEC);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	assert_int_equal(dwarf_client_new(f->telemetry, &f->client), 0);
	arena_init(&f->strings, STRINGS_BYTES);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	dwarf_file_close(f->file);
	dwarf_client_free(f->client);
	telemetry_free(f->telemetry);
	arena_fini(&f->strings);
	(void)close(f->fd);
	fixture_dir_fini(&f->dir);
	free(f);
	/* No process is left. */
	assert_true(has_none());
	return 0;
}

static int ask(struct fixture *f)
{
	return dwarf_file_frames(f->file, f->burn, &f->strings, &f->frames);
}

static void open_it(struct fixture *f)
{
	assert_int_equal(dwarf_file_open(f->client, f->fd, MAX_BYTES, NULL, &f->file), 0);
}

static void expect_count(struct fixture *f, enum telemetry_counter counter, uint64_t n)
{
	assert_int_equal(telemetry_get(f->telemetry, counter), n);
}

static void frames_come_from_another_process(void **state)
{
	struct fixture *f = *state;

	/* Nothing before it is needed. */
	assert_int_equal(f->client->pid, 0);
	open_it(f);
	assert_int_equal(ask(f), 0);
	const struct source_frame *last = &f->frames.items[f->frames.n - 1];
	assert_string_equal(last->function, "burn");
	assert_true(strstr(last->file, "p.c") && last->line >= 5);
	assert_int_equal(dwarf_file_frames(f->file, 8, &f->strings, &f->frames), DWARF_NONE);
	/* The server, the reader: neither is we. */
	assert_true(f->client->pid > 0 && f->client->pid != getpid());
	assert_true(f->file->pid > 0 && f->file->pid != f->client->pid);
	assert_true(dwarf_file_bytes(f->file) > sizeof(*f->file));
	assert_false(dwarf_file_has_scratch(f->file));
}

static void nothing_is_started_for_a_file_without_dwarf(void **state)
{
	struct fixture *f = *state;
	char path[FIXTURE_PATH_BYTES];
	_cleanup_close_ int fd = open(fixture_path(&f->dir, "plain", path), O_RDONLY | O_CLOEXEC);

	assert_int_equal(dwarf_file_open(f->client, fd, MAX_BYTES, NULL, &f->file), DWARF_NONE);
	assert_int_equal(dwarf_file_open(f->client, f->fd, 4096, NULL, &f->file), DWARF_NONE);
	assert_int_equal(f->client->pid, 0);
}

static void a_reader_that_dies_is_counted(void **state)
{
	struct fixture *f = *state;

	open_it(f);
	assert_int_equal(kill(f->file->pid, SIGKILL), 0);
	assert_int_equal(ask(f), DWARF_FAILED);
	expect_count(f, TELEMETRY_dwarf_helper_crashed, 1);
	/* For good: it is not asked again. */
	assert_int_equal(ask(f), DWARF_NOT_NOW);
	/* The server lives, and reads the next file. */
	pid_t server = f->client->pid;
	dwarf_file_close(f->file);
	open_it(f);
	assert_int_equal(ask(f), 0);
	assert_int_equal(f->client->pid, server);
}

static void a_reader_that_stops_is_ended(void **state)
{
	struct fixture *f = *state;

	open_it(f);
	pid_t reader = f->file->pid;
	assert_int_equal(kill(reader, SIGSTOP), 0);
	assert_int_equal(ask(f), DWARF_FAILED);
	expect_count(f, TELEMETRY_dwarf_helper_timed_out, 1);
	assert_true(has_ended(reader));
}

/* Two files: the death of the server is no fault of either. */
static void a_server_that_dies_is_started_again(void **state)
{
	struct fixture *f = *state;
	struct dwarf_file *other = NULL;

	open_it(f);
	assert_int_equal(dwarf_file_open(f->client, f->fd, MAX_BYTES, NULL, &other), 0);
	pid_t server = f->client->pid;
	int r = 0;
	assert_int_equal(kill(server, SIGKILL), 0);
	/* Readers die with their server, some time later. */
	for (int i = 0; i < 1000 && r == 0; i++) {
		(void)usleep(1000);
		r = ask(f);
	}
	assert_int_equal(r, DWARF_NOT_NOW);
	assert_int_equal(dwarf_file_frames(other, f->burn, &f->strings, &f->frames), DWARF_NOT_NOW);
	expect_count(f, TELEMETRY_dwarf_helper_crashed, 1);
	dwarf_file_close(other);
	dwarf_file_close(f->file);
	open_it(f);
	assert_int_equal(ask(f), 0);
	assert_true(f->client->pid > 0 && f->client->pid != server);
}

static void a_server_that_stops_is_ended(void **state)
{
	struct fixture *f = *state;
	struct dwarf_file *other = NULL;

	open_it(f);
	pid_t server = f->client->pid;
	assert_int_equal(kill(server, SIGSTOP), 0);
	assert_int_equal(dwarf_file_open(f->client, f->fd, MAX_BYTES, NULL, &other), DWARF_NOT_NOW);
	expect_count(f, TELEMETRY_dwarf_helper_timed_out, 1);
	assert_true(has_ended(server));
	assert_int_equal(dwarf_file_open(f->client, f->fd, MAX_BYTES, NULL, &other), 0);
	dwarf_file_close(other);
}

/* A forbidden call is told apart: the kernel's own signal for it. */
static void a_reader_that_does_what_it_may_not_is_counted(void **state)
{
	struct fixture *f = *state;

	open_it(f);
	assert_int_equal(kill(f->file->pid, SIGSYS), 0);
	assert_int_equal(ask(f), DWARF_FAILED);
	expect_count(f, TELEMETRY_dwarf_helper_misbehaved, 1);
}

struct lie {
	const char *name;
	const void *message;
	size_t n;
};

static const uint32_t is_open[] = { DWARF_IS_OPEN, 0, 0, 0 };
static const uint32_t wants_scratch[] = { DWARF_WANTS_SCRATCH, 0, 1, 0 };
static const uint32_t cut_frames[] = { DWARF_HAS_FRAMES, 9, 0, 0 };
static const char too_long[DWARF_MESSAGE_MAX_BYTES + 1];

static struct lie lies[] = {
	{ "another kind", is_open, sizeof(is_open) },
	{ "a file it cannot want", wants_scratch, sizeof(wants_scratch) },
	{ "frames that are not there", cut_frames, sizeof(cut_frames) },
	{ "too long", too_long, sizeof(too_long) },
	{ "one byte", too_long, 1 },
};

/* We are the reader. */
static void a_reader_that_lies_is_ended(void **state)
{
	const struct lie *lie = *state;
	struct fixture *f;
	int fds[2];

	assert_int_equal(setup((void **)&f), 0);
	open_it(f);
	pid_t reader = f->file->pid;
	assert_int_equal(channel_new(fds), 0);
	assert_int_equal(dup2(fds[0], f->file->fd), f->file->fd);
	assert_int_equal(channel_send(fds[1], lie->message, lie->n, NULL, 0), 0);
	assert_int_equal(ask(f), DWARF_FAILED);
	expect_count(f, TELEMETRY_dwarf_helper_misbehaved, 1);
	assert_true(has_ended(reader));
	(void)close(fds[0]);
	(void)close(fds[1]);
	assert_int_equal(teardown((void **)&f), 0);
}

/* Its memory as the kernel tells it, not as it says. */
static void a_reader_that_takes_too_much_is_ended(void **state)
{
	struct fixture *f = *state;

	open_it(f);
	f->file->max_bytes = 0;
	assert_int_equal(ask(f), DWARF_FAILED);
	expect_count(f, TELEMETRY_dwarf_helper_out_of_memory, 1);
}

static void many_failures_are_held_back(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < DWARF_MAX_FAILURES_EACH; i++) {
		open_it(f);
		assert_int_equal(kill(f->file->pid, SIGKILL), 0);
		assert_int_equal(ask(f), DWARF_FAILED);
		dwarf_file_close(f->file);
		f->file = NULL;
	}
	assert_int_equal(dwarf_file_open(f->client, f->fd, MAX_BYTES, NULL, &f->file),
			 DWARF_NOT_NOW);
	expect_count(f, TELEMETRY_dwarf_helper_crashed, DWARF_MAX_FAILURES_EACH);
	expect_count(f, TELEMETRY_dwarf_helper_held_back, 1);
	/* Somebody else's file is read meanwhile. */
	if (geteuid() != 0)
		skip();
	assert_int_equal(fchown(f->fd, 61234, 61234), 0);
	open_it(f);
	assert_int_equal(ask(f), 0);
}

static void an_idle_server_ends(void **state)
{
	struct fixture *f = *state;
	uint64_t now_ns = clock_mono_ns();

	open_it(f);
	dwarf_client_rest(f->client, now_ns);
	dwarf_client_rest(f->client, now_ns + 2 * DWARF_IDLE_NS);
	assert_true(f->client->pid > 0);
	dwarf_file_close(f->file);
	f->file = NULL;
	dwarf_client_rest(f->client, now_ns);
	dwarf_client_rest(f->client, now_ns + DWARF_IDLE_NS - 1);
	assert_true(f->client->pid > 0);
	dwarf_client_rest(f->client, now_ns + DWARF_IDLE_NS);
	assert_int_equal(f->client->pid, 0);
	open_it(f);
	assert_int_equal(ask(f), 0);
}

/* Too large for memory: unpacked to a file that we have opened. Where there is none it has no lines. */
static void unpacks_to_our_file(void **state)
{
	struct fixture *f = *state;
	char path[FIXTURE_PATH_BYTES];

	assert_true(fixture_run(
		&f->dir,
		"for i in $(seq 60); do for k in $(seq 200); do "
		"echo \"struct s${i}_$k { int a${i}_$k; char c[$k]; } v${i}_$k;\"; done > m$i.c; "
		"echo \"int f$i(int x) { return x * $i; }\" >> m$i.c; done && "
		"gcc -O1 -g -gz=none -shared -fPIC -o plain.so m*.c && "
		"objcopy --compress-debug-sections=zlib plain.so packed.so"));
	_cleanup_close_ int fd =
		open(fixture_path(&f->dir, "packed.so", path), O_RDONLY | O_CLOEXEC);
	uint64_t at = fixture_hex(&f->dir, "nm packed.so | awk '$3 == \"f34\" { print $1 }'");
	struct scratch scratch = SCRATCH_INIT;
	const size_t max_bytes = (size_t)1 << 20;

	scratch.dir = f->dir.path;
	int r = dwarf_file_open(f->client, fd, max_bytes, &scratch, &f->file);
	if (r == DWARF_NONE && scratch.n_opened == 0)
		skip();
	assert_int_equal(r, 0);
	assert_true(dwarf_file_has_scratch(f->file) && scratch.used_bytes > 0);
	assert_int_equal(dwarf_file_frames(f->file, at, &f->strings, &f->frames), 0);
	assert_string_equal(f->frames.items[0].function, "f34");
	dwarf_file_close(f->file);
	f->file = NULL;
	assert_int_equal(scratch.used_bytes, 0);
	assert_int_equal(dwarf_file_open(f->client, fd, max_bytes, NULL, &f->file), DWARF_NONE);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(frames_come_from_another_process),
	FIXTURE_TEST(nothing_is_started_for_a_file_without_dwarf),
	FIXTURE_TEST(a_reader_that_dies_is_counted),
	FIXTURE_TEST(a_reader_that_stops_is_ended),
	FIXTURE_TEST(a_server_that_dies_is_started_again),
	FIXTURE_TEST(a_server_that_stops_is_ended),
	FIXTURE_TEST(a_reader_that_does_what_it_may_not_is_counted),
	FIXTURE_TEST(a_reader_that_takes_too_much_is_ended),
	FIXTURE_TEST(many_failures_are_held_back),
	FIXTURE_TEST(an_idle_server_ends),
	FIXTURE_TEST(unpacks_to_our_file),
	TEST_ROWS(a_reader_that_lies_is_ended, lies, name),
};

int main(int argc, char **argv)
{
	if (dwarf_server_is_meant(argc, argv))
		dwarf_server_run();
	return RUN_TESTS(tests);
}
