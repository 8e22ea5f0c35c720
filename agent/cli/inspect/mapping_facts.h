/* SPDX-License-Identifier: Apache-2.0 */
/* What unwinds and what names the code of one mapping, in a few words. */
#ifndef XAGENT_AGENT_CLI_INSPECT_MAPPING_FACTS_H
#define XAGENT_AGENT_CLI_INSPECT_MAPPING_FACTS_H

#include <stdint.h>

#include "agent/object/build_id.h"
#include "agent/object/rules/unwind_info.h"
#include "agent/process/mapping.h"

/* All sources' names and a number of rows. */
#define MAPPING_FACTS_TEXT_BYTES 128

struct mapping_facts {
	char build_id[BUILD_ID_TEXT_BYTES];
	char unwound[MAPPING_FACTS_TEXT_BYTES]; /* ".eh_frame 26480 rows" */
	char named[MAPPING_FACTS_TEXT_BYTES];	/* ".symtab 1234 functions" */
	char runtime[MAPPING_FACTS_TEXT_BYTES]; /* "CPython 3.11: its functions are shown"; "": it holds none */
};

/* The file, if there is one and it can be, has been opened. Never fails: what cannot be known says why. */
void mapping_facts_find(const struct mapping *m, struct mapping_facts *ret_facts);

/* ".eh_frame + code read 26480 rows"; `n_rows` 0: not known. Pure. */
void mapping_facts_put_sources(const char *const *names, size_t n, uint64_t n_rows,
			       struct mapping_facts *facts);

#endif
