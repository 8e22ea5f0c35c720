/* SPDX-License-Identifier: Apache-2.0 */
/* What one interval was busy with: as many rows as any screen shows. */
#ifndef XAGENT_AGENT_CLI_TOP_TOP_VIEW_H
#define XAGENT_AGENT_CLI_TOP_TOP_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "agent/profile/build.h"

#define TOP_VIEW_SERVICES 100
#define TOP_VIEW_FUNCTIONS 200
/* More than fit on a line. */
#define TOP_VIEW_WAKERS 16

/* UTF-8 without control characters; longer ones are cut. */
#define TOP_VIEW_NAME_BYTES 256
#define TOP_VIEW_OF_BYTES 128

struct top_view_row {
	char name[TOP_VIEW_NAME_BYTES];
	char of[TOP_VIEW_OF_BYTES]; /* of a service its hottest function, of a function its file; "": not known */
	uint64_t self;
	uint64_t total;
};

/* Of one event. Weights as stack_weight() has them; the hottest rows, hottest first. */
struct top_view {
	uint64_t total;
	uint64_t period_ns; /* what one sample of CPU time is worth */
	uint64_t elapsed_ns;
	uint64_t end_real_ns;
	uint64_t reasons
		[WAIT_REASON_MAX]; /* of `total`, what was waited for; WAIT_UNKNOWN: nothing, or it was not told */
	size_t n_services, n_functions, n_wakers; /* below */
	size_t n_all_services, n_all_functions; /* there were */
	struct top_view_row services[TOP_VIEW_SERVICES];
	struct top_view_row functions[TOP_VIEW_FUNCTIONS];
	struct top_view_row wakers[TOP_VIEW_WAKERS]; /* "nginx", by their total */
};

/* A build_fn. Puts one struct top_view (build->first->bytes), also of an interval without samples. */
void top_view_build(const struct interval *interval, struct namer *namer, struct build *build);

#endif
