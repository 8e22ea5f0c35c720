/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store on disk: what was written is there after a restart, also after one that nobody announced; what is damaged is set aside, what is
 * somebody else's stays.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/store/disk/disk_file.h"
#include "agent/store/store.h"
#include "agent/util/file.h"
#include "agent/util/str.h"
#include "agent/util/macro.h"
#include "tests/support/made_profile.h"
#include "tests/support/store_sync.h"
#include "tests/support/unit.h"

#define T0_MS INT64_C(1700000000000)
#define MINUTE_MS (60 * 1000)

/* The clock of a store takes no argument. */
static int64_t now_ms;

static uint64_t now_ns(void)
{
	return (uint64_t)now_ms * NS_PER_MS;
}

struct context {
	char dir[64];
	struct loop *loop;
	struct worker *worker;
	struct telemetry *telemetry;
	struct store *store;
	struct buf why;
};

static void set_up(struct context *w)
{
	now_ms = T0_MS;
	w->why = BUF_INIT(10000);
	/* In memory where there is such a place: fsync(2) takes its time. */
	(void)snprintf(w->dir, sizeof(w->dir), "%s/test_store_disk.XXXXXX",
		       access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	assert_non_null(mkdtemp(w->dir));
}

static void start(struct context *w, size_t max_bytes, uint64_t flush_ns)
{
	struct store_options options = STORE_OPTIONS_INIT;

	options.max_bytes = max_bytes;
	options.flush_ns = flush_ns;
	options.path = w->dir;
	options.segment_ns = 600 * NS_PER_S;
	options.now_ns = now_ns;
	assert_int_equal(loop_new(&w->loop), 0);
	assert_int_equal(worker_new(w->loop, 4, &w->worker), 0);
	assert_int_equal(telemetry_new(&w->telemetry), 0);
	assert_int_equal(store_new(w->loop, w->worker, w->telemetry, &options, &w->why, &w->store),
			 0);
	worker_drain(w->worker);
}

static void stop(struct context *w)
{
	store_free(w->store);
	telemetry_free(w->telemetry);
	worker_free(w->worker);
	loop_free(w->loop);
	w->store = NULL;
	w->telemetry = NULL;
	w->worker = NULL;
	w->loop = NULL;
}

static void tear_down(struct context *w)
{
	char command[128];

	stop(w);
	(void)snprintf(command, sizeof(command), "rm -rf %s", w->dir);
	assert_int_equal(system(command), 0);
	buf_fini(&w->why);
}

FIXTURE(struct context, set_up, tear_down)

static int try_put(struct context *w, const char *service, const char *stack)
{
	const struct label items[] = { { "__name__", "process_cpu" }, { "service_name", service } };
	struct labels *labels;
	struct made_profile made;
	size_t n;

	assert_int_equal(labels_new(items, ARRAY_SIZE(items), &labels), 0);
	made_profile_init(&made, "cpu/nanoseconds", "cpu/nanoseconds", now_ms);
	made_profile_sample(&made, stack, (const int64_t[]){ 10 }, NULL);
	uint8_t *bytes = made_profile_pack(&made, &n);

	int r = store_sync_put(w->store, labels, bytes, n, &w->why);

	free(bytes);
	made_profile_fini(&made);
	labels_unref(labels);
	return r;
}

static void put(struct context *w, const char *service, const char *stack)
{
	assert_int_equal(try_put(w, service, stack), STORE_KEPT);
}

/* A segment for each. */
static void put_segments(struct context *w, int n)
{
	for (int i = 0; i < n; i++) {
		put(w, "a", "main;f");
		now_ms += 11 * MINUTE_MS;
	}
}

static struct store_stats stats_of(struct context *w)
{
	struct store_stats stats;

	store_stats(w->store, &stats);
	return stats;
}

static double metric_of(struct context *w, const char *name)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);
	char line[128];

	(void)snprintf(line, sizeof(line), "\nxagent_store_%s{", name);
	assert_int_equal(telemetry_text(w->telemetry, &text), 0);
	char *found = strstr(text.data, line);

	assert_non_null(found);
	return strtod(strchr(found, '}') + 1, NULL);
}

/* Names that begin and end so. */
static size_t n_files(const struct context *w, const char *begin, const char *end)
{
	DIR *d = opendir(w->dir);
	size_t n = 0;

	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));) {
		struct str name = str_from(e->d_name);

		n += name.p[0] != '.' && str_starts_with(name, str_from(begin)) &&
		     str_ends_with(name, str_from(end));
	}
	(void)closedir(d);
	return n;
}

static void path_of(const struct context *w, const char *begin, char *ret_path, size_t n)
{
	DIR *d = opendir(w->dir);
	bool found = false;

	assert_non_null(d);
	for (struct dirent *e; !found && (e = readdir(d));)
		if (strncmp(e->d_name, begin, strlen(begin)) == 0) {
			(void)snprintf(ret_path, n, "%s/%s", w->dir, e->d_name);
			found = true;
		}
	(void)closedir(d);
	assert_true(found);
}

static void write_file(const struct context *w, const char *name, const void *bytes, size_t n)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", w->dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(file_write_fd(fd, bytes, n), 0);
	(void)close(fd);
}

static void test_restart(void **state)
{
	struct context *w = *state;

	start(w, 1 << 20, 60 * NS_PER_S);
	put_segments(w, 3);
	put(w, "b", "main;g");
	worker_drain(w->worker);
	assert_int_equal(n_files(w, "segment-", ".zst"), 3);
	assert_int_equal(metric_of(w, "disk_files"), 3);
	assert_true(metric_of(w, "disk_bytes") > 0);
	assert_int_equal(metric_of(w, "disk_written_bytes_total"), metric_of(w, "disk_bytes"));
	stop(w);
	assert_int_equal(n_files(w, "segment-", ".zst"), 4);
	assert_int_equal(n_files(w, "", ""), 4);
	start(w, 1 << 20, 60 * NS_PER_S);
	assert_int_equal(stats_of(w).n_segments, 4);
	assert_int_equal(stats_of(w).n_profiles, 4);
	assert_int_equal(stats_of(w).oldest_ms, T0_MS);
	assert_int_equal(stats_of(w).newest_ms, now_ms);
	assert_int_equal(metric_of(w, "disk_files"), 4);
	assert_int_equal(metric_of(w, "disk_damaged_files_total"), 0);
}

static void put_other(struct context *w)
{
	now_ms += 1000;
	put(w, "b", "main;h");
}

static void test_restart_and_on(void **state)
{
	struct context *w = *state;

	start(w, 1 << 20, 60 * NS_PER_S);
	put(w, "b", "main;g");
	stop(w);
	for (int i = 1; i < 4; i++) {
		start(w, 1 << 20, 60 * NS_PER_S);
		put_other(w);
		assert_int_equal(stats_of(w).n_profiles, i + 1);
		stop(w);
	}
	assert_int_equal(n_files(w, "segment-", ".zst"), 4);
}

/* A process that is killed: its head was flushed, and nothing else was done. */
static void child_until_flushed(struct context *w)
{
	start(w, 1 << 20, NS_PER_MS);
	put(w, "a", "main;f");
	for (int i = 0; i < 10000; i++) {
		(void)loop_run_once(w->loop, 10);
		if (n_files(w, "head-", ".zst") > 0)
			_exit(0);
	}
	_exit(1);
}

static void test_killed(void **state)
{
	struct context *w = *state;
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0)
		child_until_flushed(w);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(n_files(w, "head-", ".zst"), 1);
	start(w, 1 << 20, 60 * NS_PER_S);
	assert_int_equal(stats_of(w).n_profiles, 1);
	assert_int_equal(stats_of(w).n_segments, 1);
}

/* Writes without an end: heads, segments, removals. */
static void child_without_end(struct context *w)
{
	start(w, 256 << 10, NS_PER_MS);
	for (int i = 0;; i++) {
		if (try_put(w, "a", i % 2 ? "main;f" : "main;g") != STORE_KEPT)
			_exit(1);
		now_ms += 3 * MINUTE_MS;
		(void)loop_run_once(w->loop, i % 3);
	}
}

/* Whenever it happens: what has its name is whole. */
static void test_killed_while_it_writes(void **state)
{
	struct context *w = *state;
	int status;

	for (size_t i = 1; i <= 6; i++) {
		/* Times of its own: a profile of a millisecond that is there is a repetition. */
		now_ms++;
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0)
			child_without_end(w);
		for (int j = 0; j < 1000000 && n_files(w, "segment-", ".zst") < 2 * i; j++)
			assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		/* Times of the child's clock lie ahead of this one: nothing is too old. */
		start(w, 256 << 10, 60 * NS_PER_S);
		assert_true(stats_of(w).n_profiles > 0);
		assert_int_equal(metric_of(w, "disk_damaged_files_total"), 0);
		assert_int_equal(metric_of(w, "disk_errors_total"), 0);
		assert_int_equal(n_files(w, "", ".tmp"), 0);
		stop(w);
	}
}

/* A head becomes a segment under its own id; killed between the two steps, both are there. */
static void test_twins(void **state)
{
	struct context *w = *state;
	char path[256], head[256];

	start(w, 1 << 20, 60 * NS_PER_S);
	put(w, "a", "main;f");
	stop(w);
	path_of(w, "segment-", path, sizeof(path));
	(void)snprintf(head, sizeof(head), "%s/head-%s", w->dir, strrchr(path, '-') + 1);
	assert_int_equal(link(path, head), 0);
	start(w, 1 << 20, 60 * NS_PER_S);
	assert_int_equal(stats_of(w).n_profiles, 1);
	assert_int_equal(n_files(w, "", ""), 1);
	assert_int_equal(n_files(w, "segment-", ".zst"), 1);
}

static void test_flushed_head_becomes_segment(void **state)
{
	struct context *w = *state;

	start(w, 1 << 20, NS_PER_MS);
	put(w, "a", "main;f");
	for (int i = 0; i < 10000 && n_files(w, "head-", ".zst") == 0; i++)
		(void)loop_run_once(w->loop, 10);
	worker_drain(w->worker);
	assert_int_equal(n_files(w, "head-", ".zst"), 1);
	now_ms += 11 * MINUTE_MS;
	put(w, "a", "main;g");
	worker_drain(w->worker);
	assert_int_equal(n_files(w, "segment-", ".zst"), 1);
	/* The head that was is gone; the new one may be there already. */
	assert_true(n_files(w, "head-", ".zst") <= 1);
	stop(w);
	assert_int_equal(n_files(w, "head-", ""), 0);
	assert_int_equal(n_files(w, "segment-", ".zst"), 2);
}

static void test_half_written(void **state)
{
	struct context *w = *state;

	write_file(w, "segment-0000000000000001.zst.tmp", "half", 4);
	write_file(w, "head-00000000000000ff.zst.tmp", "", 0);
	write_file(w, "somebody.tmp", "x", 1);
	write_file(w, "notes.txt", "x", 1);
	start(w, 1 << 20, 60 * NS_PER_S);
	assert_int_equal(n_files(w, "", ".zst.tmp"), 0);
	assert_int_equal(n_files(w, "somebody.tmp", ""), 1);
	assert_int_equal(n_files(w, "notes.txt", ""), 1);
	assert_int_equal(stats_of(w).n_segments, 0);
	assert_int_equal(metric_of(w, "disk_damaged_files_total"), 0);
}

/* Cut at a place, or one byte changed: set aside, told, and all others are read. */
static void damage(const struct context *w, const char *path, size_t at, bool cut)
{
	_cleanup_buf_ struct buf file = BUF_INIT(1 << 20);

	assert_int_equal(file_read(AT_FDCWD, path, &file), 0);
	if (at >= file.len)
		at = file.len - 1;
	if (!cut)
		file.data[at] ^= 0x55;
	write_file(w, strrchr(path, '/') + 1, file.data, cut ? at : file.len);
}

static void test_damaged(void **state)
{
	struct context *w = *state;
	/* Magic, header, within the blocks, within the checksum at the end. */
	const size_t places[] = { 0, 5, 40, 100, SIZE_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(places) * 2; i++) {
		char path[256];

		now_ms = T0_MS;
		start(w, 1 << 20, 60 * NS_PER_S);
		put_segments(w, 2);
		stop(w);
		path_of(w, "segment-", path, sizeof(path));
		damage(w, path, places[i / 2], i % 2);
		start(w, 1 << 20, 60 * NS_PER_S);
		assert_int_equal(stats_of(w).n_segments, 1);
		assert_int_equal(stats_of(w).n_profiles, 1);
		assert_int_equal(metric_of(w, "disk_damaged_files_total"), 1);
		assert_int_equal(n_files(w, "segment-", ".zst.damaged"), 1);
		assert_int_equal(n_files(w, "segment-", ".zst"), 1);
		now_ms += 7 * 60 * MINUTE_MS;
		store_set_bounds(w->store, 1 << 20, 3600 * NS_PER_S);
		worker_drain(w->worker);
		assert_int_equal(n_files(w, "segment-", ".zst"), 0);
		stop(w);
		path_of(w, "segment-", path, sizeof(path));
		assert_int_equal(unlink(path), 0);
	}
}

/* What is read is what was written, or nothing. */
static void test_every_byte(void **state)
{
	static const char text[] =
		"a text whose letters no reader of segments would miss: main main main";
	static const unsigned char masks[] = { 0x01, 0x80 };
	struct context *w = *state;
	const struct disk_name name = { 7, false };
	_cleanup_buf_ struct buf file = BUF_INIT(1 << 20);
	char path[256];
	size_t n, n_bytes, n_damaged = 0;
	uint8_t *image;
	int fd = open(w->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(disk_write_file(fd, name, (const uint8_t *)text, sizeof(text), &n_bytes),
			 0);
	path_of(w, "segment-", path, sizeof(path));
	assert_int_equal(file_read(AT_FDCWD, path, &file), 0);
	assert_int_equal(file.len, n_bytes);
	for (size_t i = 0; i < file.len * ARRAY_SIZE(masks); i++) {
		file.data[i / 2] ^= masks[i % 2];
		write_file(w, strrchr(path, '/') + 1, file.data, file.len);
		file.data[i / 2] ^= masks[i % 2];
		if (disk_read_file(fd, name, 1000, &image, &n, &n_bytes) == DISK_DAMAGED) {
			n_damaged++;
			continue;
		}
		assert_int_equal(n, sizeof(text));
		assert_memory_equal(image, text, n);
		free(image);
	}
	assert_true(n_damaged > file.len);
	(void)close(fd);
}

/* A sound zstd frame of something else, and one that unpacks to more than the store may hold. */
static void test_foreign(void **state)
{
	struct context *w = *state;
	size_t n_large = (1 << 20) + 1, n_bytes;
	uint8_t *large = calloc(1, n_large);
	int fd = open(w->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_non_null(large);
	assert_true(fd >= 0);
	assert_int_equal(disk_write_file(fd, (struct disk_name){ 1, false },
					 (const uint8_t *)"hello", 5, &n_bytes),
			 0);
	assert_int_equal(
		disk_write_file(fd, (struct disk_name){ 2, false }, large, n_large, &n_bytes), 0);
	(void)close(fd);
	free(large);
	write_file(w, "segment-0000000000000003.zst", "", 0);
	start(w, 1 << 20, 60 * NS_PER_S);
	assert_int_equal(metric_of(w, "disk_damaged_files_total"), 3);
	assert_int_equal(n_files(w, "segment-", ".zst.damaged"), 3);
	assert_int_equal(stats_of(w).n_segments, 0);
}

/* The newest come first, as many as have room; older files go, so that the disk is bounded as well. */
static void test_more_than_there_is_room(void **state)
{
	struct context *w = *state;
	char stack[64];

	start(w, 4 << 20, 60 * NS_PER_S);
	for (int i = 0; i < 30; i++) {
		for (int j = 0; j < 500; j++) {
			(void)snprintf(stack, sizeof(stack), "function_with_a_longer_name_%d_%d", i,
				       j);
			put(w, "a", stack);
			now_ms += 1000;
		}
		now_ms += 2 * MINUTE_MS;
	}
	int64_t newest_ms = stats_of(w).newest_ms;

	stop(w);
	size_t n = n_files(w, "segment-", ".zst");

	assert_true(n > 15);
	start(w, 512 << 10, 60 * NS_PER_S);
	assert_true(stats_of(w).bytes <= 512 << 10);
	assert_true(stats_of(w).n_segments > 1);
	assert_true(stats_of(w).n_segments < n);
	assert_int_equal(stats_of(w).newest_ms, newest_ms);
	assert_int_equal(n_files(w, "segment-", ".zst"), stats_of(w).n_segments);
	assert_int_equal(metric_of(w, "disk_files"), stats_of(w).n_segments);
}

/* What became too old while nobody ran goes with its file; what is not stays. */
static void test_too_old_after_restart(void **state)
{
	struct context *w = *state;

	start(w, 1 << 20, 60 * NS_PER_S);
	put_segments(w, 3);
	stop(w);
	now_ms = T0_MS + 6 * 60 * MINUTE_MS + 12 * MINUTE_MS;
	start(w, 1 << 20, 60 * NS_PER_S);
	assert_int_equal(stats_of(w).n_segments, 1);
	assert_int_equal(stats_of(w).oldest_ms, T0_MS + 22 * MINUTE_MS);
	worker_drain(w->worker);
	assert_int_equal(n_files(w, "segment-", ".zst"), 1);
	assert_int_equal(metric_of(w, "disk_files"), 1);
}

static void test_evicted_files(void **state)
{
	struct context *w = *state;

	start(w, 1 << 20, 60 * NS_PER_S);
	put_segments(w, 3);
	now_ms += 6 * 60 * MINUTE_MS - 25 * MINUTE_MS;
	put(w, "a", "main;f");
	worker_drain(w->worker);
	assert_int_equal(n_files(w, "segment-", ".zst"), stats_of(w).n_segments);
	assert_int_equal(metric_of(w, "disk_files"), stats_of(w).n_segments);
	assert_true(stats_of(w).n_evicted_profiles > 0);
}

static void test_one_user(void **state)
{
	struct context *w = *state;
	struct store_options options = STORE_OPTIONS_INIT;
	struct store *other;

	start(w, 1 << 20, 60 * NS_PER_S);
	options.path = w->dir;
	assert_int_equal(store_new(w->loop, w->worker, w->telemetry, &options, &w->why, &other),
			 -EBUSY);
	assert_non_null(strstr(buf_str(&w->why), "is used by another store"));
}

static void test_no_directory(void **state)
{
	struct context *w = *state;
	struct store_options options = STORE_OPTIONS_INIT;
	struct store *other;
	char path[128];

	start(w, 1 << 20, 60 * NS_PER_S);
	(void)snprintf(path, sizeof(path), "%s/a/b/c", w->dir);
	options.path = path;
	assert_int_equal(store_new(w->loop, w->worker, w->telemetry, &options, &w->why, &other), 0);
	store_free(other);
	write_file(w, "file", "", 0);
	(void)snprintf(path, sizeof(path), "%s/file", w->dir);
	assert_int_equal(store_new(w->loop, w->worker, w->telemetry, &options, &w->why, &other),
			 -ENOTDIR);
	assert_non_null(strstr(buf_str(&w->why), "cannot open the directory"));
}

/* The directory goes away below a running store: counted, and the profiles in memory stay. */
static void test_disk_in_trouble(void **state)
{
	struct context *w = *state;
	char command[128];

	start(w, 1 << 20, 60 * NS_PER_S);
	(void)snprintf(command, sizeof(command), "rm -rf %s", w->dir);
	assert_int_equal(system(command), 0);
	put_segments(w, 2);
	put(w, "b", "main;f");
	worker_drain(w->worker);
	assert_true(metric_of(w, "disk_errors_total") >= 1);
	assert_int_equal(stats_of(w).n_profiles, 3);
	assert_int_equal(mkdir(w->dir, 0700), 0);
}

static void test_names(void **state)
{
	static const char *const others[] = { "segment-1.zst",
					      "segment-00000000000000FF.zst",
					      "segment-0000000000000001.zst.damaged",
					      "segment-0000000000000001",
					      "head-000000000000000g.zst",
					      "Head-0000000000000001.zst",
					      "segment-0000000000000001.zstd",
					      "" };
	const struct disk_name names[] = { { 0, false },
					   { UINT64_MAX, true },
					   { 0x1234abcd, false } };
	char text[DISK_NAME_BYTES];
	struct disk_name parsed;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		disk_name_print(names[i], text);
		assert_true(disk_name_parse(text, &parsed));
		assert_true(parsed.id == names[i].id && parsed.head == names[i].head);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(disk_name_parse(others[i], &parsed));
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_restart),
	FIXTURE_TEST(test_restart_and_on),
	FIXTURE_TEST(test_killed),
	FIXTURE_TEST(test_killed_while_it_writes),
	FIXTURE_TEST(test_twins),
	FIXTURE_TEST(test_flushed_head_becomes_segment),
	FIXTURE_TEST(test_half_written),
	FIXTURE_TEST(test_damaged),
	FIXTURE_TEST(test_every_byte),
	FIXTURE_TEST(test_foreign),
	FIXTURE_TEST(test_more_than_there_is_room),
	FIXTURE_TEST(test_too_old_after_restart),
	FIXTURE_TEST(test_evicted_files),
	FIXTURE_TEST(test_one_user),
	FIXTURE_TEST(test_no_directory),
	FIXTURE_TEST(test_disk_in_trouble),
	TEST(test_names),
};

TEST_MAIN(tests)
