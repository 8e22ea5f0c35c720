/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of discovery.docker. */
#include "agent/component/discovery/docker_args.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/args_equal.h"
#include "agent/http/url.h"
#include "agent/util/clock.h"
#include "agent/version.h"

#define USER_AGENT "xagent/" XAGENT_VERSION " (linux)"
#define PORT_MAX 65535
/* What Docker's own client takes where none is given, without and with TLS. */
#define TCP_PORT ":2375"
#define TLS_PORT ":2376"
/* A socket has no name; this one is told to the daemon, which does not care. */
#define SOCKET_URL "http://docker"

/* To find that nobody has a socket of this host costs nothing and bothers nobody. */
#define SOCKET_RETRY_NS (2 * NS_PER_S)

struct docker_filter_args {
	const char *name;
	struct river_strings values;
};

static const char *after(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(text, prefix, n) == 0 ? text + n : NULL;
}

static bool has_port(const char *authority)
{
	size_t n = strcspn(authority, "/");
	const char *colon = memrchr(authority, ':', n);
	const char *bracket = memrchr(authority, ']', n);

	return colon && (!bracket || bracket < colon);
}

/* tcp://host:port/path as an http or https URL. 0 or what buf_append returns. */
static int append_tcp_url(struct buf *url, const char *rest, bool tls)
{
	size_t n = strcspn(rest, "/");
	const char *port = has_port(rest) ? "" : tls ? TLS_PORT : TCP_PORT;

	return buf_printf(url, "%s://%.*s%s%s", tls ? "https" : "http", (int)n, rest, port,
			  rest + n);
}

/* The URL without '/' at its end. *ret_socket: the path of a socket, or NULL. */
static int server_of(const struct docker_args *a, struct buf *url, const char **ret_socket)
{
	const char *tcp = after(a->host, "tcp://");
	int r;

	*ret_socket = after(a->host, "unix://");
	if (*ret_socket)
		r = buf_append_str(url, SOCKET_URL);
	else if (tcp)
		r = append_tcp_url(url, tcp, a->client.tls_config != NULL);
	else
		r = buf_append_str(url, a->host);
	while (r == 0 && url->len > 0 && url->data[url->len - 1] == '/')
		url->data[--url->len] = '\0';
	return r;
}

static const char *check_scheme(const char *host)
{
	if (!*host)
		return "host missing";
	if (after(host, "npipe://"))
		return "host: npipe:// is a socket of Windows; use unix:///var/run/docker.sock";
	if (after(host, "ssh://") || after(host, "fd://"))
		return "host: ssh:// and fd:// are not supported; use unix://, tcp://, http:// or "
		       "https://";
	if (!after(host, "unix://") && !after(host, "tcp://") && !after(host, "http://") &&
	    !after(host, "https://"))
		return "unable to parse docker host: it must begin with unix://, tcp://, http:// "
		       "or "
		       "https://, for example unix:///var/run/docker.sock";
	return NULL;
}

static const char *check_host(const struct docker_args *a)
{
	_cleanup_buf_ struct buf text = BUF_INIT(2 * URL_MAX_BYTES);
	const char *mistake = check_scheme(a->host);
	enum url_problem problem;
	const char *socket;
	struct url url;

	if (mistake)
		return mistake;
	if (server_of(a, &text, &socket) < 0)
		return url_problem_text(URL_TOO_LONG);
	if (socket)
		return http_unix_socket_ok(socket) ? NULL
						   : "host: unix:// is followed by the absolute "
						     "path of a socket, of at "
						     "most 107 bytes: unix:///var/run/docker.sock";
	problem = url_parse(str_from(buf_str(&text)), &url);
	if (problem == URL_OK && url.query.n > 0)
		problem = URL_CHARACTER;
	return problem == URL_OK ? NULL : url_problem_text(problem);
}

static const char *validate(const void *self, struct river_arena *arena)
{
	const struct docker_args *a = self;
	const char *mistake = check_host(a);

	(void)arena;
	if (mistake)
		return mistake;
	if (a->port < 0 || a->port > PORT_MAX)
		return "port must be between 0 and 65535";
	if (a->refresh_interval_ns <= 0)
		return "refresh_interval must be greater than 0";
	return http_client_args_check(&a->client);
}

static const struct river_field filter_fields[] = {
	RIVER_FIELD_STRING(struct docker_filter_args, name, "name", .flags = RIVER_REQUIRED),
	RIVER_FIELD_STRING_LIST(struct docker_filter_args, values, "values",
				.flags = RIVER_REQUIRED),
};
static const struct river_schema filter_schema =
	RIVER_SCHEMA(struct docker_filter_args, "filter", filter_fields);

#define A struct docker_args
static const struct river_field docker_fields[] = {
	RIVER_FIELD_STRING(A, host, "host", .flags = RIVER_REQUIRED),
	RIVER_FIELD_INT(A, port, "port", .def = "80"),
	RIVER_FIELD_STRING(A, host_networking_host, "host_networking_host", .def = "localhost"),
	RIVER_FIELD_DURATION(A, refresh_interval_ns, "refresh_interval", .def = "1m"),
	RIVER_FIELD_BOOL(A, match_first_network, "match_first_network", .def = "true"),
	RIVER_FIELD_BLOCKS(A, filters, "filter", &filter_schema),
	HTTP_CLIENT_FIELDS(A, client),
};
const struct river_schema docker_schema =
	RIVER_SCHEMA(A, "discovery.docker", docker_fields, .validate = validate);
#undef A

static bool add_filter(json_t *all, const struct docker_filter_args *filter)
{
	json_t *values = json_object_get(all, filter->name);
	bool ok = values || (json_object_set_new(all, filter->name, json_array()) == 0 &&
			     (values = json_object_get(all, filter->name)));

	for (size_t i = 0; ok && i < filter->values.n_items; i++)
		ok = json_array_append_new(values, json_string(filter->values.items[i])) == 0;
	return ok;
}

/* As the API wants them: of each name all values. NULL when memory is out. */
static const char *filters_text(const struct docker_args *a, struct river_arena *arena)
{
	const struct docker_filter_args *filters = a->filters.items;
	json_t *all = json_object();
	bool ok = all;

	for (size_t i = 0; ok && i < a->filters.n_items; i++)
		ok = add_filter(all, &filters[i]);
	char *text = ok ? json_dumps(all, JSON_COMPACT) : NULL;
	const char *copy = text ? river_arena_strndup(arena, text, strlen(text)) : NULL;
	free(text);
	json_decref(all);
	return a->filters.n_items > 0 || !ok ? copy : "";
}

static int request_of(const struct docker_args *a, struct river_arena *arena,
		      const struct http_client_options *client, struct http_request_options *o)
{
	_cleanup_buf_ struct buf url = BUF_INIT(2 * URL_MAX_BYTES);

	*o = (struct http_request_options){ .user_agent = USER_AGENT };
	int r = server_of(a, &url, &o->unix_socket);
	o->url = r == 0 ? river_arena_strndup(arena, buf_str(&url), url.len) : NULL;
	if (!o->url)
		return -ENOMEM;
	if (o->unix_socket)
		return 0;
	o->headers = client->headers;
	o->n_headers = client->n_headers;
	o->follow_redirects = a->client.follow_redirects;
	o->enable_http2 = a->client.enable_http2;
	o->tls = client->tls;
	o->proxy = client->proxy;
	return 0;
}

int docker_args_options(const struct docker_args *a, struct river_arena *arena,
			struct docker_watch_options *ret_options,
			const struct http_oauth2_options **ret_oauth2)
{
	struct http_client_options client;
	struct docker_watch_options o = {
		.refresh_interval_ns = (uint64_t)a->refresh_interval_ns,
		.targets = { .port = (unsigned int)a->port,
			     .host_networking_host = a->host_networking_host,
			     .match_first_network = a->match_first_network },
		.retry = RETRY_OPTIONS_INIT,
	};
	int r = http_client_args_options(&a->client, arena, &client);

	if (r < 0)
		return r;
	r = request_of(a, arena, &client, &o.server.request);
	if (r < 0)
		return r;
	o.filters = filters_text(a, arena);
	if (!o.filters)
		return -ENOMEM;
	*ret_oauth2 = NULL;
	if (o.server.request.unix_socket) {
		o.retry.max_ns = SOCKET_RETRY_NS;
	} else {
		o.server.credentials = client.credentials;
		*ret_oauth2 = client.oauth2;
	}
	*ret_options = o;
	return 0;
}

bool docker_args_same_server(const struct docker_args *a, const struct docker_args *b)
{
	struct docker_args c = *a;

	c.port = b->port;
	c.refresh_interval_ns = b->refresh_interval_ns;
	c.host_networking_host = b->host_networking_host;
	c.match_first_network = b->match_first_network;
	return args_equal(&docker_schema, &c, b);
}
