/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings from a list, with files that need no table. */
#ifndef XAGENT_TESTS_UNIT_AGENT_UNWIND_MAKE_MAPPINGS_H
#define XAGENT_TESTS_UNIT_AGENT_UNWIND_MAKE_MAPPINGS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>

#include "agent/process/file_table.h"
#include "agent/process/mapping.h"

struct mapping_spec {
	uint64_t begin;
	uint64_t end;
	uint64_t file_off;
	uint64_t inode; /* 0: anonymous */
};

static inline struct mapped_file *make_file(struct file_table *files, uint64_t inode)
{
	struct file_facts facts = { .key = { .dev = 1, .inode = inode },
				    .path = STR_LIT("/bin/x") };
	struct mapped_file *f = NULL;

	assert_int_equal(file_table_get(files, &facts, &f), 0);
	return f;
}

/* One reference, to be dropped by mappings_unref(). */
static inline struct mappings *make_mappings(struct file_table *files,
					     const struct mapping_spec *specs, uint32_t n)
{
	struct mappings *m = calloc(1, sizeof(*m) + n * sizeof(m->items[0]));

	assert_non_null(m);
	m->n_refs = 1;
	m->n = n;
	for (uint32_t i = 0; i < n; i++)
		m->items[i] = (struct mapping){
			.begin = specs[i].begin,
			.end = specs[i].end,
			.file_off = specs[i].file_off,
			.kind = specs[i].inode ? MAPPING_FILE : MAPPING_ANON,
			.file = specs[i].inode ? make_file(files, specs[i].inode) : NULL,
		};
	return m;
}

#endif
