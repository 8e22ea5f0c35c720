/* SPDX-License-Identifier: Apache-2.0 */
/* otelcol.receiver.otlp: takes profiles by OpenTelemetry's protocol over HTTP, and hands them on as pprof. */
#include "agent/component/kinds.h"

#include <stdio.h>

#include "agent/component/receivers/otlp_receiver_args.h"
#include "agent/component/receivers/receive_component.h"
#include "agent/util/macro.h"

/* Of all requests that are received or wait, besides one of the largest. */
#define OTHER_BODIES_BYTES ((size_t)12 << 20)

static void plan(const void *given, struct receive_plan *plan)
{
	const struct otlp_receiver_args *args = given;

	(void)snprintf(plan->listen, sizeof(plan->listen), "%s", args->http->endpoint);
	plan->max_body_bytes = otlp_receiver_max_bytes(args);
	plan->options.max_connections = RECEIVE_DEFAULT_CONNECTIONS;
	plan->options.max_bodies_bytes = plan->max_body_bytes + OTHER_BODIES_BYTES;
	plan->options.any_host = true;
	plan->tls = args->http->tls;
	plan->to = &args->output.profiles;
}

static int add_routes(struct receiving *r, const struct receive_plan *of,
		      struct http_server *server)
{
	return receiving_add_otlp_route(r, server, of->max_body_bytes);
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
