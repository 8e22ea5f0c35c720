/* SPDX-License-Identifier: Apache-2.0 */
/* pyroscope.receive_http: takes profiles from others over HTTP, as a Pyroscope server does, and hands them on. */
#include "agent/component/kinds.h"

#include "agent/component/receivers/receive_component.h"
#include "agent/component/receivers/receive_http_args.h"

static void plan(const void *given, struct receive_plan *plan)
{
	const struct receive_http_args *args = given;

	plan->http.wanted = true;
	plan->http.tls = args->http.tls;
	plan->options = receive_http_server_options(&args->http, plan->http.listen);
	plan->to = &args->forward_to;
}

static int add_routes(struct receiving *r, const struct receive_plan *of,
		      struct http_server *server)
{
	(void)of;
	return receiving_add_routes(r, server);
}

static const struct receive_component component = { plan, add_routes };

static int build(struct component *c, const void *args, struct buf *why)
{
	return receive_component_build(c, &component, args, why);
}

const struct component_kind pyroscope_receive_http_kind = {
	.name = "pyroscope.receive_http",
	.schema = &receive_http_schema,
	.wants_label = true,
	.build = build,
	.accepts = receive_component_accepts,
	.run = receive_component_run,
	.update = receive_component_update,
	.stop = receive_component_stop,
	.check = receive_component_check,
	.debug_info = receive_component_debug,
};
