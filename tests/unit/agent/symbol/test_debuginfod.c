/* SPDX-License-Identifier: Apache-2.0 */
/* Debug files from a server on loopback that is slow, has nothing, has something else, or has the right one. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "agent/object/build_id.h"
#include "agent/symbol/debuginfod.h"
#include "agent/util/file.h"
#include "agent/util/macro.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

#define NO_ID "00112233445566778899aabbccddeeff00112233"
#define OTHER_ID "ffeeddccbbaa99887766554433221100ffeeddcc"
#define PATIENCE_NS (10 * NS_PER_S)

enum behaviour {
	ABSENT,	   /* 404 */
	BROKEN,	   /* 500 */
	GARBAGE,   /* 200, and no ELF file */
	RIGHT,	   /* this very program */
	SLOW,	   /* a header, and then nothing */
	ELSEWHERE, /* 302 to where RIGHT is */
};

/* One connection at a time, as there is one request at a time. */
struct server {
	int listen_fd;
	pthread_t thread;
	atomic_int behaviour;
	atomic_int n_requests;
	char last_path[256];
	char url[64];
};

struct context {
	struct server server;
	struct debuginfod *d;
	struct telemetry *telemetry;
	char dir[64];
	char self_id[BUILD_ID_TEXT_BYTES];
	struct buf self; /* the bytes of this program */
};

static void send_text(int fd, const char *text)
{
	(void)file_write_fd(fd, text, strlen(text));
}

static void send_file(int fd, const void *bytes, size_t n)
{
	char head[128];

	(void)snprintf(head, sizeof(head),
		       "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n", n);
	send_text(fd, head);
	(void)file_write_fd(fd, bytes, n);
}

/* Until the client has gone. */
static void stay_silent(int fd)
{
	char byte;

	send_text(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nabc");
	while (recv(fd, &byte, 1, 0) > 0)
		;
}

static void answer(struct context *w, int fd)
{
	char request[2048] = "";
	size_t n = 0;

	while (n < sizeof(request) - 1 && !strstr(request, "\r\n\r\n")) {
		ssize_t got = recv(fd, request + n, sizeof(request) - 1 - n, 0);

		if (got <= 0)
			return;
		n += (size_t)got;
		request[n] = '\0';
	}
	(void)sscanf(request, "GET %255s", w->server.last_path);
	atomic_fetch_add(&w->server.n_requests, 1);
	int behaviour = atomic_load(&w->server.behaviour);
	if (behaviour == ELSEWHERE && !strstr(w->server.last_path, "/moved/"))
		send_text(fd, "HTTP/1.1 302 Found\r\nLocation: /moved/here\r\nContent-Length: "
			      "0\r\nConnection: close\r\n\r\n");
	else if (behaviour == ABSENT)
		send_text(
			fd,
			"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
	else if (behaviour == BROKEN)
		send_text(fd,
			  "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
	else if (behaviour == GARBAGE)
		send_file(fd, "<html>not this one</html>", 25);
	else if (behaviour == SLOW)
		stay_silent(fd);
	else
		send_file(fd, w->self.data, w->self.len);
}

static void *serve(void *data)
{
	struct context *w = data;

	for (;;) {
		_cleanup_close_ int fd = accept4(w->server.listen_fd, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0)
			return NULL;
		answer(w, fd);
	}
}

static void start_server(struct context *w)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(at);
	struct server *s = &w->server;

	s->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(s->listen_fd >= 0);
	assert_int_equal(bind(s->listen_fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(s->listen_fd, 16), 0);
	assert_int_equal(getsockname(s->listen_fd, (struct sockaddr *)&at, &n), 0);
	(void)snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%u/", ntohs(at.sin_port));
	assert_int_equal(pthread_create(&s->thread, NULL, serve, w), 0);
}

static void read_self(struct context *w)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct build_id id;

	buf_init(&w->self, (size_t)256 << 20);
	assert_int_equal(file_read(AT_FDCWD, "/proc/self/exe", &w->self), 0);
	assert_int_equal(elf_new(bytes_from_memory(w->self.data, w->self.len), &elf), 0);
	assert_int_equal(build_id_read(elf, &id), 0);
	(void)snprintf(w->self_id, sizeof(w->self_id), "%s", id.gnu);
}

static int setup(void **state)
{
	struct context *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	(void)signal(SIGPIPE, SIG_IGN);
	temp_dir_make(w->dir);
	assert_int_equal(telemetry_new(&w->telemetry), 0);
	read_self(w);
	start_server(w);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct context *w = *state;

	debuginfod_free(w->d);
	telemetry_free(w->telemetry);
	(void)shutdown(w->server.listen_fd, SHUT_RDWR);
	(void)pthread_join(w->server.thread, NULL);
	(void)close(w->server.listen_fd);
	int r = temp_dir_remove(w->dir);
	buf_fini(&w->self);
	free(w);
	return r;
}

static uint64_t counted(const struct context *w, enum telemetry_counter counter)
{
	return telemetry_get(w->telemetry, counter);
}

static struct debuginfod_options options(const struct context *w, const char *const *urls, size_t n)
{
	struct debuginfod_options o = DEBUGINFOD_OPTIONS_INIT;

	o.urls = urls;
	o.n_urls = n;
	o.cache_dir = w->dir;
	o.timeout_ns = 2 * NS_PER_S;
	o.telemetry = w->telemetry;
	return o;
}

static void open_with(struct context *w, const struct debuginfod_options *o)
{
	debuginfod_free(w->d);
	w->d = NULL;
	assert_int_equal(debuginfod_new(o, &w->d), 0);
}

static void open_plain(struct context *w, enum behaviour behaviour)
{
	const char *const urls[] = { w->server.url };
	struct debuginfod_options o = options(w, urls, 1);

	atomic_store(&w->server.behaviour, behaviour);
	open_with(w, &o);
}

/* As those who want a file do: again and again. None of these calls may wait for a network. */
static int ask(struct context *w, const char *id, int *ret_fd)
{
	uint64_t until_ns = clock_mono_ns() + PATIENCE_NS;
	int r;

	do {
		uint64_t began_ns = clock_mono_ns();

		r = debuginfod_ask(w->d, id, ret_fd);
		assert_true(clock_mono_ns() - began_ns < NS_PER_S / 2);
		if (r == DEBUGINFOD_PENDING)
			(void)poll(NULL, 0, 2);
	} while (r == DEBUGINFOD_PENDING && clock_mono_ns() < until_ns);
	return r;
}

static void test_right(void **state)
{
	struct context *w = *state;
	_cleanup_close_ int fd = -1;
	struct stat st;
	char path[256];
	int again = -1;

	open_plain(w, RIGHT);
	/* The first answer is never more than a promise. */
	assert_int_equal(debuginfod_ask(w->d, w->self_id, &fd), DEBUGINFOD_PENDING);
	assert_int_equal(ask(w, w->self_id, &fd), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, w->self.len);
	(void)snprintf(path, sizeof(path), "/buildid/%s/debuginfo", w->self_id);
	assert_string_equal(w->server.last_path, path);
	assert_int_equal(counted(w, TELEMETRY_debuginfod_asked), 1);
	assert_int_equal(counted(w, TELEMETRY_debuginfod_found), 1);
	assert_int_equal(counted(w, TELEMETRY_debuginfod_failed), 0);
	assert_int_equal(counted(w, TELEMETRY_debuginfod_bytes), w->self.len);
	/* It is in the directory now, also for the next agent. */
	(void)snprintf(path, sizeof(path), "%s/%s/debuginfo", w->dir, w->self_id);
	assert_int_equal(access(path, R_OK), 0);
	atomic_store(&w->server.behaviour, ABSENT);
	open_plain(w, ABSENT);
	assert_int_equal(debuginfod_ask(w->d, w->self_id, &again), 0);
	(void)close(again);
	assert_int_equal(atomic_load(&w->server.n_requests), 1);
	/* A damaged one is fetched anew. */
	assert_int_equal(truncate(path, 100), 0);
	atomic_store(&w->server.behaviour, RIGHT);
	assert_int_equal(ask(w, w->self_id, &again), 0);
	assert_int_equal(fstat(again, &st), 0);
	assert_int_equal(st.st_size, w->self.len);
	(void)close(again);
}

struct none_row {
	const char *name;
	enum behaviour behaviour;
	bool is_self;	 /* asks for this program's id */
	bool is_failure; /* later it may be there */
};

static struct none_row none_rows[] = {
	{ "404", ABSENT, true, false },	     { "500", BROKEN, true, true },
	{ "garbage", GARBAGE, true, false }, { "another build id", RIGHT, false, false },
	{ "silence", SLOW, true, true },
};

static void test_none(void **state)
{
	const struct none_row *row = *state;
	struct context *w;
	int fd = -1;

	assert_int_equal(setup((void **)&w), 0);
	open_plain(w, row->behaviour);
	const char *id = row->is_self ? w->self_id : OTHER_ID;
	uint64_t began_ns = clock_mono_ns();
	assert_int_equal(ask(w, id, &fd), DEBUGINFOD_NONE);
	assert_true(clock_mono_ns() - began_ns < 5 * NS_PER_S);
	assert_int_equal(fd, -1);
	/* Known: nobody is asked again. */
	for (int i = 0; i < 5; i++)
		assert_int_equal(debuginfod_ask(w->d, id, &fd), DEBUGINFOD_NONE);
	assert_int_equal(atomic_load(&w->server.n_requests), 1);
	assert_int_equal(counted(w, TELEMETRY_debuginfod_asked), 1);
	assert_int_equal(counted(w, TELEMETRY_debuginfod_found), 0);
	assert_int_equal(counted(w, TELEMETRY_debuginfod_failed), row->is_failure);
	/* Nothing is left lying about. */
	assert_int_equal(rmdir(w->dir), 0);
	assert_int_equal(mkdir(w->dir, 0700), 0);
	assert_int_equal(teardown((void **)&w), 0);
}

static void test_redirection(void **state)
{
	struct context *w = *state;
	int fd = -1;

	open_plain(w, ELSEWHERE);
	assert_int_equal(ask(w, w->self_id, &fd), 0);
	(void)close(fd);
	assert_string_equal(w->server.last_path, "/moved/here");
}

static void test_none_expires(void **state)
{
	struct context *w = *state;
	const char *const urls[] = { w->server.url };
	struct debuginfod_options o = options(w, urls, 1);
	int fd = -1;

	o.negative_ns = NS_PER_S / 5;
	atomic_store(&w->server.behaviour, ABSENT);
	open_with(w, &o);
	assert_int_equal(ask(w, w->self_id, &fd), DEBUGINFOD_NONE);
	atomic_store(&w->server.behaviour, RIGHT);
	(void)poll(NULL, 0, 250);
	assert_int_equal(debuginfod_ask(w->d, w->self_id, &fd), DEBUGINFOD_PENDING);
	assert_int_equal(ask(w, w->self_id, &fd), 0);
	(void)close(fd);
}

/* Nobody listens at the first, the second has it. */
static void test_second_server(void **state)
{
	struct context *w = *state;
	const char *const urls[] = { "http://127.0.0.1:1", w->server.url };
	struct debuginfod_options o = options(w, urls, 2);
	int fd = -1;

	atomic_store(&w->server.behaviour, RIGHT);
	open_with(w, &o);
	assert_int_equal(ask(w, w->self_id, &fd), 0);
	(void)close(fd);
}

static void test_too_large(void **state)
{
	struct context *w = *state;
	const char *const urls[] = { w->server.url };
	struct debuginfod_options o = options(w, urls, 1);
	int fd = -1;

	atomic_store(&w->server.behaviour, RIGHT);
	o.max_file_bytes = w->self.len - 1;
	open_with(w, &o);
	assert_int_equal(ask(w, w->self_id, &fd), DEBUGINFOD_NONE);
	o.max_file_bytes = w->self.len;
	open_with(w, &o);
	assert_int_equal(ask(w, w->self_id, &fd), 0);
	(void)close(fd);
}

/* What one silent server may cost in all: then the rest waits, and is asked for later. */
static void test_share_of_time(void **state)
{
	struct context *w = *state;
	const char *const urls[] = { w->server.url };
	struct debuginfod_options o = options(w, urls, 1);
	int fd = -1;

	atomic_store(&w->server.behaviour, SLOW);
	o.timeout_ns = NS_PER_S;
	o.share_ns = NS_PER_S;
	o.share_every_ns = 4 * NS_PER_S;
	open_with(w, &o);
	assert_int_equal(ask(w, NO_ID, &fd), DEBUGINFOD_NONE);
	assert_int_equal(debuginfod_ask(w->d, OTHER_ID, &fd), DEBUGINFOD_PENDING);
	atomic_store(&w->server.behaviour, ABSENT);
	(void)poll(NULL, 0, 1000);
	assert_int_equal(debuginfod_ask(w->d, OTHER_ID, &fd), DEBUGINFOD_PENDING);
	assert_int_equal(atomic_load(&w->server.n_requests), 1);
	assert_int_equal(ask(w, OTHER_ID, &fd), DEBUGINFOD_NONE);
	assert_int_equal(atomic_load(&w->server.n_requests), 2);
}

/* The end does not wait for a server. */
static void test_ends_at_once(void **state)
{
	struct context *w = *state;
	const char *const urls[] = { w->server.url };
	struct debuginfod_options o = options(w, urls, 1);
	uint64_t until_ns = clock_mono_ns() + PATIENCE_NS;
	int fd = -1;

	atomic_store(&w->server.behaviour, SLOW);
	o.timeout_ns = 60 * NS_PER_S;
	open_with(w, &o);
	assert_int_equal(debuginfod_ask(w->d, NO_ID, &fd), DEBUGINFOD_PENDING);
	while (atomic_load(&w->server.n_requests) == 0 && clock_mono_ns() < until_ns)
		(void)poll(NULL, 0, 2);
	uint64_t began_ns = clock_mono_ns();
	debuginfod_free(w->d);
	w->d = NULL;
	assert_true(clock_mono_ns() - began_ns < 3 * NS_PER_S);
}

static void put_cached(const struct context *w, const char *id, size_t n, time_t used)
{
	const struct timespec times[2] = { { .tv_sec = used }, { .tv_sec = used } };
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", w->dir, id);
	assert_int_equal(mkdir(path, 0755), 0);
	(void)snprintf(path, sizeof(path), "%s/%s/debuginfo", w->dir, id);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)n), 0);
	assert_int_equal(futimens(fd, times), 0);
	(void)close(fd);
}

static bool is_cached(const struct context *w, const char *id)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s/debuginfo", w->dir, id);
	return access(path, F_OK) == 0;
}

static void test_oldest_goes(void **state)
{
	struct context *w = *state;
	const char *const urls[] = { w->server.url };
	struct debuginfod_options o = options(w, urls, 1);
	int fd = -1;

	put_cached(w, NO_ID, 1000, 1000);
	put_cached(w, OTHER_ID, 1000, 2000);
	atomic_store(&w->server.behaviour, RIGHT);
	o.max_cache_bytes = w->self.len + 1500;
	open_with(w, &o);
	assert_int_equal(ask(w, w->self_id, &fd), 0);
	(void)close(fd);
	assert_false(is_cached(w, NO_ID));
	assert_true(is_cached(w, OTHER_ID));
	assert_true(is_cached(w, w->self_id));
}

/* Nothing that is no build id becomes a path or a url. */
static void test_what_is_no_build_id(void **state)
{
	static const char *const ids[] = { "",
					   "ab",
					   "../../etc",
					   "ABCDEF0123456789",
					   "0123456789abcdeg",
					   "01234567/89abcdef",
					   "0123456789abcde" };
	struct context *w = *state;
	int fd = -1;

	open_plain(w, RIGHT);
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		assert_int_equal(debuginfod_ask(w->d, ids[i], &fd), DEBUGINFOD_NONE);
	assert_int_equal(atomic_load(&w->server.n_requests), 0);
}

static void test_many(void **state)
{
	struct context *w = *state;
	int fd = -1, n_none = 0;
	char id[64];

	open_plain(w, ABSENT);
	/* Above the ceiling of what is remembered; no call waits. */
	for (unsigned int i = 0; i < 9000; i++) {
		(void)snprintf(id, sizeof(id), "%016x", i);
		int r = debuginfod_ask(w->d, id, &fd);
		assert_true(r == DEBUGINFOD_PENDING || r == DEBUGINFOD_NONE);
	}
	for (unsigned int i = 0; i < 50; i++) {
		(void)snprintf(id, sizeof(id), "%016x", i);
		n_none += ask(w, id, &fd) == DEBUGINFOD_NONE;
	}
	assert_int_equal(n_none, 50);
}

static void test_options(void **state)
{
	struct context *w = *state;
	const char *bad[] = { "ftp://host", "http://", "http:///path", "http://a b", "host", "" };
	const char *good[] = { "http://a", "https://debuginfod.example.org/x",
			       "http://[::1]:8002/" };
	struct debuginfod *d = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct debuginfod_options o = options(w, &bad[i], 1);

		assert_false(debuginfod_url_is_valid(bad[i]));
		assert_int_equal(debuginfod_new(&o, &d), -EINVAL);
	}
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_true(debuginfod_url_is_valid(good[i]));
	struct debuginfod_options o = options(w, good, 0);
	assert_int_equal(debuginfod_new(&o, &d), -EINVAL);
	o = options(w, good, 1);
	o.cache_dir = "/proc/nowhere/x";
	assert_true(debuginfod_new(&o, &d) < 0);
	assert_null(d);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_right),
	FIXTURE_TEST(test_redirection),
	FIXTURE_TEST(test_none_expires),
	FIXTURE_TEST(test_second_server),
	FIXTURE_TEST(test_too_large),
	FIXTURE_TEST(test_share_of_time),
	FIXTURE_TEST(test_ends_at_once),
	FIXTURE_TEST(test_oldest_goes),
	FIXTURE_TEST(test_what_is_no_build_id),
	FIXTURE_TEST(test_many),
	FIXTURE_TEST(test_options),
	TEST_ROWS(test_none, none_rows, name),
};

TEST_MAIN(tests)
