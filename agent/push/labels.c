/* SPDX-License-Identifier: Apache-2.0 */
/* Which labels are sent. */
#include "agent/push/labels.h"

#include <stdbool.h>
#include <string.h>

#include "agent/util/label_name.h"
#include "agent/util/str.h"

/* The server gives a profile without these to nobody, so they are never the ones that find no room.
 */
static const char *const push_first_names[] = { "__name__", "service_name" };

static bool push_label_ok(const struct push_label *label)
{
	struct str value = str_from(label->value);

	return label_name_is_valid(label->name) &&
	       strlen(label->name) <= PUSH_MAX_LABEL_NAME_BYTES &&
	       value.n <= PUSH_MAX_LABEL_VALUE_BYTES && str_is_utf8(value);
}

static bool push_labels_has(const struct push_labels *labels, const char *name)
{
	for (size_t i = 0; i < labels->n; i++)
		if (strcmp(labels->items[i].name, name) == 0)
			return true;
	return false;
}

/* What came first wins, so the callers go from the strongest source to the weakest. */
static void push_labels_take(struct push_labels *labels, const struct push_label *label)
{
	size_t at = labels->n;

	if (!label->value[0] || push_labels_has(labels, label->name))
		return;
	if (labels->n == PUSH_MAX_LABELS || !push_label_ok(label)) {
		labels->n_dropped++;
		return;
	}
	for (; at > 0 && strcmp(labels->items[at - 1].name, label->name) > 0; at--)
		labels->items[at] = labels->items[at - 1];
	labels->items[at] = *label;
	labels->n++;
}

static const struct push_label *push_label_find(const struct push_label *labels, size_t n,
						const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(labels[i].name, name) == 0 && labels[i].value[0])
			return &labels[i];
	return NULL;
}

static void push_labels_take_first(struct push_labels *out, const struct push_label *labels,
				   size_t n_labels, const struct push_label *external,
				   size_t n_external)
{
	for (size_t i = 0; i < sizeof(push_first_names) / sizeof(push_first_names[0]); i++) {
		const struct push_label *found =
			push_label_find(external, n_external, push_first_names[i]);

		if (!found)
			found = push_label_find(labels, n_labels, push_first_names[i]);
		if (found && push_label_ok(found))
			push_labels_take(out, found);
	}
}

void push_labels_select(const struct push_label *labels, size_t n_labels,
			const struct push_label *external, size_t n_external,
			struct push_labels *ret_labels)
{
	struct push_labels out = { .n = 0 };

	push_labels_take_first(&out, labels, n_labels, external, n_external);
	for (size_t i = 0; i < n_external; i++)
		push_labels_take(&out, &external[i]);
	for (size_t i = 0; i < n_labels; i++)
		if (!label_name_is_internal(labels[i].name))
			push_labels_take(&out, &labels[i]);
	*ret_labels = out;
}

void push_labels_add(struct push_labels *labels, const struct push_label *label)
{
	if (labels->n == PUSH_MAX_LABELS) {
		labels->n--;
		labels->n_dropped++;
	}
	push_labels_take(labels, label);
}

void push_labels_print(const struct push_label *labels, size_t n, struct buf *out)
{
	(void)buf_append_char(out, '{');
	for (size_t i = 0; i < n; i++)
		(void)buf_printf(out, "%s%s=\"%s\"", i > 0 ? ", " : "", labels[i].name,
				 labels[i].value);
	(void)buf_append_char(out, '}');
}
