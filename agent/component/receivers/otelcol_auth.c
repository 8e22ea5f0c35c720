/* SPDX-License-Identifier: Apache-2.0 */
/* otelcol.auth.basic, .bearer, .headers and .oauth2: how exporters of OTLP say who they are, as a value that these have as `auth`. */
#include "agent/component/kinds.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/component/receivers/otlp_auth.h"
#include "agent/util/log.h"

/* A load evaluates everything before it updates anything: who is updated after us still names what was exported before, so that is kept
 * until the next update. */
struct auth_state {
	struct otlp_auth *auth;	  /* what is exported */
	struct otlp_auth *before; /* NULL: there was none */
	otlp_auth_of_fn of;
	bool running;
};

static int build(struct component *c, otlp_auth_of_fn of, const void *args)
{
	struct auth_state *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	c->state = s;
	s->of = of;
	return otlp_auth_new(of, args, &s->auth);
}

static void tell(struct component *c)
{
	const struct auth_state *s = c->state;
	_cleanup_buf_ struct buf text = BUF_INIT(COMPONENT_MESSAGE_MAX);

	if (!s->auth->empty) {
		component_set_health(c, HEALTH_HEALTHY, "in the hands of those that name it");
		return;
	}
	(void)buf_printf(&text, "%s is empty: is the variable set that it is made of?",
			 s->auth->empty);
	component_set_health(c, HEALTH_UNHEALTHY, buf_str(&text));
	log_error(buf_str(&text), LOG_STR("component_id", c->id));
}

static int auth_run(struct component *c, struct buf *why)
{
	struct auth_state *s = c->state;

	(void)why;
	s->running = true;
	tell(c);
	return 0;
}

static int auth_update(struct component *c, const void *args, struct buf *why)
{
	struct auth_state *s = c->state;
	struct otlp_auth *auth = NULL;
	int r = otlp_auth_new(s->of, args, &auth);

	(void)why;
	if (r < 0)
		return r;
	otlp_auth_unref(s->before);
	s->before = s->auth;
	s->auth = auth;
	if (s->running)
		tell(c);
	component_exports_changed(c);
	return 0;
}

static void auth_stop(struct component *c)
{
	struct auth_state *s = c->state;

	if (!s)
		return;
	otlp_auth_unref(s->before);
	otlp_auth_unref(s->auth);
	free(s);
	c->state = NULL;
}

static int auth_exports(struct component *c, struct river_arena *arena,
			const struct river_value **ret_exports)
{
	struct auth_state *s = c->state;
	const struct river_member handler = {
		.key = "handler",
		.value = river_value_capsule(arena, OTLP_AUTH_CAPSULE, s->auth),
	};

	*ret_exports = handler.value ? river_value_object(arena, &handler, 1) : NULL;
	return *ret_exports ? 0 : -ENOMEM;
}

#define AUTH_KIND(kind)                                                                 \
	static int kind##_build(struct component *c, const void *args, struct buf *why) \
	{                                                                               \
		(void)why;                                                              \
		return build(c, otlp_auth_of_##kind, args);                             \
	}                                                                               \
	const struct component_kind otelcol_auth_##kind##_kind = {                      \
		.name = "otelcol.auth." #kind,                                          \
		.schema = &otlp_auth_##kind##_schema,                                   \
		.wants_label = true,                                                    \
		.build = kind##_build,                                                  \
		.run = auth_run,                                                        \
		.update = auth_update,                                                  \
		.stop = auth_stop,                                                      \
		.exports = auth_exports,                                                \
	}

AUTH_KIND(basic);
AUTH_KIND(bearer);
AUTH_KIND(headers);
AUTH_KIND(oauth2);
