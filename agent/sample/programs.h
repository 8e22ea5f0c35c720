/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source whose programs are tp_btf or fexit: each is attached to a tracepoint, or to the return of a function, on all CPUs, with a limit of samples a second. All there is to
 * such an event here is a list of names; what it does is in bpf/events/.
 *
 * Loop thread only.
 */
#ifndef XAGENT_AGENT_SAMPLE_PROGRAMS_H
#define XAGENT_AGENT_SAMPLE_PROGRAMS_H

#include "agent/sample/source.h"

#define PROGRAMS_MAX 4

struct programs {
	const struct source_ops *ops; /* programs_attach(), … */
	uint32_t source;	      /* EVENT_SOURCE_* */
	const char *map;	      /* that nobody else needs; NULL: none */
	const char *
		begin; /* an iterator over what is there already, run before the last one is attached; NULL: none */
	const char *
		function; /* at whose return they are; the tracepoints are what would do instead. NULL: none */
	bool is_thinned; /* by bpf/thin.bpf.h */
	/* In the order in which they are attached. Ends with NULL. */
	struct {
		const char *name;
		const char *
			tracepoint; /* NULL: the source has said where (agent/sample/switch_return.h) */
	} items[PROGRAMS_MAX + 1];
};

/* For ops->new. `p` is static. */
int programs_new(const struct programs *p, struct sample_bpf *bpf, const struct sampler_options *o,
		 struct buf *why, struct source **ret_source);
int programs_attach(struct source *s, struct buf *why);
unsigned int programs_limit_hz(const struct source *s);
void programs_detach(struct source *s);
void programs_free(struct source *s);

#endif
