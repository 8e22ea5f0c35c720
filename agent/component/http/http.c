/* SPDX-License-Identifier: Apache-2.0 */
/* http: who may ask the agent's own HTTP server what, and over which TLS. Takes effect when the load has succeeded. */
#include "agent/component/kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/http/http_args.h"

static const struct http_access everybody = { 0 };

static struct http_access access_of(const struct http_args *args)
{
	if (!args->auth || !args->auth->basic)
		return everybody;
	return (struct http_access){
		.username = args->auth->basic->username,
		.password = args->auth->basic->password,
		.paths = args->auth->filter.paths.items,
		.n_paths = args->auth->filter.paths.n_items,
		.except_paths = !args->auth->filter.authenticate_matching_paths,
	};
}

/* Reads the files that it names. */
static int secure(struct component *c, const struct http_args *args, struct buf *why)
{
	const struct http_access access = access_of(args);
	_cleanup_(http_tls_texts_fini) struct http_tls_texts texts = HTTP_TLS_TEXTS_INIT;
	struct http_server_tls tls;
	bool wanted = args->tls != NULL;
	int r = wanted ? http_args_tls(args->tls, &texts, &tls, why) : 0;

	if (r < 0)
		return r;
	if (c->env->server) {
		r = http_server_secure(c->env->server, &access, wanted ? &tls : NULL, why);
		if (r < 0)
			return r;
	}
	component_set_health(c, HEALTH_HEALTHY, "http configured");
	return 0;
}

/* Certificates are tried here, so that a load with a wrong one is refused as a whole. */
static int http_accepts(struct component *c, const void *args, struct buf *why)
{
	_cleanup_(http_tls_texts_fini) struct http_tls_texts texts = HTTP_TLS_TEXTS_INIT;
	const struct http_args *a = args;
	struct http_server_tls tls;
	int r;

	(void)c;
	if (!a->tls)
		return 0;
	r = http_args_tls(a->tls, &texts, &tls, why);
	return r < 0 ? r : http_server_check_tls(&tls, why);
}

static int http_build(struct component *c, const void *args, struct buf *why)
{
	c->state = (void *)args;
	return http_accepts(c, args, why);
}

static int http_run(struct component *c, struct buf *why)
{
	return secure(c, c->state, why);
}

static int http_update(struct component *c, const void *args, struct buf *why)
{
	int r = secure(c, args, why);

	if (r < 0)
		return r;
	c->state = (void *)args;
	return 0;
}

static void http_stop(struct component *c)
{
	_cleanup_buf_ struct buf why = BUF_INIT(COMPONENT_MESSAGE_MAX);

	if (c->state && c->env->server)
		(void)http_server_secure(c->env->server, &everybody, NULL, &why);
	c->state = NULL;
}

const struct component_kind http_kind = {
	.name = "http",
	.schema = &http_schema,
	.build = http_build,
	.accepts = http_accepts,
	.run = http_run,
	.update = http_update,
	.stop = http_stop,
};
