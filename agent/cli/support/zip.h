/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a zip file into a buffer: deflated members, one after the other, and the directory at the end (APPNOTE 6.3, no zip64: a
 * file and all of it below 4 GiB, 65,535 members). Pure.
 */
#ifndef XAGENT_AGENT_CLI_SUPPORT_ZIP_H
#define XAGENT_AGENT_CLI_SUPPORT_ZIP_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "agent/util/buf.h"

struct zip {
	struct buf *out;      /* borrowed; NULL once it has ended */
	struct buf directory; /* what comes at the end */
	size_t begin;	      /* where the file begins in `out` */
	size_t n;
	uint16_t dos_date, dos_time;
};

/* `when` is the time of all members. */
void zip_init(struct zip *z, struct buf *out, time_t when);
void zip_fini(struct zip *z);
#define _cleanup_zip_ _cleanup_(zip_fini)

/* A member; `name` has slashes and is copied. 0, -E2BIG, -ENOBUFS or -ENOMEM. */
int zip_add(struct zip *z, const char *name, const void *bytes, size_t n);
/* The directory; nothing may be added after it. */
int zip_end(struct zip *z);

#endif
