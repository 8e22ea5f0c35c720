/* SPDX-License-Identifier: Apache-2.0 */
/* The components of a control group's path, each by its shape. Pure; of cgroup.c and its parts only. */
#ifndef XAGENT_AGENT_PROCESS_CGROUP_SHAPE_H
#define XAGENT_AGENT_PROCESS_CGROUP_SHAPE_H

#include <stdbool.h>

#include "agent/process/cgroup.h"

static inline struct str shape_from(struct str s, size_t at)
{
	return (struct str){ s.p + at, s.n - at };
}

bool shape_is_digits(struct str s); /* one at least */
/* Cuts it off; false when it is not there, or is everything. */
bool shape_cut_prefix(struct str *s, struct str prefix);
bool shape_cut_suffix(struct str *s, struct str suffix);

/* Token = 64 lower-case hex digits with no letter or digit on either side; the last one of the
 * component. */
bool shape_find_hex_id(struct str component, struct str *ret_prefix, struct str *ret_id);
/* EcsId = 32 hex digits "-" 1…20 digits, a component of its own. */
bool shape_is_ecs_id(struct str c);
/* BuildId = 25 of 0-9a-z: a step of a build. */
bool shape_is_build_id(struct str c);
/* Uuid = 8-4-4-4-12 lower-case hex digits between `separator`s. */
bool shape_is_uuid(struct str s, char separator);
/* Pod = [ anything "-" ] "pod" uid [ ".slice" anything ], dashes of the uid perhaps written as
 * underscores. */
bool shape_find_pod_uid(struct str component, struct str *ret_uid);

/* Undoes cg_escape() (a leading '_') and unit_name_escape() ("\x2d") of systemd. */
void shape_copy_unescaped(char *dst, size_t dst_bytes, struct str name);
/* The unit types that hold processes; slices hold other units. */
bool shape_is_unit(struct str c);
bool shape_is_slice(struct str c);

/* What a path's component says of the machine (LXC, nspawn, libvirt) or Nomad task that it is of. */
enum machine_part {
	MACHINE_NONE,
	MACHINE_PAYLOAD, /* from here on a system of its own: its units follow */
	MACHINE_WHOLE,	 /* nothing below it is a unit */
	MACHINE_MONITOR, /* the host's process that watches over one */
	MACHINE_FRAME,	 /* "payload", "ns": between the machine and its units */
	MACHINE_INSIDE,	 /* the first of its components, when only that shows that it is one */
};

/* Sets f->machine and f->runtime, or f->alloc_id, f->task and f->runtime. */
enum machine_part machine_scan(struct str c, struct str parent, struct cgroup_facts *f);

#endif
