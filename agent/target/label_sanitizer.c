/* SPDX-License-Identifier: Apache-2.0 */
/* Makes labels fit to be sent. */
#include "agent/target/label_sanitizer.h"

#include <string.h>

#include "agent/util/arena.h"
#include "agent/util/label_name.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"
#include "bpf/events.h"

/* Every string of the largest input repaired, and what the arena needs besides. */
#define REPAIR_MAX_BYTES (4u << 20)

struct item {
	struct label label;
	const char *given; /* its name before */
	bool renamed;
	size_t index;
};

struct work {
	struct item *items;
	size_t n;
	struct arena repaired; /* strings that are not the caller's */
	struct label_sanitizer_report report;
	const struct label_sanitizer_listener *listener; /* NULL: nobody */
};

static void work_fini(struct work *w)
{
	free(w->items);
	arena_fini(&w->repaired);
}

static void tell(const struct work *w, enum label_sanitizer_what what, const char *name,
		 const char *became)
{
	if (w->listener)
		w->listener->fn(&(struct label_sanitizer_change){ what, name, became },
				w->listener->data);
}

/* A digit is no first character. */
static void repair_name(char *dst, size_t dst_bytes, const char *name, bool colon)
{
	bool digit = name[0] >= '0' && name[0] <= '9';

	dst[0] = '_';
	label_name_repair(dst + digit, dst_bytes - digit, name, colon);
}

/* *text is replaced by its repaired copy when that differs: 1 then, 0 when it was fine; -ENOMEM. */
static int take_repaired(struct work *w, const char *repaired, const char **text)
{
	if (strcmp(repaired, *text) == 0)
		return 0;
	const char *copy = arena_strndup(&w->repaired, repaired, strlen(repaired));
	if (!copy)
		return -ENOMEM;
	*text = copy;
	return 1;
}

static int clean_name(struct work *w, struct item *item)
{
	char name[LABEL_NAME_MAX + 1];

	repair_name(name, sizeof(name), item->label.name, false);
	int r = take_repaired(w, name, &item->label.name);
	if (r > 0) {
		item->renamed = true;
		w->report.n_renamed++;
	}
	return r < 0 ? r : 0;
}

static int clean_value(struct work *w, struct item *item)
{
	char value[LABEL_VALUE_MAX + 1];

	if (strcmp(item->label.name, "__name__") == 0)
		repair_name(value, sizeof(value), item->label.value, true);
	else
		str_copy_utf8(value, sizeof(value), str_from(item->label.value));
	int r = take_repaired(w, value, &item->label.value);
	if (r > 0)
		w->report.n_repaired++;
	return r < 0 ? r : 0;
}

static int clean_label(struct work *w, const struct label *label)
{
	struct item item = { .label = *label, .given = label->name, .index = w->n };

	if (label_name_is_internal(label->name)) {
		w->report.n_internal++;
		return 0;
	}
	if (!label->value[0])
		return 0;
	int r = clean_name(w, &item);
	if (r < 0)
		return r;
	if (!item.label.name[0] || (item.renamed && strncmp(item.label.name, "__", 2) == 0)) {
		w->report.n_renamed -= item.renamed;
		w->report.n_dropped++;
		tell(w, LABEL_SANITIZER_NO_NAME, label->name, "");
		return 0;
	}
	unsigned int n_repaired = w->report.n_repaired;
	r = clean_value(w, &item);
	if (r < 0)
		return r;
	if (item.renamed)
		tell(w, LABEL_SANITIZER_RENAMED, label->name, item.label.name);
	else if (w->report.n_repaired > n_repaired)
		tell(w, LABEL_SANITIZER_VALUE_CHANGED, label->name, item.label.name);
	w->items[w->n++] = item;
	return 0;
}

/* What must not fall off the end comes first. */
static int label_rank(const char *name)
{
	static const char *const first[] = { "__name__", "service_name", "host" };
	int rank = 0;

	while (rank < (int)ARRAY_SIZE(first) && strcmp(name, first[rank]) != 0)
		rank++;
	return rank;
}

/* Of equal names the winner comes first. */
static int item_compare(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int r = label_rank(x->label.name) - label_rank(y->label.name);

	if (r != 0)
		return r;
	r = strcmp(x->label.name, y->label.name);
	if (r != 0)
		return r;
	r = x->renamed - y->renamed;
	return r ? r : (x->index < y->index) - (x->index > y->index);
}

/* The name that a CPU profile gets without any label. */
static bool is_usual_name(const struct label *label)
{
	static const char *const profiles[] = {
#define PROFILE(NAME, name, profile, ...) [EVENT_##NAME] = profile,
		EVENTS(PROFILE, )
#undef PROFILE
	};

	return strcmp(label->name, "__name__") == 0 &&
	       strcmp(label->value, profiles[EVENT_CPU]) == 0;
}

/* How many are left of those that choose() has kept. */
static size_t without_usual_name(struct label *kept, size_t n)
{
	if (!is_usual_name(&kept[0]))
		return n;
	memmove(kept, kept + 1, (n - 1) * sizeof(*kept));
	return n - 1;
}

/* Leaves the first of each name in `ret_kept`: LABELS_MAX with __name__, which a profile has in any case. */
static size_t choose(struct work *w, struct label ret_kept[LABELS_MAX])
{
	size_t n = 0, max = LABELS_MAX;

	if (w->n == 0)
		return 0;
	qsort(w->items, w->n, sizeof(w->items[0]), item_compare);
	if (strcmp(w->items[0].label.name, "__name__") != 0)
		max--;
	for (size_t i = 0; i < w->n; i++) {
		const struct label *label = &w->items[i].label;
		bool again = n > 0 && strcmp(ret_kept[n - 1].name, label->name) == 0;

		if (!again && n < max) {
			ret_kept[n++] = *label;
			continue;
		}
		w->report.n_dropped++;
		tell(w, again ? LABEL_SANITIZER_TWICE : LABEL_SANITIZER_TOO_MANY, w->items[i].given,
		     "");
	}
	return without_usual_name(ret_kept, n);
}

unsigned int label_sanitizer_changes(const struct label_sanitizer_report *report)
{
	return report->n_renamed + report->n_repaired + report->n_dropped;
}

const char *label_sanitizer_what_text(enum label_sanitizer_what what)
{
	static const char *const texts[] = {
#define LABEL_SANITIZER_TEXT(name, text) text,
		LABEL_SANITIZER_CHANGES(LABEL_SANITIZER_TEXT)
#undef LABEL_SANITIZER_TEXT
	};

	return what < ARRAY_SIZE(texts) ? texts[what] : "";
}

int label_sanitizer_clean(const struct label *items, size_t n,
			  struct label_sanitizer_report *ret_report, struct labels **ret_labels)
{
	return label_sanitizer_clean_telling(items, n, NULL, ret_report, ret_labels);
}

int label_sanitizer_clean_telling(const struct label *items, size_t n,
				  const struct label_sanitizer_listener *listener,
				  struct label_sanitizer_report *ret_report,
				  struct labels **ret_labels)
{
	_cleanup_(work_fini) struct work w = { .listener = listener };
	struct label kept[LABELS_MAX];
	int r;

	if (n > LABEL_SANITIZER_ITEMS_MAX)
		return -E2BIG;
	arena_init(&w.repaired, REPAIR_MAX_BYTES);
	w.items = malloc(MAX_OF(n, 1) * sizeof(w.items[0]));
	if (!w.items)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		r = clean_label(&w, &items[i]);
		if (r < 0)
			return r;
	}
	r = labels_new(kept, choose(&w, kept), ret_labels);
	if (r < 0)
		return r;
	*ret_report = w.report;
	return 0;
}
