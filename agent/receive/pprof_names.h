/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions with their files, as a Pyroscope server has them of clients whose names alone say little: of Python and Ruby ("pyspy", "rbspy",
 * "scripting") "app.py main" instead of "main". Of "pyspy" a file whose path is absolute stays out of the name.
 *
 * The server knows the client from `spyName`, which Push does not have; so who passes a profile of /ingest on by Push does it. Pure.
 */
#ifndef XAGENT_AGENT_RECEIVE_PPROF_NAMES_H
#define XAGENT_AGENT_RECEIVE_PPROF_NAMES_H

#include "agent/store/ingest/read_budget.h"
#include "agent/util/buf.h"
#include "agent/util/str.h"

bool pprof_names_wanted(const char *spy);
/* `plain` is a message, which nobody has checked; what is wrong in it stays so. The same with other names: 0; -E2BIG: `out` has no room for it; -ECANCELED: the budget;
 * -ENOMEM. */
int pprof_names_put_files(struct str plain, const char *spy, struct read_budget *budget,
			  struct buf *out);

#endif
