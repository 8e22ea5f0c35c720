/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes → labels (lines of name=value) → label sanitizer: whatever comes in, what goes out is fit to be
 * sent, and clean labels stay. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "agent/target/label_sanitizer.h"
#include "agent/target/selector.h"
#include "agent/target/service_name.h"
#include "agent/util/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_label(const struct label *l, const struct label *previous)
{
	static const char chars[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	size_t n = strlen(l->name), n_value = strlen(l->value);

	assert(n > 0 && n <= LABEL_NAME_MAX && strspn(l->name, chars) == n &&
	       !strchr("0123456789", l->name[0]));
	assert(n_value > 0 && n_value <= LABEL_VALUE_MAX && str_is_utf8(str_from(l->value)));
	assert(strncmp(l->name, "__", 2) != 0 || !strcmp(l->name, "__name__") ||
	       !strcmp(l->name, "__delta__"));
	assert(!previous || strcmp(previous->name, l->name) < 0);
}

static void count_change(const struct label_sanitizer_change *change, void *data)
{
	assert(change->name && change->became && label_sanitizer_what_text(change->what)[0]);
	++*(unsigned int *)data;
}

static void check_clean(const struct label *items, size_t n)
{
	_cleanup_(labels_unrefp) struct labels *clean = NULL, *again = NULL;
	struct label_sanitizer_report report;
	unsigned int n_told = 0;

	if (label_sanitizer_clean_telling(
		    items, n, &(struct label_sanitizer_listener){ count_change, &n_told }, &report,
		    &clean) < 0)
		return;
	/* A name and its value are one change. */
	assert(n_told <= label_sanitizer_changes(&report) &&
	       !n_told == !label_sanitizer_changes(&report));
	const char *name = labels_get(clean, "__name__");
	assert(clean->n + !name <= LABELS_MAX && (!name || strcmp(name, "process_cpu") != 0));
	for (size_t i = 0; i < clean->n; i++)
		check_label(&clean->items[i], i > 0 ? &clean->items[i - 1] : NULL);
	assert(label_sanitizer_clean(clean->items, clean->n, &report, &again) == 0);
	assert(labels_equal(clean, again) && label_sanitizer_changes(&report) == 0);
}

static void check_name(const struct label *items, size_t n)
{
	_cleanup_(labels_unrefp) struct labels *raw = NULL;
	struct service_name name;
	struct selector by;

	if (labels_new(items, n, &raw) < 0)
		return;
	if (service_name_from_labels(raw, &name))
		assert(name.text[0] && str_is_utf8(str_from(name.text)));
	selector_from_labels(raw, &by);
	assert((by.kind == SELECTOR_PID) == (by.pid != 0) &&
	       (by.kind == SELECTOR_CONTAINER) == !!by.container_id);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct label items[LABEL_SANITIZER_ITEMS_MAX + 1];
	_cleanup_free_ char *text = malloc(size + 1);
	char *rest = text;
	size_t n = 0;

	if (!text)
		return 0;
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	while (rest && n <= LABEL_SANITIZER_ITEMS_MAX) {
		char *name = strsep(&rest, "\n"), *value = strchr(name, '=');

		if (value)
			*value++ = '\0';
		items[n++] = (struct label){ name, value ? value : "" };
	}
	check_clean(items, n);
	check_name(items, n);
	return 0;
}
