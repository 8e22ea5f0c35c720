/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a spool: what was written is found, whatever happens to the rest of them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/push/spool/spool_dir.h"
#include "agent/push/spool/spool_scan.h"
#include "agent/util/clock.h"
#include "agent/util/hash.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define N 5
#define PATH_BYTES 96

struct fixture {
	char top[64], path[80];
	struct spool_dir dir;
	struct spool_found found;
};

static void set_up(struct fixture *f)
{
	(void)snprintf(f->top, sizeof(f->top), "/tmp/test_spool_dir.XXXXXX");
	assert_non_null(mkdtemp(f->top));
	(void)snprintf(f->path, sizeof(f->path), "%s/spool", f->top);
	f->dir = SPOOL_DIR_INIT;
	f->dir.path = f->path;
	f->dir.max_segment_bytes = 1 << 20;
}

static void remove_files(const char *path)
{
	DIR *d = opendir(path);

	for (struct dirent *e; d && (e = readdir(d));)
		if (e->d_name[0] != '.')
			(void)unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		(void)closedir(d);
	(void)rmdir(path);
}

static void tear_down(struct fixture *f)
{
	spool_dir_close(&f->dir);
	spool_found_fini(&f->found);
	remove_files(f->path);
	remove_files(f->top);
}

FIXTURE(struct fixture, set_up, tear_down)

static struct push_profile *make(unsigned int number, size_t n_bytes)
{
	const struct push_labels labels = {
		.items = { { "__name__", "process_cpu" }, { "service_name", "s" } }, .n = 2
	};
	struct shared_bytes *bytes;
	struct push_profile *p;
	uint8_t *data = malloc(n_bytes);

	assert_non_null(data);
	for (size_t i = 0; i < n_bytes; i++)
		data[i] = (uint8_t)hash_u64(number + i);
	memcpy(data, &number, sizeof(number));
	assert_int_equal(shared_bytes_new(data, n_bytes, &bytes), 0);
	assert_int_equal(push_profile_new(&labels, bytes, &p), 0);
	shared_bytes_unref(bytes);
	p->n_samples = number;
	return p;
}

static int append(struct spool_dir *d, unsigned int number, size_t n_bytes,
		  struct spool_place *place)
{
	struct push_profile *p = make(number, n_bytes);
	int r = spool_dir_append(d, p, 1000 + number, place);

	push_profile_unref(p);
	return r;
}

static void open_again(struct fixture *f)
{
	spool_dir_close(&f->dir);
	spool_found_fini(&f->found);
	assert_int_equal(spool_dir_open(&f->dir, true, &f->found), 0);
}

/* Five records in one segment, closed. */
static void write_five(struct fixture *f, struct spool_place *places)
{
	open_again(f);
	for (unsigned int i = 0; i < N; i++)
		assert_int_equal(append(&f->dir, i + 1, 100, &places[i]), 0);
	spool_dir_close(&f->dir);
}

static void assert_profile(struct fixture *f, const struct spool_place *place, unsigned int number)
{
	struct push_profile *p = NULL;
	unsigned int seen;

	assert_int_equal(spool_dir_read(&f->dir, place, &p), 0);
	memcpy(&seen, p->bytes->data, sizeof(seen));
	assert_int_equal(seen, number);
	assert_int_equal(p->n_samples, number);
	assert_int_equal(p->deadline_ns, 1000 + number);
	assert_int_equal(p->n_labels, 2);
	assert_string_equal(p->labels[1].name, "service_name");
	assert_string_equal(p->labels[1].value, "s");
	push_profile_unref(p);
}

static void segment_path(const struct fixture *f, uint64_t id, char text[static PATH_BYTES * 2])
{
	char name[SPOOL_NAME_BYTES];

	spool_name_print(id, name);
	(void)snprintf(text, PATH_BYTES * 2, "%s/%s", f->path, name);
}

static int open_segment(const struct fixture *f, uint64_t id, int flags)
{
	char path[PATH_BYTES * 2];

	segment_path(f, id, path);
	int fd = open(path, flags | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	return fd;
}

static void test_found_again(void **state)
{
	struct fixture *f = *state;
	struct spool_place places[N];
	struct stat st;

	write_five(f, places);
	open_again(f);
	assert_int_equal(f->found.n, N);
	assert_int_equal(f->found.n_damaged, 0);
	for (unsigned int i = 0; i < N; i++)
		assert_profile(f, &f->found.places[i], i + 1);
	char path[PATH_BYTES * 2];
	segment_path(f, 1, path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
}

static void test_marked_ones_are_not_found(void **state)
{
	struct fixture *f = *state;
	struct spool_place places[N];

	write_five(f, places);
	open_again(f);
	assert_int_equal(spool_dir_mark(&f->dir, &places[0]), 0);
	assert_int_equal(spool_dir_mark(&f->dir, &places[3]), 0);
	open_again(f);
	assert_int_equal(f->found.n, N - 2);
	assert_profile(f, &f->found.places[0], 2);
	assert_profile(f, &f->found.places[2], 5);
	for (unsigned int i = 0; i < N; i++)
		assert_int_equal(spool_dir_mark(&f->dir, &places[i]), 0);
	open_again(f);
	assert_int_equal(f->found.n, 0);
	char path[PATH_BYTES * 2];
	segment_path(f, 1, path);
	assert_int_equal(access(path, F_OK), -1);
}

static void test_new_segments(void **state)
{
	struct fixture *f = *state;
	struct spool_place place;

	f->dir.max_segment_bytes = 1;
	open_again(f);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(append(&f->dir, i + 1, 100, &place), 0);
		assert_int_equal(place.segment, i + 1);
	}
	open_again(f);
	assert_int_equal(f->found.n, 3);
	assert_int_equal(append(&f->dir, 4, 100, &place), 0);
	assert_int_equal(place.segment, 4);
	assert_int_equal(spool_dir_remove(&f->dir, 1), 0);
	open_again(f);
	assert_int_equal(f->found.n, 3);
	assert_profile(f, &f->found.places[0], 2);
}

/* Cut at each byte: all that were whole before it are found, and one more can be written. */
static void test_cut_anywhere(void **state)
{
	struct fixture *f = *state;
	struct spool_place places[N], place;

	for (uint64_t cut = 0;; cut++) {
		size_t n_whole = 0;

		write_five(f, places);
		uint64_t id = places[0].segment;
		int fd = open_segment(f, id, O_RDWR);
		if (cut > (uint64_t)lseek(fd, 0, SEEK_END)) {
			(void)close(fd);
			break;
		}
		assert_int_equal(ftruncate(fd, (off_t)cut), 0);
		(void)close(fd);
		while (n_whole < N &&
		       places[n_whole].offset + spool_place_bytes(&places[n_whole]) <= cut)
			n_whole++;
		open_again(f);
		assert_int_equal(f->found.n, n_whole);
		for (unsigned int i = 0; i < n_whole; i++)
			assert_profile(f, &f->found.places[i], i + 1);
		assert_int_equal(append(&f->dir, 9, 10, &place), 0);
		assert_profile(f, &place, 9);
		spool_dir_close(&f->dir);
		remove_files(f->path);
	}
}

/* Each bit of each byte of the segment: at most the record that it is in is lost, and no other profile comes out. */
static void test_flipped_anywhere(void **state)
{
	struct fixture *f = *state;
	struct spool_place places[N];

	write_five(f, places);
	int fd = open_segment(f, places[0].segment, O_RDWR);
	off_t n = lseek(fd, 0, SEEK_END);
	for (off_t at = SPOOL_SEGMENT_HEAD_BYTES; at < n; at++) {
		struct push_profile *p = NULL;
		uint8_t byte, flipped;
		size_t n_read = 0;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		flipped = byte ^ (uint8_t)(1 << (at % 8));
		assert_int_equal(pwrite(fd, &flipped, 1, at), 1);
		open_again(f);
		for (size_t i = 0; i < f->found.n; i++) {
			if (spool_dir_read(&f->dir, &f->found.places[i], &p) != 0)
				continue;
			unsigned int number;
			memcpy(&number, p->bytes->data, sizeof(number));
			assert_int_equal(p->n_samples, number);
			push_profile_unref(p);
			n_read++;
		}
		assert_true(n_read >= N - 1);
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	(void)close(fd);
}

static void copy_bytes(int from, off_t offset, size_t n, int to)
{
	_cleanup_free_ uint8_t *bytes = malloc(n);

	assert_non_null(bytes);
	assert_int_equal(pread(from, bytes, n, offset), n);
	assert_int_equal(write(to, bytes, n), n);
}

static void test_duplicates(void **state)
{
	struct fixture *f = *state;
	struct spool_place places[N];

	write_five(f, places);
	int fd = open_segment(f, 1, O_RDWR);
	off_t end = lseek(fd, 0, SEEK_END);
	/* The whole segment under another name, and one record behind the last. */
	int copy = open_segment(f, 7, O_RDWR | O_CREAT);
	copy_bytes(fd, 0, (size_t)end, copy);
	copy_bytes(fd, (off_t)places[1].offset, spool_place_bytes(&places[1]), fd);
	(void)close(copy);
	(void)close(fd);
	open_again(f);
	assert_int_equal(f->found.n, N);
	assert_int_equal(f->found.n_damaged, 2);
	assert_profile(f, &f->found.places[1], 2);
	assert_int_equal(append(&f->dir, 9, 10, &places[0]), 0);
	assert_int_equal(places[0].segment, 8);
}

static void test_foreign_files(void **state)
{
	struct fixture *f = *state;
	struct spool_place places[N];
	char path[PATH_BYTES * 2], other[PATH_BYTES * 2];

	write_five(f, places);
	segment_path(f, 2, path);
	segment_path(f, 1, other);
	assert_int_equal(symlink(other, path), 0);
	segment_path(f, 3, path);
	assert_int_equal(mkfifo(path, 0600), 0);
	segment_path(f, 4, path);
	(void)snprintf(other, sizeof(other), "%s/file", f->top);
	(void)close(open(other, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	assert_int_equal(link(other, path), 0);
	(void)close(open_segment(f, 5, O_CREAT | O_WRONLY));
	(void)snprintf(path, sizeof(path), "%s/notes.txt", f->path);
	(void)close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	open_again(f);
	assert_int_equal(f->found.n, N);
	assert_int_equal(f->found.n_damaged, 0);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(access(other, F_OK), 0);
	/* The name of the link is taken, but never gone through. */
	assert_int_equal(append(&f->dir, 9, 10, &places[0]), 0);
	assert_int_equal(places[0].segment, 6);
}

static void test_later_version_is_left(void **state)
{
	struct fixture *f = *state;
	struct spool_place places[N];
	const uint8_t version = 2;
	char path[PATH_BYTES * 2];

	write_five(f, places);
	int fd = open_segment(f, 1, O_RDWR);
	assert_int_equal(pwrite(fd, &version, 1, 7), 1);
	(void)close(fd);
	open_again(f);
	assert_int_equal(f->found.n + f->found.n_damaged, 0);
	segment_path(f, 1, path);
	assert_int_equal(access(path, F_OK), 0);
}

static void test_refused_and_removed(void **state)
{
	struct fixture *f = *state;
	struct spool_place place;
	struct spool_dir second = SPOOL_DIR_INIT;

	assert_int_equal(spool_dir_open(&f->dir, false, &f->found), -ENOENT);
	open_again(f);
	second.path = f->path;
	assert_int_equal(spool_dir_open(&second, true, &f->found), -EBUSY);
	assert_int_equal(append(&f->dir, 1, 10, &place), 0);
	remove_files(f->path);
	assert_int_equal(append(&f->dir, 2, 10, &place), -ESTALE);
	open_again(f);
	assert_int_equal(append(&f->dir, 2, 10, &place), 0);
	/* A segment that somebody has removed is not written any more. */
	assert_int_equal(spool_dir_remove(&f->dir, place.segment), 0);
	assert_int_equal(append(&f->dir, 3, 10, &place), 0);
	assert_profile(f, &place, 3);
	spool_dir_close(&f->dir);
	assert_int_equal(chmod(f->path, 0777), 0);
	assert_int_equal(spool_dir_open(&f->dir, true, &f->found), -EPERM);
}

static void limit_files(rlim_t n_bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = n_bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Records until one does not fit; how many did. */
static unsigned int fill(struct fixture *f, rlim_t n_bytes)
{
	struct spool_place place;
	unsigned int n = 0;

	limit_files(n_bytes);
	while (n < N && append(&f->dir, n + 1, 100, &place) == 0)
		n++;
	limit_files(RLIM_INFINITY);
	return n;
}

/* At any byte of any write: what was told to be written is there, what failed is not, and what comes when there is room again is there, too. */
static void test_full_at_any_byte(void **state)
{
	struct fixture *f = *state;
	struct spool_place place;
	unsigned int n = 0, n_limits = 0;

	(void)signal(SIGXFSZ, SIG_IGN);
	for (rlim_t limit = 0; n < N; limit += 7, n_limits++) {
		open_again(f);
		n = fill(f, limit);
		assert_int_equal(append(&f->dir, 77, 100, &place), 0);
		assert_profile(f, &place, 77);
		open_again(f);
		assert_int_equal(f->found.n, n + 1);
		assert_int_equal(f->found.n_damaged, 0);
		for (unsigned int i = 0; i < n; i++)
			assert_profile(f, &f->found.places[i], i + 1);
		assert_profile(f, &f->found.places[n], 77);
		spool_dir_close(&f->dir);
		remove_files(f->path);
	}
	assert_true(n_limits > N * 100 / 7);
}

/* Written by a process that tells each record when it is written, until it is killed. */
static void write_until_killed(struct fixture *f, int told)
{
	struct spool_place place;

	if (spool_dir_open(&f->dir, true, &f->found) < 0)
		_exit(1);
	for (unsigned int i = 1;; i++)
		if (append(&f->dir, i, 1000 + i % 50 * 400, &place) < 0 ||
		    write(told, &i, sizeof(i)) != sizeof(i))
			_exit(1);
}

static unsigned int kill_writer(struct fixture *f, uint64_t after_us)
{
	int pipes[2], status;
	unsigned int last = 0;

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		write_until_killed(f, pipes[1]);
	(void)close(pipes[1]);
	/* From its first record on. */
	assert_int_equal(read(pipes[0], &last, sizeof(last)), sizeof(last));
	(void)usleep((useconds_t)after_us);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	while (read(pipes[0], &last, sizeof(last)) == sizeof(last))
		;
	(void)close(pipes[0]);
	return last;
}

static void test_killed_at_random(void **state)
{
	struct fixture *f = *state;
	const char *matrix = getenv("XAGENT_TEST_MATRIX");
	int n_rounds = matrix && strcmp(matrix, "full") == 0 ? 300 : 10;
	uint64_t random = clock_mono_ns();

	f->dir.max_segment_bytes = 64 << 10;
	for (int round = 0; round < n_rounds; round++) {
		random = hash_u64(random + 1);
		unsigned int last = kill_writer(f, random % 5000);

		open_again(f);
		/* All that were told, and the one that was on its way perhaps. */
		assert_in_range(f->found.n, last, last + 1);
		for (unsigned int i = 0; i < f->found.n; i++)
			assert_profile(f, &f->found.places[i], i + 1);
		assert_in_range(f->found.n_damaged, 0, 1);
		spool_dir_close(&f->dir);
		remove_files(f->path);
	}
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_found_again),		FIXTURE_TEST(test_marked_ones_are_not_found),
	FIXTURE_TEST(test_new_segments),	FIXTURE_TEST(test_cut_anywhere),
	FIXTURE_TEST(test_flipped_anywhere),	FIXTURE_TEST(test_duplicates),
	FIXTURE_TEST(test_foreign_files),	FIXTURE_TEST(test_later_version_is_left),
	FIXTURE_TEST(test_refused_and_removed), FIXTURE_TEST(test_killed_at_random),
	FIXTURE_TEST(test_full_at_any_byte),
};

TEST_MAIN(tests)
