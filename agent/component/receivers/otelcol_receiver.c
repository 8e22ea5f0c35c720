/* SPDX-License-Identifier: Apache-2.0 */
/* otelcol.receiver.otlp: takes profiles by OpenTelemetry's protocol, over HTTP and gRPC, and hands them on as pprof. */
#include "agent/component/kinds.h"

#include <stdio.h>

#include "agent/component/receivers/otlp_receiver_args.h"
#include "agent/component/receivers/receive_component.h"
#include "agent/util/macro.h"

/* Of all requests of one server that are received or wait, besides one of the largest. */
#define OTHER_BODIES_BYTES ((size_t)12 << 20)

static void plan_door(struct receive_door_plan *door, const char *endpoint,
		      const struct http_tls_args *tls, struct otlp_auth *auth, size_t max_bytes)
{
	door->wanted = true;
	(void)snprintf(door->listen, sizeof(door->listen), "%s", endpoint);
	door->tls = tls;
	door->auth = auth;
	door->max_bytes = max_bytes;
}

static void plan_http(const struct otlp_receiver_http_args *args, struct receive_plan *plan)
{
	plan_door(&plan->http, args->endpoint, args->tls, args->auth,
		  otlp_receiver_http_bytes(args));
	plan->options.max_connections = RECEIVE_DEFAULT_CONNECTIONS;
	plan->options.max_bodies_bytes = plan->http.max_bytes + OTHER_BODIES_BYTES;
	plan->options.any_host = true;
}

static void plan_grpc(const struct otlp_receiver_grpc_args *args, struct receive_plan *plan)
{
	struct grpc_server_options *o = &plan->grpc_options;

	*o = otlp_receiver_grpc_options(args);
	plan_door(&plan->grpc, args->endpoint, args->tls, args->auth, o->max_message_bytes);
	o->max_connections = RECEIVE_DEFAULT_CONNECTIONS;
	o->max_bodies_bytes = o->max_message_bytes + OTHER_BODIES_BYTES;
}

static void plan(const void *given, struct receive_plan *plan)
{
	const struct otlp_receiver_args *args = given;

	if (args->http)
		plan_http(args->http, plan);
	if (args->grpc)
		plan_grpc(args->grpc, plan);
	plan->to = &args->output.profiles;
}

static int add_routes(struct receiving *r, const struct receive_plan *of,
		      struct http_server *server)
{
	return receiving_add_otlp_route(r, server, of->http.max_bytes);
}

static const struct receive_component component = { plan, add_routes };

static int build(struct component *c, const void *args, struct buf *why)
{
	return receive_component_build(c, &component, args, why);
}

const struct component_kind otelcol_receiver_otlp_kind = {
	.name = "otelcol.receiver.otlp",
	.schema = &otlp_receiver_schema,
	.wants_label = true,
	.build = build,
	.accepts = receive_component_accepts,
	.run = receive_component_run,
	.update = receive_component_update,
	.stop = receive_component_stop,
	.check = receive_component_check,
	.debug_info = receive_component_debug,
};
