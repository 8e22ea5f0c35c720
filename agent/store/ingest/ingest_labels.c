/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for labels of a series, in the words of the server. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/ingest/ingest_private.h"
#include "agent/util/label_name.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

#define NAME "__name__"
#define SERVICE "service_name"
/* What a push without the label is filed under. */
#define UNKNOWN_SERVICE "unknown_service"
/* A profiler's own form of names for what it has already subtracted. */
#define DELTA_PREFIX "godeltaprof_"

/* Told by the server, or meant for it: no series has them from outside. */
static const char *const own_names[] = { "__delta__",	     "__period_type__",	 "__period_unit__",
					 "__profile_type__", "__service_name__", "__session_id__",
					 "__type__",	     "__unit__" };

int ingest_compare_labels(const void *a, const void *b)
{
	return strcmp(((const struct label *)a)->name, ((const struct label *)b)->name);
}

static void print_quoted(const char *text, struct buf *out)
{
	(void)buf_append_char(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			(void)buf_append_char(out, '\\');
		if (*text == '\n')
			(void)buf_append_str(out, "\\n");
		else
			(void)buf_append_char(out, *text);
	}
	(void)buf_append_char(out, '"');
}

void ingest_print_labels(const struct ingest_labels *labels, struct buf *out)
{
	(void)buf_append_char(out, '{');
	for (size_t i = 0; i < labels->n; i++) {
		(void)buf_printf(out, "%s%s=", i > 0 ? ", " : "", labels->items[i].name);
		print_quoted(labels->items[i].value, out);
	}
	(void)buf_append_char(out, '}');
}

static const char *find_value(const struct ingest_labels *labels, const char *name)
{
	for (size_t i = 0; i < labels->n; i++)
		if (strcmp(labels->items[i].name, name) == 0)
			return labels->items[i].value;
	return NULL;
}

int ingest_take_labels(struct ingest *in, const struct labels *labels, struct buf *why)
{
	size_t n = labels ? labels->n : 0;
	struct label *items = ingest_memory_alloc(&in->memory, (n + 1) * sizeof(*items));

	if (!items)
		return ingest_no_memory(in, why);
	if (n > 0)
		memcpy(items, labels->items, n * sizeof(*items));
	in->base = (struct ingest_labels){ items, n };
	if (find_value(&in->base, SERVICE))
		return INGEST_OPENED;
	items[in->base.n++] = (struct label){ SERVICE, UNKNOWN_SERVICE };
	qsort(items, in->base.n, sizeof(*items), ingest_compare_labels);
	return INGEST_OPENED;
}

static int refuse(const struct ingest_labels *labels, struct buf *why, const char *before,
		  const char *after, const char *text)
{
	(void)buf_append_str(why, before);
	(void)buf_append_str(why, " '");
	ingest_print_labels(labels, why);
	(void)buf_append_str(why, "' ");
	(void)buf_append_str(why, after);
	if (text)
		(void)buf_printf(why, " '%s'", text);
	return INGEST_REFUSED_LABELS;
}

/* A dot becomes an underscore. */
static bool is_name(const char *name)
{
	if (!label_name_is_first(*name))
		return false;
	while (label_name_is_next(*name) || *name == '.')
		name++;
	return !*name;
}

static int check_label(const struct ingest_labels *labels, const struct label *l, struct buf *why)
{
	static const char bad[] = "invalid labels", with[] = "profile with labels";

	if (strlen(l->name) > LABEL_NAME_MAX)
		return refuse(labels, why, with, "has label name too long:", l->name);
	if (strlen(l->value) > LABEL_VALUE_MAX)
		return refuse(labels, why, with, "has label value too long:", l->value);
	if (!is_name(l->name))
		return refuse(labels, why, bad, "with error: invalid label name", l->name);
	if (!str_is_utf8(str_from(l->value)))
		return refuse(labels, why, bad, "with error: invalid label value", l->value);
	return INGEST_OPENED;
}

static int check_all(const struct ingest_labels *labels, struct buf *why)
{
	const char *name = find_value(labels, NAME);

	if (!name || !name[0])
		return refuse(labels, why, "invalid labels", "with error: invalid metric name",
			      NULL);
	if (labels->n > LABELS_MAX) {
		(void)buf_append_str(why, "profile series '");
		ingest_print_labels(labels, why);
		(void)buf_printf(why, "' has %zu label names; limit %d", labels->n, LABELS_MAX);
		return INGEST_REFUSED_LABELS;
	}
	for (size_t i = 0; i < labels->n; i++) {
		int r = check_label(labels, &labels->items[i], why);

		if (r != INGEST_OPENED)
			return r;
	}
	return INGEST_OPENED;
}

/* "a.b" becomes "a_b", unless that is there as well. */
static int replace_dots(struct ingest *in, const struct ingest_labels *labels, struct label *l,
			struct buf *why)
{
	if (!strchr(l->name, '.'))
		return INGEST_OPENED;
	size_t n = strlen(l->name) + 1;
	char *name = ingest_memory_alloc(&in->memory, n);

	if (!name)
		return ingest_no_memory(in, why);
	memcpy(name, l->name, n);
	for (char *p = name; (p = strchr(p, '.'));)
		*p = '_';
	if (find_value(labels, name)) {
		int r = refuse(labels, why, "profile with labels", "has duplicate label name",
			       name);

		(void)buf_printf(why, " after label name sanitization from '%s'", l->name);
		return r;
	}
	l->name = name;
	return INGEST_OPENED;
}

static bool is_own(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(own_names); i++)
		if (strcmp(own_names[i], name) == 0)
			return true;
	return false;
}

/* `labels` has room for one more. */
static void relabel(struct ingest_labels *labels)
{
	size_t n = 0, n_prefix = strlen(DELTA_PREFIX);

	for (size_t i = 0; i < labels->n; i++)
		if (!is_own(labels->items[i].name) && labels->items[i].value[0])
			labels->items[n++] = labels->items[i];
	labels->n = n;
	for (size_t i = 0; i < n; i++) {
		struct label *l = &labels->items[i];

		if (strcmp(l->name, NAME) != 0 || strncmp(l->value, DELTA_PREFIX, n_prefix) != 0 ||
		    !l->value[n_prefix])
			continue;
		if (!find_value(labels, "__name_replaced__"))
			labels->items[labels->n++] =
				(struct label){ "__name_replaced__", l->value };
		l->value += n_prefix;
	}
}

int ingest_check_labels(struct ingest *in, struct ingest_labels *labels, struct buf *why)
{
	int r = check_all(labels, why);

	for (size_t i = 0; i < labels->n && r == INGEST_OPENED; i++)
		r = replace_dots(in, labels, &labels->items[i], why);
	if (r != INGEST_OPENED)
		return r;
	relabel(labels);
	return INGEST_OPENED;
}
