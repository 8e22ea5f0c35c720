/* SPDX-License-Identifier: Apache-2.0 */
/* The cap on series, as pyroscope.ebpf has it. */
#include "agent/component/ebpf_cap.h"

#include "agent/util/log.h"

/* It goes on for as long as nobody changes anything. */
#define SAY_AGAIN_NS (3600 * NS_PER_S)

static const struct metric_family series_active = {
	"xagent_series_active",
	"Series sent within the last hour, \"other\" included.",
	METRIC_GAUGE,
	{ "component_path", "component_id" }
};

void ebpf_cap_fini(struct ebpf_cap *c)
{
	series_cap_free(c->cap);
	*c = (struct ebpf_cap){ 0 };
}

static int set(struct ebpf_cap *c, size_t max, struct labels *other)
{
	if (!c->cap)
		return series_cap_new(max, other, &c->cap);
	series_cap_set(c->cap, max, other);
	return 0;
}

static void say(struct ebpf_cap *c, const struct component *component,
		const struct series_cap_folded *f, uint64_t now_ns)
{
	const char *biggest = labels_get(f->biggest, "service_name");

	if (c->said && now_ns - c->said_ns < SAY_AGAIN_NS)
		return;
	c->said = true;
	c->said_ns = now_ns;
	log_warn("more series than max_series: the smallest new ones are sent as "
		 "service_name=\"" SERIES_CAP_OTHER "\"",
		 LOG_STR("component_id", component->id), LOG_UINT("folded_series", f->n_series),
		 LOG_UINT("folded_samples", f->n_samples),
		 LOG_UINT("max_series", series_cap_max(c->cap)),
		 LOG_STR("biggest_folded", biggest ? biggest : ""),
		 LOG_STR("fix",
			 "drop a label that has many values with discovery.relabel, or raise "
			 "max_series (Pyroscope grants a tenant 5000 series by default)"));
}

void ebpf_cap_apply(struct ebpf_cap *c, const struct component *component, size_t max,
		    struct labels *other, struct interval *i, uint64_t now_mono_ns)
{
	struct telemetry *t = component->env->telemetry;
	const char *labels[] = { component->path, component->local_id };
	struct series_cap_folded folded = { 0 };
	int r = set(c, max, other);

	if (r == 0)
		r = series_cap_apply(c->cap, i, now_mono_ns, &folded);
	if (r < 0) {
		log_warn("cannot cap the number of series", LOG_STR("component_id", component->id),
			 LOG_ERR(r));
		return;
	}
	metric_set(telemetry_series(t, &series_active, labels),
		   (double)series_cap_n_active(c->cap));
	telemetry_count(t, TELEMETRY_series_folded, folded.n_series);
	telemetry_count(t, TELEMETRY_samples_folded, folded.n_samples);
	if (folded.n_series > 0)
		say(c, component, &folded, now_mono_ns);
}
