/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration texts from files and directories, and from what is neither. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/cli/config/config_file.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

struct fixture {
	char dir[64];
	struct config_texts texts;
	struct buf why;
};

static void set_up(struct fixture *f)
{
	buf_init(&f->why, 65536);
	temp_dir_make(f->dir);
}

static void tear_down(struct fixture *f)
{
	config_texts_fini(&f->texts);
	buf_fini(&f->why);
	(void)temp_dir_remove(f->dir);
}

FIXTURE(struct fixture, set_up, tear_down)

struct path {
	char text[PATH_MAX];
};

static struct path path_of(const struct fixture *f, const char *name)
{
	struct path p;

	(void)snprintf(p.text, sizeof(p.text), "%s/%s", f->dir, name);
	return p;
}

static void put_file(const struct fixture *f, const char *name, const char *text)
{
	FILE *file = fopen(path_of(f, name).text, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int read_path(struct fixture *f, const char *path)
{
	config_texts_fini(&f->texts);
	buf_reset(&f->why);
	return config_texts_read(&(struct config_source){ .path = path }, &f->why, &f->texts);
}

/* `why` is the path and this. */
static void assert_why(const struct fixture *f, const char *path, const char *reason)
{
	char expected[2 * PATH_MAX];

	(void)snprintf(expected, sizeof(expected), "reading config path \"%s\": %s", path, reason);
	assert_string_equal(buf_str(&f->why), expected);
	assert_int_equal(f->texts.n, 0);
}

static void test_file(void **state)
{
	struct fixture *f = *state;
	struct path p = path_of(f, "any.name");

	put_file(f, "any.name", "logging { }\n");
	assert_int_equal(read_path(f, p.text), 0);
	assert_int_equal(f->texts.n, 1);
	assert_string_equal(f->texts.sources[0].file, p.text);
	assert_string_equal(f->texts.sources[0].text, "logging { }\n");
	assert_int_equal(f->texts.sources[0].len, 12);
}

static void test_empty_file(void **state)
{
	struct fixture *f = *state;

	put_file(f, "e", "");
	assert_int_equal(read_path(f, path_of(f, "e").text), 0);
	assert_int_equal(f->texts.n, 1);
	assert_int_equal(f->texts.sources[0].len, 0);
	assert_non_null(f->texts.sources[0].text);
}

static void test_bytes(void **state)
{
	struct fixture *f = *state;
	struct path p = path_of(f, "b");
	FILE *file = fopen(p.text, "we");

	assert_non_null(file);
	assert_int_equal(fwrite("a\0b", 1, 3, file), 3);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(read_path(f, p.text), 0);
	assert_int_equal(f->texts.sources[0].len, 3);
	assert_memory_equal(f->texts.sources[0].text, "a\0b", 3);
}

static void test_directory(void **state)
{
	struct fixture *f = *state;

	put_file(f, "20.river", "b");
	put_file(f, "10.alloy", "a");
	put_file(f, "30.alloy", "c");
	put_file(f, ".hidden.alloy", "no");
	put_file(f, "readme.md", "no");
	put_file(f, "alloy", "no");
	put_file(f, "old.alloy~", "no");
	assert_int_equal(mkdir(path_of(f, "sub.alloy").text, 0700), 0);
	put_file(f, "sub.alloy/x.alloy", "no");
	assert_int_equal(read_path(f, f->dir), 0);
	assert_int_equal(f->texts.n, 3);
	assert_string_equal(f->texts.sources[0].file, path_of(f, "10.alloy").text);
	assert_string_equal(f->texts.sources[0].text, "a");
	assert_string_equal(f->texts.sources[1].text, "b");
	assert_string_equal(f->texts.sources[2].text, "c");
}

static void test_link_in_directory(void **state)
{
	struct fixture *f = *state;

	/* As Kubernetes mounts config maps. */
	assert_int_equal(mkdir(path_of(f, "..data").text, 0700), 0);
	put_file(f, "..data/c.alloy", "linked");
	assert_int_equal(symlink("..data/c.alloy", path_of(f, "c.alloy").text), 0);
	assert_int_equal(read_path(f, f->dir), 0);
	assert_int_equal(f->texts.n, 1);
	assert_string_equal(f->texts.sources[0].text, "linked");
}

static void test_empty_directory(void **state)
{
	struct fixture *f = *state;

	put_file(f, "agent.conf", "");
	assert_int_equal(read_path(f, f->dir), -ENOENT);
	assert_why(f, f->dir, "the directory has no *.alloy or *.river file");
}

static void test_missing(void **state)
{
	struct fixture *f = *state;
	struct path p = path_of(f, "none");

	assert_int_equal(read_path(f, p.text), -ENOENT);
	assert_why(f, p.text, "No such file or directory");
	assert_int_equal(read_path(f, ""), -ENOENT);
	assert_why(f, "", "No such file or directory");
}

static void test_unreadable(void **state)
{
	struct fixture *f = *state;
	struct path p = path_of(f, "closed");

	put_file(f, "closed", "");
	assert_int_equal(chmod(p.text, 0), 0);
	/* Root reads everything. */
	bool root = geteuid() == 0;
	if (root)
		assert_int_equal(seteuid(65534), 0);
	int r = read_path(f, p.text);
	if (root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(r, -EACCES);
	assert_why(f, p.text, "Permission denied");
}

/* A file of a directory that cannot be read is not left out. */
static void test_broken_link_in_directory(void **state)
{
	struct fixture *f = *state;
	struct path p = path_of(f, "b.alloy");

	put_file(f, "a.alloy", "a");
	assert_int_equal(symlink("nowhere", p.text), 0);
	assert_int_equal(read_path(f, f->dir), -ENOENT);
	assert_why(f, p.text, "No such file or directory");
}

static void test_too_large(void **state)
{
	struct fixture *f = *state;
	struct path p = path_of(f, "large");

	put_file(f, "large", "x");
	assert_int_equal(truncate(p.text, (off_t)CONFIG_FILE_MAX_BYTES), 0);
	assert_int_equal(read_path(f, p.text), 0);
	assert_int_equal(f->texts.sources[0].len, CONFIG_FILE_MAX_BYTES);
	assert_int_equal(truncate(p.text, (off_t)CONFIG_FILE_MAX_BYTES + 1), 0);
	assert_int_equal(read_path(f, p.text), -ENOBUFS);
	assert_why(f, p.text, "larger than 16 MiB");
}

static void test_too_many(void **state)
{
	struct fixture *f = *state;
	char name[32];

	for (int i = 0; i < CONFIG_FILES_MAX; i++) {
		(void)snprintf(name, sizeof(name), "%d.alloy", i);
		put_file(f, name, "");
	}
	assert_int_equal(read_path(f, f->dir), 0);
	assert_int_equal(f->texts.n, CONFIG_FILES_MAX);
	put_file(f, "more.river", "");
	assert_int_equal(read_path(f, f->dir), -E2BIG);
	assert_why(f, f->dir, "more than 1000 files");
}

/* A test that hangs here has found what it looks for. */
static void test_fifo(void **state)
{
	struct fixture *f = *state;
	struct path p = path_of(f, "pipe.alloy");

	assert_int_equal(mkfifo(p.text, 0600), 0);
	assert_int_equal(read_path(f, p.text), -EINVAL);
	assert_why(f, p.text, "not a regular file");
	assert_int_equal(read_path(f, f->dir), -EINVAL);
	assert_why(f, p.text, "not a regular file");
}

static void test_device(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_path(f, "/dev/zero"), -EINVAL);
	assert_why(f, "/dev/zero", "not a regular file");
}

static void test_socket(void **state)
{
	struct fixture *f = *state;
	struct path p = path_of(f, "s");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	memcpy(address.sun_path, p.text, strlen(p.text) + 1);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(read_path(f, p.text), -ENXIO);
	assert_why(f, p.text, "No such device or address");
	assert_int_equal(close(fd), 0);
}

/* Of no file: it is called what it is told, and nothing is looked for under that name. */
static void test_text_of_its_own(void **state)
{
	const struct config_source source = { .path = "/nowhere/built-in", .text = "a { }\n" };
	char hash[CONFIG_HASH_BYTES], other[CONFIG_HASH_BYTES];
	struct fixture *f = *state;

	assert_int_equal(config_texts_read(&source, &f->why, &f->texts), 0);
	assert_int_equal(f->texts.n, 1);
	assert_string_equal(f->texts.sources[0].file, "/nowhere/built-in");
	assert_string_equal(f->texts.sources[0].text, "a { }\n");
	assert_int_equal(f->texts.sources[0].len, 6);
	config_texts_hash(&f->texts, hash);
	config_texts_hash(&(struct config_texts){ 0 }, other);
	assert_string_not_equal(hash, other);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_file),
	FIXTURE_TEST(test_empty_file),
	FIXTURE_TEST(test_bytes),
	FIXTURE_TEST(test_directory),
	FIXTURE_TEST(test_link_in_directory),
	FIXTURE_TEST(test_empty_directory),
	FIXTURE_TEST(test_missing),
	FIXTURE_TEST(test_unreadable),
	FIXTURE_TEST(test_broken_link_in_directory),
	FIXTURE_TEST(test_too_large),
	FIXTURE_TEST(test_too_many),
	FIXTURE_TEST(test_fifo),
	FIXTURE_TEST(test_device),
	FIXTURE_TEST(test_socket),
	FIXTURE_TEST(test_text_of_its_own),
};

TEST_MAIN(tests)
