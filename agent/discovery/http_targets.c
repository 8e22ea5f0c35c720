/* SPDX-License-Identifier: Apache-2.0 */
/* Targets that a server lists. */
#include "agent/discovery/http_targets.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/discovery/target_groups.h"
#include "agent/util/clock.h"

#define STATUS_OK 200
/* A header of ours, each of the user's (HTTP_MAX_HEADERS). */
#define MAX_HEADERS (HTTP_MAX_HEADERS + 2)
#define PROBLEM_MAX_BYTES (HTTP_MAX_ERROR_BYTES + 64)

struct http_targets {
	struct http_client *http;
	struct http_targets_options options;
	struct http_oauth2 *tokens;
	struct http_request *request; /* NULL: none is under way */
	struct loop_timer *timer;
	struct target_list targets;
	char interval[32]; /* as the header says it */
	http_targets_fn fn;
	void *data;
};

/* ---- what comes back ------------------------------------------------------------------------------ */

/* type [ ";" [ blanks ] charset ]: the charset may be quoted. */
bool http_targets_type_ok(const char *content_type)
{
	static const char json[] = "application/json";
	struct str text = str_trim(str_from(content_type));
	struct str charset;

	if (text.n < sizeof(json) - 1 || strncasecmp(text.p, json, sizeof(json) - 1) != 0)
		return false;
	if (text.n == sizeof(json) - 1)
		return true;
	if (text.p[sizeof(json) - 1] != ';')
		return false;
	charset = str_trim((struct str){ text.p + sizeof(json), text.n - sizeof(json) });
	return (charset.n == 13 && strncasecmp(charset.p, "charset=utf-8", 13) == 0) ||
	       (charset.n == 15 && strncasecmp(charset.p, "charset=\"utf-8\"", 15) == 0);
}

static bool check_answer(const struct http_result *result, struct buf *why)
{
	if (result->outcome != HTTP_DONE)
		(void)buf_append_str(why, result->error);
	else if (result->status != STATUS_OK)
		(void)buf_printf(why, "server returned HTTP status %u", result->status);
	else if (!http_targets_type_ok(result->content_type))
		(void)buf_printf(why, "unsupported content type \"%.200s\"", result->content_type);
	return why->len == 0;
}

/* Targets, or why there are none; 0 or -errno. */
static int read_answer(const struct http_targets *t, const struct http_result *result,
		       struct buf *why, struct target_list *list)
{
	struct label origin = { "__meta_url", t->options.request.url };
	int r = check_answer(result, why) ? 0 : -EBADMSG;

	if (r == 0)
		r = target_groups_read((struct str){ result->body, result->n_body },
				       TARGET_GROUPS_JSON, &origin, why, list);
	if (r < 0 && why->len == 0)
		(void)buf_append_str(why, strerrordesc_np(-r));
	return r;
}

static void on_done(const struct http_result *result, void *data)
{
	_cleanup_buf_ struct buf why = BUF_INIT(PROBLEM_MAX_BYTES);
	_cleanup_target_list_ struct target_list list = { 0 };
	struct http_targets *t = data;
	bool changed = false;

	t->request = NULL;
	if (read_answer(t, result, &why, &list) == 0 && !target_list_equal(&list, &t->targets)) {
		struct target_list old = t->targets;

		t->targets = list;
		list = old;
		changed = true;
	}
	t->fn(changed, why.len > 0 ? buf_str(&why) : NULL, t->data);
}

/* ---- what is asked -------------------------------------------------------------------------------- */

static int ask(struct http_targets *t, char *error)
{
	struct http_request_options o = t->options.request;
	_cleanup_(http_secrets_fini) struct http_secrets secrets = HTTP_SECRETS_INIT;
	struct http_header headers[MAX_HEADERS] = {
		{ "Accept", "application/json" },
		{ "X-Prometheus-Refresh-Interval-Seconds", t->interval },
	};

	if (o.n_headers > HTTP_MAX_HEADERS)
		return -EINVAL;
	if (o.n_headers > 0)
		memcpy(headers + 2, o.headers, o.n_headers * sizeof(*headers));
	o.headers = headers;
	o.n_headers += 2;
	o.oauth2 = t->tokens;
	o.timeout_ns = t->options.refresh_interval_ns;
	o.max_response_bytes = HTTP_TARGETS_MAX_BYTES;
	int r = http_secrets_read(&t->options.credentials, &secrets, &o, error);
	if (r < 0)
		return r;
	return http_request_start(t->http, &o, on_done, t, &t->request);
}

/* One that still waits for its answer is not joined by another. */
static void on_timer(void *data)
{
	char error[HTTP_MAX_ERROR_BYTES] = "";
	struct http_targets *t = data;
	int r = 0;

	loop_timer_arm(t->timer, clock_mono_ns() + t->options.refresh_interval_ns);
	if (!t->request)
		r = ask(t, error);
	if (r < 0 && !*error)
		(void)snprintf(error, sizeof(error), "cannot make the request: %s",
			       strerrordesc_np(-r));
	if (r < 0)
		t->fn(false, error, t->data);
}

void http_targets_start(struct http_targets *t)
{
	on_timer(t);
}

/* ---- life ----------------------------------------------------------------------------------------- */

/* As short as it can be said, without an exponent: "60", "0.5". */
static void write_interval(struct http_targets *t)
{
	uint64_t ns = t->options.refresh_interval_ns;
	int n = snprintf(t->interval, sizeof(t->interval), "%llu.%09llu",
			 (unsigned long long)(ns / NS_PER_S), (unsigned long long)(ns % NS_PER_S));

	while (n > 0 && t->interval[n - 1] == '0')
		n--;
	t->interval[n > 0 && t->interval[n - 1] == '.' ? n - 1 : n] = '\0';
}

static int open_tokens(struct http_targets *t, struct loop *loop)
{
	struct http_oauth2_options o;

	if (!t->options.oauth2)
		return 0;
	o = *t->options.oauth2;
	o.user_agent = t->options.request.user_agent;
	o.timeout_ns = t->options.refresh_interval_ns;
	return http_oauth2_new(loop, t->http, &o, &t->tokens);
}

int http_targets_new(struct loop *loop, struct http_client *http,
		     const struct http_targets_options *options, http_targets_fn fn, void *data,
		     struct http_targets **ret_targets)
{
	_cleanup_(http_targets_freep) struct http_targets *t = calloc(1, sizeof(*t));

	assert(fn);
	if (!t)
		return -ENOMEM;
	t->http = http;
	t->options = *options;
	t->fn = fn;
	t->data = data;
	write_interval(t);
	int r = loop_timer_new(loop, on_timer, t, &t->timer);
	if (r < 0)
		return r;
	r = open_tokens(t, loop);
	if (r < 0)
		return r;
	*ret_targets = TAKE_PTR(t);
	return 0;
}

void http_targets_free(struct http_targets *t)
{
	if (!t)
		return;
	http_request_cancel(t->request);
	http_oauth2_free(t->tokens);
	loop_timer_free(t->timer);
	target_list_fini(&t->targets);
	free(t);
}

const struct target_list *http_targets_get(const struct http_targets *t)
{
	return &t->targets;
}

void http_targets_inherit(struct http_targets *t, struct http_targets *from)
{
	target_list_fini(&t->targets);
	t->targets = from->targets;
	from->targets = (struct target_list){ 0 };
}
