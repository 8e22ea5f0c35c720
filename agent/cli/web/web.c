/* SPDX-License-Identifier: Apache-2.0 */
/* Components as JSON over HTTP. */
#include "agent/cli/web/web.h"

#include <stdio.h>
#include <string.h>

#include "agent/cli/run/agent.h"
#include "agent/cli/web/answer_json.h"
#include "agent/cli/web/components_answer.h"
#include "agent/cli/web/process_answer.h"
#include "agent/cli/web/status_answer.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

#define WEB "/api/v0/web"
#define WEB_COMPONENTS WEB "/components"
#define WEB_MODULES WEB "/modules/"
#define WEB_DEBUG WEB "/debug/"
#define WEB_GRAPH WEB "/graph"
#define COMPONENT_HANDLERS "/api/v0/component/"
/* Of the data-flow stream, in seconds. */
#define WINDOW_MAX_S 60

static void answer_text(struct http_answer *answer, unsigned int status, const char *text)
{
	answer->status = status;
	(void)buf_printf(&answer->body, "%s\n", text);
}

/* What follows `head`. */
static const char *after(const struct http_call *call, const char *head)
{
	const char *path = http_call_path(call);

	return strncmp(path, head, strlen(head)) == 0 ? path + strlen(head) : "";
}

static void on_components(const struct http_call *call, struct http_answer *answer, void *data)
{
	const char *id = after(call, WEB_COMPONENTS);

	id += *id == '/';
	components_answer(data, "", id, call, answer);
}

/* {module}/components[/{id}]; both may contain slashes. Local ids have no "/components" in them, so the last one divides. */
static bool divide_module_path(const char *path, size_t *ret_module_len, const char **ret_id)
{
	static const char word[] = "/components";
	const char *divider = NULL;

	for (const char *at = strstr(path, word); at; at = strstr(at + 1, word))
		if (at[sizeof(word) - 1] == '\0' || at[sizeof(word) - 1] == '/')
			divider = at;
	if (!divider)
		return false;
	*ret_module_len = (size_t)(divider - path);
	*ret_id = divider + sizeof(word) - 1 + (divider[sizeof(word) - 1] == '/');
	return true;
}

static void on_modules(const struct http_call *call, struct http_answer *answer, void *data)
{
	const char *path = after(call, WEB_MODULES);
	const char *id = NULL;
	size_t n = 0;

	if (!divide_module_path(path, &n, &id)) {
		answer_text(answer, 404, "404 page not found");
		return;
	}
	_cleanup_free_ char *module_id = strndup(path, n);
	if (module_id)
		components_answer(data, module_id, id, call, answer);
	else
		answer->body.failed = true;
}

static void on_remote(const struct http_call *call, struct http_answer *answer, void *data)
{
	(void)call;
	(void)data;
	answer_text(answer, 500, "remote configuration is not running");
}

/* Without clustering this host is the only one. */
static void on_peers(const struct http_call *call, struct http_answer *answer, void *data)
{
	const struct agent *a = data;

	(void)call;
	answer_json(answer, json_pack("[{s:s, s:s, s:b, s:s}]", "name", a->hostname, "addr",
				      a->options.listen, "isSelf", 1, "state", "participant"));
}

static bool is_probability(const char *text)
{
	char *end = NULL;
	double p = strtod(text, &end);

	/* It takes blanks, signs, and names of infinity too. */
	return (*text == '.' || (*text >= '0' && *text <= '9')) && *end == '\0' && p >= 0 && p <= 1;
}

static void on_debug(const struct http_call *call, struct http_answer *answer, void *data)
{
	const char *probability = http_call_query(call, "sampleProb");

	(void)data;
	if (probability && !is_probability(probability))
		answer_text(answer, 400, "Invalid sample probability");
	else
		answer_text(answer, 500, "live debugging is not supported");
}

static void on_graph(const struct http_call *call, struct http_answer *answer, void *data)
{
	const char *window = http_call_query(call, "window");
	uint64_t s = 1;

	(void)data;
	if (window && (str_parse_u64(str_from(window), 10, WINDOW_MAX_S, &s) < 0 || s == 0))
		answer_text(answer, 400, "Invalid window: must be an integer between 1 and 60");
	else
		answer_text(answer, 500, "live debugging is not supported");
}

/* No component of ours answers over HTTP itself. */
static void on_component_handler(const struct http_call *call, struct http_answer *answer,
				 void *data)
{
	const char *path = http_call_path(call);

	(void)data;
	if (strlen(path) > strlen(COMPONENT_HANDLERS)) {
		answer_text(answer, 404, "404 page not found");
		return;
	}
	answer->status = 400;
	(void)buf_printf(&answer->body, "failed to parse URL path \"%s\": invalid path\n", path);
}

static void on_process(const struct http_call *call, struct http_answer *answer, void *data)
{
	const char *pid_text = http_call_query(call, "pid");
	const char *name = http_call_query(call, "name");
	uint64_t pid = 0;

	http_answer_add_header(answer, "Cache-Control", "no-store");
	if (pid_text && str_parse_u64(str_from(pid_text), 10, INT32_MAX, &pid) == 0 && pid > 0)
		process_answer(data, (uint32_t)pid, NULL, call, answer);
	else if (!pid_text && name && *name)
		process_answer(data, 0, name, call, answer);
	else
		answer_text(answer, 400, "pid=NUMBER or name=TEXT is needed");
}

static const struct web_route {
	const char *path;
	bool below; /* also everything below */
	http_handler_fn fn;
} web_routes[] = {
	{ WEB "/status", false, status_answer },
	{ WEB "/process", false, on_process },
	{ WEB_COMPONENTS, true, on_components },
	{ WEB "/modules", true, on_modules },
	{ WEB "/remotecfg", true, on_remote },
	{ WEB "/peers", false, on_peers },
	{ WEB "/debug", true, on_debug },
	{ WEB_GRAPH, true, on_graph },
	{ COMPONENT_HANDLERS, true, on_component_handler },
};

int web_routes_add(struct agent *a)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(web_routes); i++)
		r = http_server_add_route(a->server,
					  &(struct http_route){ .method = "GET",
								.path = web_routes[i].path,
								.prefix = web_routes[i].below,
								.fn = web_routes[i].fn,
								.data = a });
	return r;
}
