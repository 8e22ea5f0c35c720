/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as /proc/PID/maps, put into a set of mappings. */
#include <assert.h>

#include "agent/process/maps.h"
#include "agent/process/mapping_edit.h"

static bool put(const struct maps_entry *e, void *data)
{
	struct mapping m = { .begin = e->begin, .end = e->end, .kind = MAPPING_ANON };

	assert(e->begin < e->end && e->begin >> 63 == 0);
	assert(e->path.n < MAPPING_PATH_MAX && (e->path.n == 0 || e->path.p[0] == '/'));
	assert(e->path.n == 0 || e->kind == MAPPING_FILE);
	return mapping_edit_put(data, &m) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mapping_edit edit = { 0 };
	struct mappings *m = NULL;

	(void)maps_parse((struct str){ (const char *)data, size }, put, &edit);
	if (mapping_edit_finish(&edit, &m) < 0)
		return 0;
	for (uint32_t i = 0; i < m->n; i++) {
		assert(m->items[i].begin < m->items[i].end);
		assert(i == 0 || m->items[i - 1].end <= m->items[i].begin);
		assert(mappings_find(m, m->items[i].begin) == &m->items[i]);
	}
	mappings_unref(m);
	return 0;
}
