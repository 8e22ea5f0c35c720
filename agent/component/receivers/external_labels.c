/* SPDX-License-Identifier: Apache-2.0 */
/* The external_labels of pyroscope.write, made valid. */
#include "agent/component/receivers/external_labels.h"

#include <errno.h>
#include <string.h>

#include "agent/target/label_sanitizer.h"
#include "agent/util/log.h"

static void tell(const struct label_sanitizer_change *change, void *data)
{
	log_warn("label changed before it is sent", LOG_STR("component_id", data),
		 LOG_STR("label", change->name),
		 LOG_STR("became", change->became[0] ? change->became : "dropped"),
		 LOG_STR("reason", label_sanitizer_what_text(change->what)));
}

static const char *copy(struct river_arena *arena, const char *text)
{
	return river_arena_strndup(arena, text, strlen(text));
}

/* What became of a label that was changed: one, or none. */
static int take_changed(const struct labels *clean, struct river_arena *arena,
			struct push_label *ret_label, size_t *n)
{
	if (clean->n == 0)
		return 0;
	*ret_label = (struct push_label){ copy(arena, clean->items[0].name),
					  copy(arena, clean->items[0].value) };
	if (!ret_label->name || !ret_label->value)
		return -ENOMEM;
	++*n;
	return 0;
}

static int take(const struct label *label, const char *component_id, struct river_arena *arena,
		struct push_label *ret_label, size_t *n)
{
	_cleanup_(labels_unrefp) struct labels *clean = NULL;
	struct label_sanitizer_listener listener = { tell, (void *)component_id };
	struct label_sanitizer_report report;
	int r = 0;

	if (strncmp(label->name, "__", 2) != 0)
		r = label_sanitizer_clean_telling(label, 1, &listener, &report, &clean);
	if (r < 0)
		return r;
	if (clean && label_sanitizer_changes(&report))
		return take_changed(clean, arena, ret_label, n);
	*ret_label = (struct push_label){ label->name, label->value };
	++*n;
	return 0;
}

int external_labels_clean(const struct river_string_map *given, const char *component_id,
			  struct river_arena *arena, struct push_label *ret_labels, size_t *ret_n)
{
	size_t n = 0;

	for (size_t i = 0; i < given->n_items; i++) {
		struct label label = { given->keys[i], given->values[i] };
		int r = take(&label, component_id, arena, &ret_labels[n], &n);

		if (r < 0)
			return r;
	}
	*ret_n = n;
	return 0;
}
