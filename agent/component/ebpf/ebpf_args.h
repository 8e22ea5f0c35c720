/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of pyroscope.ebpf: the union of what all releases of Grafana's component know. */
#ifndef XAGENT_AGENT_COMPONENT_EBPF_EBPF_ARGS_H
#define XAGENT_AGENT_COMPONENT_EBPF_EBPF_ARGS_H

#include "agent/component/ebpf/events_args.h"
#include "agent/object/demangle/demangle.h"
#include "agent/profile/tag.h"
#include "river-config/river.h"

struct ebpf_args {
	struct river_capsules forward_to;
	struct river_foreigns targets; /* see ebpf_args_have_targets() */
	struct river_string_map default_target;
	bool targets_only;
	bool script_names; /* interpreters are called after what they run, where nothing better names them */
	int64_t collect_interval_ns;
	int64_t sample_rate_hz;
	bool collect_user_profile;
	bool collect_kernel_profile;
	bool kernel_frames;
	int64_t max_series; /* that this host sends at a time; see series_cap.h */
	const char *demangle;
	bool lines;		  /* of source files */
	bool columns;		  /* with the lines */
	bool inlines;		  /* a frame for each inlined function */
	bool python, v8, hotspot; /* functions of interpreters instead of the interpreters' own */
	bool interpreter_frames;  /* both */
	bool async_frames;	  /* of tasks that await the one that runs */
	bool hotspot_arguments;	  /* in names of methods of Java */
	struct river_strings
		debuginfod_urls;	   /* asked for debug files that this host does not have */
	const char *debuginfod_cache_path; /* "": the user's cache */
	const char *
		memory_limit; /* of everything that the component allocates, in the kernel and here */
	const char *comm;     /* the process's name: a label, the outermost frame, both, neither */
	bool pid_label;	      /* a sample label */
	bool thread_names;    /* likewise: what Java, or the kernel, calls the thread */
	bool hotspot_tiers;   /* likewise: how the innermost method of Java is run */
	struct events_args events;
	double event_cpu_limit;
	double off_cpu_threshold;
	const char *off_cpu_reason; /* "frame", "label", "none" */
	bool off_cpu_waker;	    /* who has ended a wait, in its stack */
	/* Understood; what they ask for does not exist here, and a warning says so. */
	bool load_probe;
	struct river_strings probe_links;
	struct river_strings u_probe_links;
};

extern const struct river_schema ebpf_schema;

/* False when there is no `targets` argument at all: then every process is profiled. */
bool ebpf_args_have_targets(const struct ebpf_args *args);
bool ebpf_args_kernel(const struct ebpf_args *args);
enum demangle_mode ebpf_args_demangle(const struct ebpf_args *args);
struct tagging ebpf_args_tagging(const struct ebpf_args *args);
/* Whether frames are named alike under both: lines, inlines, where debug files come from. */
bool ebpf_args_same_names(const struct ebpf_args *a, const struct ebpf_args *b);
size_t ebpf_args_memory_limit_bytes(const struct ebpf_args *args);
/* Samples of off-CPU time a second and CPU, at most, by `events`, or by off_cpu_threshold; 0: it is not wanted. */
unsigned int ebpf_args_off_cpu_hz(const struct ebpf_args *args);

/* Calls fn for each argument that asks for something that xagent does not do. */
void ebpf_args_unsupported(const struct ebpf_args *args,
			   void (*fn)(const char *argument, void *data), void *data);

#endif
