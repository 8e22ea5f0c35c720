/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otelcol.receiver.pyroscope: what stands in configurations between those that make profiles and exporters of OpenTelemetry's protocol.
 *
 * Our exporters take profiles as they are, so it hands them on and nothing else.
 */
#include "agent/component/kinds.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/component/receivers/fan_out.h"
#include "agent/component/receivers/otlp_receiver_args.h"
#include "agent/util/macro.h"

struct bridge_args {
	struct otlp_receiver_output_args output;
};

struct bridge {
	struct receiver receiver; /* what is exported: stays where it is through updates */
	const struct bridge_args *args;
};

static const char *validate_args(const void *self, struct river_arena *arena)
{
	const struct bridge_args *args = self;

	(void)arena;
	return args->output.profiles.n_items > 0 ? NULL : "profiles of output must name a receiver";
}

static const struct river_field fields[] = {
	RIVER_FIELD_BLOCK(struct bridge_args, output, "output", &otlp_receiver_output_schema,
			  .flags = RIVER_REQUIRED),
};
static const struct river_schema bridge_schema = RIVER_SCHEMA(
	struct bridge_args, "otelcol.receiver.pyroscope", fields, .validate = validate_args);

static const struct river_capsules *to_of(const struct receiver *receiver)
{
	return &CONTAINER_OF((struct receiver *)receiver, struct bridge, receiver)
			->args->output.profiles;
}

static void receive(struct receiver *receiver, struct profile *profile, uint64_t deadline_ns)
{
	fan_out(to_of(receiver), profile, deadline_ns);
}

static unsigned int wants(const struct receiver *receiver)
{
	return fan_out_wants(to_of(receiver));
}

static void stats(const struct receiver *receiver, struct receiver_stats *ret_stats)
{
	*ret_stats = fan_out_stats(to_of(receiver));
}

static bool has_room(const struct receiver *receiver, size_t n_bytes)
{
	return fan_out_has_room(to_of(receiver), n_bytes);
}

static int bridge_build(struct component *c, const void *args, struct buf *why)
{
	struct bridge *b = calloc(1, sizeof(*b));

	(void)why;
	if (!b)
		return -ENOMEM;
	b->receiver = (struct receiver){
		.receive = receive, .ask_wants = wants, .stats = stats, .has_room = has_room
	};
	b->args = args;
	c->state = b;
	return 0;
}

static int bridge_run(struct component *c, struct buf *why)
{
	(void)why;
	component_set_health(c, HEALTH_HEALTHY, "handing profiles on");
	return 0;
}

static int bridge_update(struct component *c, const void *args, struct buf *why)
{
	struct bridge *b = c->state;

	(void)why;
	b->args = args;
	return 0;
}

static void bridge_stop(struct component *c)
{
	free(c->state);
	c->state = NULL;
}

static int bridge_exports(struct component *c, struct river_arena *arena,
			  const struct river_value **ret_exports)
{
	struct bridge *b = c->state;
	const struct river_member receiver = {
		.key = "receiver",
		.value = river_value_capsule(arena, RECEIVER_CAPSULE, &b->receiver),
	};

	*ret_exports = receiver.value ? river_value_object(arena, &receiver, 1) : NULL;
	return *ret_exports ? 0 : -ENOMEM;
}

const struct component_kind otelcol_receiver_pyroscope_kind = {
	.name = "otelcol.receiver.pyroscope",
	.schema = &bridge_schema,
	.wants_label = true,
	.build = bridge_build,
	.run = bridge_run,
	.update = bridge_update,
	.stop = bridge_stop,
	.exports = bridge_exports,
};
