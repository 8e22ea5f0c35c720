/* SPDX-License-Identifier: Apache-2.0 */
/* Targets that come, stay and go, and what they answer. */
#include "tests/support/unit.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "agent/http/server.h"
#include "agent/scrape/scraper.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"
#include "tests/support/loop_while.h"
#include "tests/support/made_profile.h"

#define LOCKS "contentions/count delay/nanoseconds"
#define INTERVAL_NS (50 * NS_PER_MS)
#define PLAIN_MAX ((size_t)1 << 20)
#define MAX_PROFILES 64

/* What comes out. */
struct delivered {
	char url[128];
	int64_t total; /* of the first value */
};

struct fixture {
	struct loop *loop;
	struct http_client *http;
	struct telemetry *telemetry;
	struct http_server *server;
	struct scraper *scraper;
	struct scraper_options options;
	int64_t count; /* what the target has counted so far, a profile more each time */
	unsigned int n_asked, n_slow;
	struct http_later *slow[MAX_PROFILES];
	struct delivered profiles[MAX_PROFILES];
	size_t n_profiles;
};

/* ---- targets ---- */

static void put(struct http_answer *answer, const void *bytes, size_t n)
{
	answer->content_type = "application/octet-stream";
	assert_int_equal(buf_append(&answer->body, bytes, n), 0);
}

static void answer_mutex(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct fixture *f = data;
	struct made_profile m;
	size_t n;

	(void)call;
	f->count += 10;
	f->n_asked++;
	made_profile_init(&m, LOCKS, "contentions/count", 1700000000000);
	made_profile_sample(&m, "main;f", (const int64_t[]){ f->count, f->count }, NULL);
	made_profile_sample(&m, "main;g", (const int64_t[]){ 7, 7 }, NULL);
	uint8_t *bytes = made_profile_gzip(&m, &n);
	put(answer, bytes, n);
	free(bytes);
	made_profile_fini(&m);
}

static void answer_plain(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct made_profile m;
	size_t n;

	(void)call;
	(void)data;
	made_profile_init(&m, "goroutine/count", "goroutine/count", 1700000000000);
	made_profile_sample(&m, "main", (const int64_t[]){ 3 }, NULL);
	uint8_t *bytes = made_profile_pack(&m, &n);
	put(answer, bytes, n);
	free(bytes);
	made_profile_fini(&m);
}

/* A MiB that unpacks to a thousand. */
static void answer_bomb(const struct http_call *call, struct http_answer *answer, void *data)
{
	static uint8_t zeros[1 << 20];
	uint8_t out[1 << 16];
	z_stream z = { .next_in = NULL };

	(void)call;
	(void)data;
	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, 0), Z_OK);
	for (int i = 0; i < 64; i++) {
		z.next_in = zeros;
		z.avail_in = sizeof(zeros);
		do {
			z.next_out = out;
			z.avail_out = sizeof(out);
			(void)deflate(&z, i == 63 ? Z_FINISH : Z_NO_FLUSH);
			put(answer, out, sizeof(out) - z.avail_out);
		} while (z.avail_out == 0);
	}
	(void)deflateEnd(&z);
}

static void answer_html(const struct http_call *call, struct http_answer *answer, void *data)
{
	(void)call;
	(void)data;
	put(answer, "<html>", 6);
	answer->content_type = "text/html; charset=utf-8";
}

static void answer_forged(const struct http_call *call, struct http_answer *answer, void *data)
{
	static const uint8_t bytes[] = { 0x0a, 0x7f, 1, 2, 3 };

	(void)call;
	(void)data;
	put(answer, bytes, sizeof(bytes));
}

static void answer_empty(const struct http_call *call, struct http_answer *answer, void *data)
{
	(void)call;
	(void)data;
	answer->content_type = "application/octet-stream";
}

static void answer_broken(const struct http_call *call, struct http_answer *answer, void *data)
{
	(void)call;
	(void)data;
	answer->status = 500;
	answer->content_type = "text/plain";
	(void)buf_append_str(&answer->body, "Could not enable CPU profiling\x1b[2J: in use\n");
}

static void answer_redirect(const struct http_call *call, struct http_answer *answer, void *data)
{
	(void)call;
	(void)data;
	answer->status = 302;
	answer->location = "/redirect";
}

static void answer_slow(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct fixture *f = data;

	(void)answer;
	if (f->n_slow < MAX_PROFILES)
		assert_int_equal(http_call_later(call, &f->slow[f->n_slow++]), 0);
}

static void answer_large(const struct http_call *call, struct http_answer *answer, void *data)
{
	(void)call;
	(void)data;
	for (size_t i = 0; i < SCRAPE_MAX_BODY_BYTES + 1; i += 1 << 16)
		put(answer, (const char[1 << 16]){ 0 }, 1 << 16);
}

static void answer_medium(const struct http_call *call, struct http_answer *answer, void *data)
{
	(void)call;
	(void)data;
	for (size_t i = 0; i < 2 << 20; i += 1 << 16)
		put(answer, (const char[1 << 16]){ 0 }, 1 << 16);
}

static const struct {
	const char *path;
	http_handler_fn fn;
} routes[] = {
	{ "/mutex", answer_mutex },   { "/plain", answer_plain },	{ "/bomb", answer_bomb },
	{ "/html", answer_html },     { "/forged", answer_forged },	{ "/empty", answer_empty },
	{ "/broken", answer_broken }, { "/redirect", answer_redirect }, { "/slow", answer_slow },
	{ "/large", answer_large },   { "/medium", answer_medium },
};

/* ---- the scraper ---- */

static int64_t total_of(const struct shared_bytes *pprof)
{
	uint8_t *plain = malloc(PLAIN_MAX);
	z_stream z = { .next_in = (Bytef *)pprof->data,
		       .avail_in = (uInt)pprof->n,
		       .next_out = plain,
		       .avail_out = PLAIN_MAX };
	int64_t total = 0;

	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	(void)inflateEnd(&z);
	Perftools__Profiles__Profile *p =
		perftools__profiles__profile__unpack(NULL, PLAIN_MAX - z.avail_out, plain);
	assert_non_null(p);
	for (size_t i = 0; i < p->n_sample; i++)
		total += p->sample[i]->value[0];
	perftools__profiles__profile__free_unpacked(p, NULL);
	free(plain);
	return total;
}

static void on_profile(struct shared_bytes *pprof, const struct scrape_target *target,
		       uint64_t time_ns, void *data)
{
	struct fixture *f = data;

	assert_true(time_ns > 0);
	if (f->n_profiles == MAX_PROFILES)
		return;
	struct delivered *d = &f->profiles[f->n_profiles++];
	(void)snprintf(d->url, sizeof(d->url), "%s", target->url);
	d->total = total_of(pprof);
}

static void set_up(struct fixture *f)
{
	const struct scraper_context context = { .component_path = "/",
						 .component_id = "c",
						 .log_id = "c",
						 .fn = on_profile,
						 .data = f };
	struct scraper_context c = context;
	struct http_server_options o = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];

	log_configure(LOG_LEVEL_ERROR, LOG_FORMAT_LOGFMT);
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	assert_int_equal(http_client_new(f->loop, &f->http), 0);
	o.listen = "127.0.0.1:0";
	assert_int_equal(http_server_new(f->loop, &o, &f->server, error), HTTP_LISTENING);
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++)
		assert_int_equal(http_server_add_route(f->server,
						       &(struct http_route){ .method = "GET",
									     .path = routes[i].path,
									     .fn = routes[i].fn,
									     .data = f }),
				 0);
	c.loop = f->loop;
	c.http = f->http;
	c.telemetry = f->telemetry;
	assert_int_equal(scraper_new(&c, &f->scraper), 0);
	f->options = (struct scraper_options){ .interval_ns = INTERVAL_NS,
					       .timeout_ns = 5 * NS_PER_S,
					       .request.follow_redirects = true };
	assert_int_equal(scraper_set_options(f->scraper, &f->options), 0);
}

static void tear_down(struct fixture *f)
{
	scraper_free(f->scraper);
	for (unsigned int i = 0; i < f->n_slow; i++)
		http_later_send(f->slow[i]);
	http_server_free(f->server);
	http_client_free(f->http);
	telemetry_free(f->telemetry);
	loop_free(f->loop);
}

FIXTURE(struct fixture, set_up, tear_down)

/* Paths with a blank between: a target each, whose profile is called so ("/mutex" is "mutex"). `label`: of all. */
static void set_targets(struct fixture *f, const char *paths, const char *label)
{
	struct scrape_target targets[16];
	char copy[256], *rest = copy, address[32];
	size_t n = 0;

	(void)snprintf(copy, sizeof(copy), "%s", paths);
	(void)snprintf(address, sizeof(address), "127.0.0.1:%u", http_server_port(f->server));
	for (char *path; (path = strsep(&rest, " ")) && *path;) {
		const struct label items[] = { { "__address__", address }, { "l", label } };
		const struct scrape_profile profile = { path + 1, path, true, false };
		const struct scrape_rules rules = { .job_name = "j",
						    .scheme = "http",
						    .path_prefix = "",
						    .profiles = &profile,
						    .n_profiles = 1 };
		_cleanup_buf_ struct buf why = BUF_INIT(1024);
		struct labels *l;

		assert_int_equal(labels_new(items, 2, &l), 0);
		assert_int_equal(scrape_target_make(&rules, &profile, l, &why, &targets[n++]),
				 SCRAPE_TARGET_MADE);
		labels_unref(l);
	}
	assert_int_equal(scraper_set_targets(f->scraper, targets, n), 0);
}

struct seen {
	enum scrape_health health;
	char error[SCRAPER_MAX_ERROR_BYTES];
	size_t n;
};

static void see(const struct scrape_status *s, void *data)
{
	struct seen *seen = data;

	seen->health = s->health;
	(void)snprintf(seen->error, sizeof(seen->error), "%s", s->last_error);
	seen->n++;
}

static struct seen look(const struct fixture *f)
{
	struct seen seen = { .n = 0 };

	scraper_each(f->scraper, see, &seen);
	return seen;
}

static double skipped(struct fixture *f, const char *reason)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20), line = BUF_INIT(256);

	assert_int_equal(telemetry_text(f->telemetry, &text), 0);
	(void)buf_printf(&line,
			 "\nxagent_scrapes_skipped_total{component_path=\"/\",component_id=\"c\","
			 "reason=\"%s\"} ",
			 reason);
	const char *at = strstr(buf_str(&text), buf_str(&line));
	assert_non_null(at);
	return strtod(at + line.len, NULL);
}

static double scrapes(struct fixture *f, const char *result)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20), line = BUF_INIT(256);

	assert_int_equal(telemetry_text(f->telemetry, &text), 0);
	(void)buf_printf(&line,
			 "\nxagent_scrapes_total{component_path=\"/\",component_id=\"c\","
			 "result=\"%s\"} ",
			 result);
	const char *at = strstr(buf_str(&text), buf_str(&line));
	assert_non_null(at);
	return strtod(at + line.len, NULL);
}

/* ---- what is answered ---- */

static const struct row {
	const char *path, *result, *error;
} rows[] = {
	{ "/plain", "ok", "" },
	{ "/bomb", "too_large", "the profile unpacks to more than 16 MiB" },
	{ "/large", "too_large", "the answer is larger than 8 MiB" },
	{ "/html", "no_profile",
	  "Content-Type is \"text/html; charset=utf-8\", that of a pprof is "
	  "application/octet-stream: look at it with a browser" },
	{ "/forged", "no_profile", "the answer is not a profile in the format of pprof: " },
	{ "/empty", "no_profile", "the answer is empty" },
	{ "/broken", "status",
	  "server returned HTTP status 500: Could not enable CPU profiling?[2J: in use" },
	{ "/nowhere", "status",
	  "server returned HTTP status 404 (does it import net/http/pprof? see path and "
	  "path_prefix of profiling_config)" },
	{ "/redirect", "broken", "redirect" },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct fixture f = { .n_asked = 0 };

	set_up(&f);
	set_targets(&f, row->path, "");
	LOOP_WHILE(f.loop, scrapes(&f, row->result) < 2);
	assert_true(scrapes(&f, row->result) >= 2);
	struct seen seen = look(&f);
	assert_int_equal(seen.health, *row->error ? SCRAPE_DOWN : SCRAPE_UP);
	if (!strstr(seen.error, row->error))
		assert_string_equal(seen.error, row->error);
	assert_true(*row->error ? f.n_profiles == 0 : f.profiles[0].total == 3);
	tear_down(&f);
}

/* ---- life ---- */

/* Differences sum up to what the target has counted since the first scrape. */
static void test_differences(void **state)
{
	struct fixture *f = *state;
	int64_t sum = 0;

	set_targets(f, "/mutex", "");
	LOOP_WHILE(f->loop, f->n_profiles < 4);
	assert_true(f->n_profiles >= 4);
	for (size_t i = 0; i < f->n_profiles; i++) {
		assert_int_equal(f->profiles[i].total, 10);
		sum += f->profiles[i].total;
	}
	LOOP_WHILE(f->loop, f->n_profiles + 1 < f->n_asked);
	assert_int_equal((int64_t)(f->n_profiles + 1) * 10, f->count);
}

/* A target that stays is compared with what it was before a reload; one that is another begins anew. */
static void test_reload(void **state)
{
	struct fixture *f = *state;

	set_targets(f, "/mutex", "a");
	LOOP_WHILE(f->loop, f->n_profiles < 2);
	size_t n = f->n_profiles;
	f->options.timeout_ns = 4 * NS_PER_S;
	assert_int_equal(scraper_set_options(f->scraper, &f->options), 0);
	set_targets(f, "/plain /mutex", "a");
	LOOP_WHILE(f->loop, f->n_asked < n + 3);
	LOOP_WHILE(f->loop, look(f).n == 2 && f->n_profiles < n + 4);
	for (size_t i = 0; i < f->n_profiles; i++)
		if (strstr(f->profiles[i].url, "/mutex"))
			assert_int_equal(f->profiles[i].total, 10);
	set_targets(f, "/mutex", "b");
	assert_int_equal(look(f).health, SCRAPE_UNKNOWN);
	assert_int_equal(look(f).n, 1);
}

static void test_gone(void **state)
{
	struct fixture *f = *state;

	set_targets(f, "/slow /mutex", "");
	LOOP_WHILE(f->loop, f->n_slow == 0 || f->n_profiles == 0);
	set_targets(f, "", "");
	assert_int_equal(look(f).n, 0);
	unsigned int n_asked = f->n_asked;
	const uint64_t end_ns = clock_mono_ns() + 4 * INTERVAL_NS;
	while (clock_mono_ns() < end_ns)
		assert_int_equal(loop_run_once(f->loop, 10), 0);
	assert_int_equal(f->n_asked, n_asked);
}

/* One that never answers holds nobody, and is asked once at a time. */
static void test_slow(void **state)
{
	struct fixture *f = *state;

	f->options.timeout_ns = 300 * NS_PER_MS;
	assert_int_equal(scraper_set_options(f->scraper, &f->options), 0);
	set_targets(f, "/slow /mutex", "");
	LOOP_WHILE(f->loop, f->n_profiles < 5);
	assert_true(f->n_profiles >= 5);
	assert_in_range(f->n_slow, 1, 3);
	assert_true(skipped(f, "busy") >= 1);
	LOOP_WHILE(f->loop, scrapes(f, "timeout") < 1);
	assert_true(scrapes(f, "timeout") >= 1);
}

/* One whose answers take long to read is asked less often: the thread that reads them is for all. */
static void test_costly(void **state)
{
	struct fixture *f = *state;

	f->options.interval_ns = 5 * NS_PER_MS;
	assert_int_equal(scraper_set_options(f->scraper, &f->options), 0);
	set_targets(f, "/bomb /plain", "");
	LOOP_WHILE(f->loop, skipped(f, "costly") < 5);
	assert_true(skipped(f, "costly") >= 5);
	assert_true(scrapes(f, "too_large") >= 2 && f->n_profiles > 0);
}

static void test_nobody_there(void **state)
{
	struct fixture *f = *state;
	const struct scrape_profile profile = { "memory", "/x", true, false };
	const struct scrape_rules rules = { .job_name = "j",
					    .scheme = "http",
					    .path_prefix = "",
					    .profiles = &profile,
					    .n_profiles = 1 };
	_cleanup_buf_ struct buf why = BUF_INIT(1024);
	struct scrape_target t;
	struct labels *l;

	assert_int_equal(labels_new(&(struct label){ "__address__", "127.0.0.1:1" }, 1, &l), 0);
	assert_int_equal(scrape_target_make(&rules, &profile, l, &why, &t), SCRAPE_TARGET_MADE);
	labels_unref(l);
	assert_int_equal(scraper_set_targets(f->scraper, &t, 1), 0);
	LOOP_WHILE(f->loop, scrapes(f, "unreachable") < 1);
	assert_non_null(strstr(look(f).error, "cannot connect to 127.0.0.1:1"));
}

/* Together they take too much: the largest goes, the others do not notice. */
static void test_budget(void **state)
{
	struct fixture *f = *state;

	f->options.max_held_bytes = 1 << 20;
	assert_int_equal(scraper_set_options(f->scraper, &f->options), 0);
	set_targets(f, "/medium /mutex /plain", "");
	LOOP_WHILE(f->loop, scrapes(f, "held_bytes") < 2 || f->n_profiles < 6);
	assert_true(scrapes(f, "held_bytes") >= 2);
	assert_true(f->n_profiles >= 6);
	assert_true(scrapes(f, "too_large") == 0 && scrapes(f, "no_profile") == 0);
}

/* Two targets that a server could not tell apart are one. */
static void test_twice(void **state)
{
	struct fixture *f = *state;

	set_targets(f, "/mutex /mutex", "");
	assert_int_equal(look(f).n, 1);
	set_targets(f, "/mutex /plain /mutex", "");
	assert_int_equal(look(f).n, 2);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, path), FIXTURE_TEST(test_differences),
	FIXTURE_TEST(test_reload),	 FIXTURE_TEST(test_gone),
	FIXTURE_TEST(test_slow),	 FIXTURE_TEST(test_nobody_there),
	FIXTURE_TEST(test_costly),	 FIXTURE_TEST(test_budget),
	FIXTURE_TEST(test_twice),
};

TEST_MAIN(tests)
