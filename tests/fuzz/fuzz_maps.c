/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as /proc/PID/maps, put into a set of mappings. */
#include <assert.h>

#include "agent/process/maps.h"
#include "agent/process/mapping_edit.h"
#include "agent/process/remapped_text.h"

struct target {
	struct mapping_edit edit;
	struct text_scan scan;
};

static void check_guess(const struct text_guess *g, const struct maps_entry *file, void *data)
{
	(void)data;
	assert(g->begin < g->end && g->end >> 63 == 0 && file->kind == MAPPING_FILE);
	assert(g->file_off <= INT64_MAX && g->file_off + (g->end - g->begin) <= INT64_MAX);
	assert(file->path.n < MAPPING_PATH_MAX);
}

static bool put(const struct maps_entry *e, void *data)
{
	struct mapping m = { .begin = e->begin, .end = e->end, .kind = MAPPING_ANON };
	struct target *target = data;

	assert(e->begin < e->end && e->begin >> 63 == 0);
	assert(e->path.n < MAPPING_PATH_MAX && (e->path.n == 0 || e->path.p[0] == '/'));
	assert(e->path.n == 0 || e->kind == MAPPING_FILE);
	assert(e->name.n == 0 || e->kind == MAPPING_ANON);
	assert(e->executable || e->kind == MAPPING_FILE);
	text_scan_entry(&target->scan, e);
	return !e->executable || mapping_edit_put(&target->edit, &m) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct target target = { .scan = { .page = 4096, .fn = check_guess } };
	struct mappings *m = NULL;

	(void)maps_parse((struct str){ (const char *)data, size }, put, &target);
	text_scan_entry(&target.scan, NULL);
	if (mapping_edit_finish(&target.edit, &m) < 0)
		return 0;
	for (uint32_t i = 0; i < m->n; i++) {
		assert(m->items[i].begin < m->items[i].end);
		assert(i == 0 || m->items[i - 1].end <= m->items[i].begin);
		assert(mappings_find(m, m->items[i].begin) == &m->items[i]);
	}
	mappings_unref(m);
	return 0;
}
