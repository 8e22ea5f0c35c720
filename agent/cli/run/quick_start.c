/* SPDX-License-Identifier: Apache-2.0 */
/* `xagent run` without a configuration. */
#include "agent/cli/run/quick_start.h"

#include <errno.h>
#include <string.h>

#include "agent/http/url.h"
#include "agent/push/options.h"
#include "agent/util/str.h"
#include "river-config/river.h"

/* The log says what goes wrong, and nothing each interval: the address is to stay on the screen. */
#define HEAD                   \
	"logging {\n"          \
	"\tlevel = \"warn\"\n" \
	"}\n\n"                \
	"pyroscope.store \"host\" { }\n\n"
/* Seconds until there is something to see; a pprof a service each is cheap enough for it. */
#define INTERVAL_S "5"
#define EBPF                                                         \
	"pyroscope.ebpf \"host\" {\n"                                \
	"\tforward_to       = [pyroscope.store.host.receiver%s%s]\n" \
	"\tcollect_interval = \"" INTERVAL_S "s\"\n"                 \
	"}\n"
/* An address with all its parts is far below; the text is twice as long at most. */
#define ARENA_BYTES ((size_t)1 << 20)

/* https://USER:PASSWORD@HOST…, as people have it at hand; pyroscope.write wants a block for the middle of it. */
struct push_parts {
	struct buf url, username, password;
	bool has_user;
};

static void push_parts_fini(struct push_parts *p)
{
	buf_fini(&p->url);
	buf_fini(&p->username);
	buf_fini(&p->password);
}

/* %40 is an at sign; what is no such sequence stays. */
static void put_decoded(struct str text, struct buf *out)
{
	while (text.n > 0) {
		uint64_t c = (unsigned char)text.p[0];
		bool coded = text.n > 2 && text.p[0] == '%' &&
			     str_parse_u64((struct str){ text.p + 1, 2 }, 16, 0xff, &c) == 0;

		(void)buf_append_char(out, (char)c);
		text.p += coded ? 3 : 1;
		text.n -= coded ? 3 : 1;
	}
}

/* The last '@' before the path ends it: a password may have one. */
static void split_push(const char *text, struct push_parts *p)
{
	const char *scheme = strstr(text, "://");
	const char *host = scheme ? scheme + 3 : text;
	const char *at = scheme ? memrchr(host, '@', strcspn(host, "/?#")) : NULL;
	struct str user = { host, at ? (size_t)(at - host) : 0 };
	struct str name;

	*p = (struct push_parts){ BUF_INIT(URL_MAX_BYTES + 1), BUF_INIT(URL_MAX_BYTES),
				  BUF_INIT(URL_MAX_BYTES), at != NULL };
	(void)buf_append(&p->url, text, at ? (size_t)(host - text) : 0);
	(void)buf_append_str(&p->url, at ? at + 1 : text);
	if (!at || !str_split(&user, ':', &name))
		return;
	put_decoded(name, &p->username);
	put_decoded(user, &p->password);
}

/* The search for passwords in texts for the support bundle (redact.c) takes these for the end of one. */
static bool is_plain(const char *text)
{
	const char *scheme = strstr(text, "://");
	const char *host = scheme ? scheme + 3 : text;
	const char *at = memrchr(host, '@', strcspn(host, "/?#"));

	return !at || strcspn(host, "@ \t\r\n\"'`\\<>") == (size_t)(at - host);
}

static const char *check_parts(const struct push_parts *p)
{
	struct push_endpoint_options o = PUSH_ENDPOINT_OPTIONS_INIT;

	if (p->url.failed || p->username.failed || p->password.failed)
		return url_problem_text(URL_TOO_LONG);
	o.url = buf_str(&p->url);
	return push_endpoint_options_check(&o);
}

const char *quick_start_url_problem(const char *url)
{
	_cleanup_(push_parts_fini) struct push_parts parts = { 0 };

	split_push(url, &parts);
	return is_plain(url) ? check_parts(&parts) : url_problem_text(URL_CHARACTER);
}

static void write_buf(void *ctx, const char *bytes, size_t n)
{
	(void)buf_append(ctx, bytes, n);
}

/* As a literal, whatever is in it. */
static int put_literal(const char *text, struct buf *out)
{
	const struct river_value *value;
	struct river_arena arena;
	int r;

	river_arena_init(&arena, ARENA_BYTES);
	value = river_value_string(&arena, text, strlen(text));
	r = value ? river_value_write(value, RIVER_LAYOUT_LINE, &arena, write_buf, out) : -ENOMEM;
	river_arena_fini(&arena);
	return r;
}

static int put_member(const char *before, const struct buf *text, struct buf *out)
{
	(void)buf_append_str(out, before);
	return put_literal(buf_str(text), out);
}

static int put_user(const struct push_parts *parts, struct buf *out)
{
	int r = put_member("\n\n\t\tbasic_auth {\n\t\t\tusername = ", &parts->username, out);

	if (r < 0)
		return r;
	r = put_member("\n\t\t\tpassword = ", &parts->password, out);
	if (r < 0)
		return r;
	return buf_append_str(out, "\n\t\t}");
}

/* The block that sends, and what the address is called in it. */
struct server_block {
	const char *begin, *address;
};

static const struct server_block write_block = { "\npyroscope.write \"server\" {\n\tendpoint {",
						 "\n\t\turl = " };
static const struct server_block otlp_block = {
	"\notelcol.exporter.otlphttp \"server\" {\n\tclient {", "\n\t\tendpoint = "
};

static int put_server(const struct server_block *block, const char *url, struct buf *out)
{
	_cleanup_(push_parts_fini) struct push_parts parts = { 0 };
	int r;

	split_push(url, &parts);
	(void)buf_append_str(out, block->begin);
	r = put_member(block->address, &parts.url, out);
	if (r < 0)
		return r;
	if (parts.has_user) {
		r = put_user(&parts, out);
		if (r < 0)
			return r;
	}
	return buf_append_str(out, "\n\t}\n}\n");
}

int quick_start_text(const struct quick_start_servers *servers, struct buf *out)
{
	int r = 0;

	(void)buf_append_str(out, HEAD);
	(void)buf_printf(out, EBPF, servers->push_url ? ", pyroscope.write.server.receiver" : "",
			 servers->otlp_url ? ", otelcol.exporter.otlphttp.server.input" : "");
	if (servers->push_url)
		r = put_server(&write_block, servers->push_url, out);
	if (r == 0 && servers->otlp_url)
		r = put_server(&otlp_block, servers->otlp_url, out);
	return r == 0 && out->failed ? -ENOBUFS : r;
}

/* "[::1]:80" is {"[::1]", "80"}. */
static struct str host_of(const char *listen)
{
	const char *colon = strrchr(listen, ':');

	return (struct str){ listen, colon ? (size_t)(colon - listen) : strlen(listen) };
}

/* No host, or the address that stands for all: this host is one of them. */
static bool is_any(struct str host)
{
	return host.n == 0 || str_eq(host, STR_LIT("0.0.0.0")) || str_eq(host, STR_LIT("[::]")) ||
	       str_eq(host, STR_LIT("*"));
}

void quick_start_put_address(const char *listen, uint16_t port, const char *prefix, struct buf *out)
{
	struct str host = host_of(listen);

	if (is_any(host))
		host = STR_LIT("127.0.0.1");
	(void)buf_printf(out, "http://%.*s:%u%s/", (int)host.n, host.p, (unsigned int)port, prefix);
}

/* Where else profiles go; whether there is a password in it. */
static bool put_server_name(const char *url, struct buf *out)
{
	_cleanup_(push_parts_fini) struct push_parts parts = { 0 };

	split_push(url, &parts);
	(void)buf_printf(out, "; profiles also go to %s", buf_str(&parts.url));
	return parts.has_user;
}

static void put_hidden(const char *flag, struct buf *out)
{
	(void)buf_printf(out,
			 "xagent: the password in %s is hidden in the list of processes from now "
			 "on, not in what was seen before it began (sudo, a shell's history); "
			 "password_file in a configuration never shows it\n",
			 flag);
}

void quick_start_put_begin(const char *address, const struct quick_start_servers *servers,
			   struct buf *out)
{
	bool push_has_user = false, otlp_has_user = false;

	(void)buf_printf(out, "xagent: flame graphs of this host: %s\n", address);
	(void)buf_append_str(out, "xagent: the first one is there in about " INTERVAL_S " s");
	if (servers->push_url)
		push_has_user = put_server_name(servers->push_url, out);
	if (servers->otlp_url)
		otlp_has_user = put_server_name(servers->otlp_url, out);
	(void)buf_append_str(out, "; ^C ends\n");
	if (push_has_user)
		put_hidden("--push.url", out);
	if (otlp_has_user)
		put_hidden("--otlp.endpoint", out);
}

void quick_start_put_end(struct buf *out)
{
	(void)buf_append_str(out, "xagent: ended; its profiles were in memory alone (`path` of "
				  "pyroscope.store in a configuration keeps them)\n");
}
