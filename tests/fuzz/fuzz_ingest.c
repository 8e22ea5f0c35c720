/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request of /ingest, from its query and body to profiles. Lines in front say what the query has, by their first letter; the body begins
 * behind an empty one:
 *
 *	n NAME	t CONTENT-TYPE	f FORMAT	r RATE	b FROM	u UNTIL	s SPY	e CONTENT-ENCODING
 *
 * What comes out has labels and a pprof that a server would take; what is refused says why.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "agent/receive/ingest_request.h"
#include "agent/store/ingest/ingest.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW_NS (UINT64_C(1700000000) * NS_PER_S)

struct texts {
	char *items[16];
	size_t n;
};

static const char **field_of(struct ingest_query *q, char letter)
{
	switch (letter) {
	case 'n':
		return &q->name;
	case 't':
		return &q->content_type;
	case 'f':
		return &q->format;
	case 'r':
		return &q->sample_rate;
	case 'b':
		return &q->from;
	case 'u':
		return &q->until;
	case 's':
		return &q->spy_name;
	case 'e':
		return &q->content_encoding;
	default:
		return NULL;
	}
}

static void take_line(struct ingest_query *q, struct str line, struct texts *texts)
{
	const char **field = line.n >= 2 && line.p[1] == ' ' ? field_of(q, line.p[0]) : NULL;

	if (!field || texts->n == ARRAY_SIZE(texts->items))
		return;
	*field = texts->items[texts->n] = strndup(line.p + 2, line.n - 2);
	assert(*field);
	texts->n++;
}

static void check_item(const struct receive_item *item)
{
	struct buf why = BUF_INIT(1000);

	assert(labels_get(item->labels, "service_name") || labels_get(item->labels, "app_name"));
	assert(item->labels->n <= LABELS_RAW_MAX && item->pprof->n > 0);
	assert(ingest_look(item->pprof->data, item->pprof->n, NULL, &why) == INGEST_OPENED);
	buf_fini(&why);
}

static void check(const struct receive_items *items, const struct receive_verdict *v)
{
	if (v->refusal != RECEIVE_TAKEN) {
		assert(items->n == 0 && v->status >= 400 && v->why.len > 0);
		return;
	}
	assert(v->status == 200);
	for (size_t i = 0; i < items->n; i++)
		check_item(&items->items[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct read_budget_options options = { .inflated_bytes = (size_t)16 << 20,
						     .elements = (size_t)1 << 20,
						     .cpu_ns = 5 * NS_PER_S };
	struct str rest = { (const char *)data, size }, line;
	struct receive_verdict verdict = RECEIVE_VERDICT_INIT;
	struct receive_items items = { 0 };
	struct ingest_query query = { 0 };
	struct texts texts = { .n = 0 };
	struct read_budget budget;

	while (str_split(&rest, '\n', &line) && line.n > 0)
		take_line(&query, line, &texts);
	read_budget_init(&budget, &options);
	read_budget_begin(&budget);
	ingest_request_read(&query, rest, NOW_NS, &budget, &items, &verdict);
	read_budget_end(&budget);
	check(&items, &verdict);
	receive_items_fini(&items);
	buf_fini(&verdict.why);
	for (size_t i = 0; i < texts.n; i++)
		free(texts.items[i]);
	return 0;
}
