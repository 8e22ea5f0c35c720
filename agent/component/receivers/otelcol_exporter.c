/* SPDX-License-Identifier: Apache-2.0 */
/* otelcol.exporter.otlphttp and otelcol.exporter.otlp: send profiles to servers of OpenTelemetry's protocol, over HTTP and gRPC. */
#include "agent/component/kinds.h"

#include <errno.h>

#include "agent/component/receivers/otlp_args.h"
#include "agent/component/receivers/push_component.h"

/* What is not tried again, or not queued, does not wait on disk either. */
static int add_spool(const struct component *c, const struct otlp_args *args,
		     struct river_arena *arena, struct push_endpoint_options *endpoint)
{
	if (!args->retry.enabled || !args->queue.enabled)
		return 0;
	return spool_args_place(&args->spool, c, args->client.compression, arena, endpoint);
}

static int plan_common(const struct component *c, const struct otlp_args *args,
		       struct river_arena *arena, struct push_plan *plan)
{
	struct push_endpoint_options *endpoint = river_arena_alloc(arena, sizeof(*endpoint));
	int r = endpoint ? 0 : -ENOMEM;

	if (r == 0 && *args->client.endpoint)
		r = otlp_args_endpoint(args, arena, endpoint);
	if (r == 0 && *args->client.endpoint)
		r = add_spool(c, args, arena, endpoint);
	if (r < 0)
		return r;
	plan->options.endpoints = endpoint;
	plan->options.n_endpoints = *args->client.endpoint ? 1 : 0;
	plan->n_without_url = *args->client.endpoint ? 0 : 1;
	plan->options.max_in_flight = (unsigned int)args->queue.n_consumers;
	plan->options.max_queue_items =
		(size_t)(args->queue.enabled ? args->queue.size : args->queue.n_consumers);
	plan->max_age_ns = (uint64_t)args->retry.max_elapsed_ns;
	plan->form = otlp_args_compress(args) ? FORM_OTLP_GZIP : FORM_OTLP;
	return 0;
}

static int plan_http(struct component *c, const void *args, struct river_arena *arena,
		     struct push_plan *plan)
{
	plan->options.protocol = otlp_args_compress(args) ? &push_otlp_http_gzip : &push_otlp_http;
	return plan_common(c, args, arena, plan);
}

static const struct push_component http_component = { .plan = plan_http, .also_exports = "input" };

static int http_build(struct component *c, const void *args, struct buf *why)
{
	(void)why;
	return push_component_build(c, &http_component, args);
}

static int plan_grpc(struct component *c, const void *given, struct river_arena *arena,
		     struct push_plan *plan)
{
	struct otlp_args args = *(const struct otlp_args *)given;

	args.client.endpoint = otlp_args_grpc_url(given, arena);
	plan->options.protocol = otlp_args_compress(&args) ? &push_otlp_grpc_gzip : &push_otlp_grpc;
	return args.client.endpoint ? plan_common(c, &args, arena, plan) : -ENOMEM;
}

static const struct push_component grpc_component = { .plan = plan_grpc, .also_exports = "input" };

static int grpc_build(struct component *c, const void *args, struct buf *why)
{
	(void)why;
	return push_component_build(c, &grpc_component, args);
}

const struct component_kind otelcol_exporter_otlp_kind = {
	.name = "otelcol.exporter.otlp",
	.schema = &otlpgrpc_schema,
	.wants_label = true,
	.build = grpc_build,
	.run = push_component_run,
	.update = push_component_update,
	.stop = push_component_stop,
	.exports = push_component_exports,
	.check = push_component_check,
};

const struct component_kind otelcol_exporter_otlphttp_kind = {
	.name = "otelcol.exporter.otlphttp",
	.schema = &otlphttp_schema,
	.wants_label = true,
	.build = http_build,
	.run = push_component_run,
	.update = push_component_update,
	.stop = push_component_stop,
	.exports = push_component_exports,
	.check = push_component_check,
};
