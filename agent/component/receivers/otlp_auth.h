/* SPDX-License-Identifier: Apache-2.0 */
/* What components of otelcol.auth export: how a client of OTLP says who it is. */
#ifndef XAGENT_AGENT_COMPONENT_RECEIVERS_OTLP_AUTH_H
#define XAGENT_AGENT_COMPONENT_RECEIVERS_OTLP_AUTH_H

#include "agent/http/credentials.h"
#include "agent/http/server.h"
#include "agent/push/options.h"
#include "river-config/river.h"

/* The capsule's type name in the configuration language. */
#define OTLP_AUTH_CAPSULE "otelcol.Handler"

/* X(name, text): what becomes of a header beside those that the client has already. */
#define OTLP_AUTH_ACTIONS(X)                                    \
	X(INSERT, "insert") /* it is set where there is none */ \
	X(UPDATE, "update") /* it is set where there is one */  \
	X(UPSERT, "upsert") /* it is set */                     \
	X(DELETE, "delete") /* there is none */

enum otlp_auth_action {
#define OTLP_AUTH_ENUM(name, text) OTLP_AUTH_##name,
	OTLP_AUTH_ACTIONS(OTLP_AUTH_ENUM)
#undef OTLP_AUTH_ENUM
		OTLP_AUTH_MAX
};

struct otlp_auth_header {
	enum otlp_auth_action action;
	const char *name, *value;
};

/*
 * Other arguments of the component are another of these at another address, so that who uses it is told. All that it points to is its own: who was
 * not told yet may still look at it. Loop thread.
 */
struct otlp_auth {
	unsigned int n_refs;
	struct river_arena arena;
	struct http_credentials credentials;
	const struct http_oauth2_options *oauth2; /* NULL: none */
	const struct otlp_auth_header *headers;
	size_t n_headers;
	struct http_access access; /* of a server; see otlp_auth_asks() */
	/* An argument that is empty and should not be: perhaps it is out of an environment that lacks it. NULL: none. */
	const char *empty;
};

extern const struct river_schema otlp_auth_basic_schema, otlp_auth_bearer_schema,
	otlp_auth_headers_schema, otlp_auth_oauth2_schema;

/* Of arguments by these tables. 0 or -ENOMEM. */
typedef int (*otlp_auth_of_fn)(const void *args, struct otlp_auth *auth);
int otlp_auth_of_basic(const void *args, struct otlp_auth *auth);
int otlp_auth_of_bearer(const void *args, struct otlp_auth *auth);
int otlp_auth_of_headers(const void *args, struct otlp_auth *auth);
int otlp_auth_of_oauth2(const void *args, struct otlp_auth *auth);

/* With one reference. 0 or -ENOMEM. */
int otlp_auth_new(otlp_auth_of_fn of, const void *args, struct otlp_auth **ret_auth);
struct otlp_auth *otlp_auth_ref(struct otlp_auth *auth); /* NULL-safe, as the next */
void otlp_auth_unref(struct otlp_auth *auth);

/* Whether a server may use it: it says what its clients have to say. */
bool otlp_auth_asks(const struct otlp_auth *auth);

/* An endpoint that has nothing else to say who it is, and perhaps headers. 0 or -ENOMEM. */
int otlp_auth_take(const struct otlp_auth *auth, struct river_arena *arena,
		   struct push_endpoint_options *o);

#endif
