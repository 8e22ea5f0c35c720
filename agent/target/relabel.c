/* SPDX-License-Identifier: Apache-2.0 */
/* Relabel rules: one function an action. */
#include "agent/target/relabel.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/target/relabel_case.h"
#include "agent/target/relabel_labels.h"
#include "agent/target/relabel_rule.h"
#include "agent/util/label_name.h"

/* One target on its way through the rules. */
struct work {
	struct relabel_labels labels;
	struct relabel_rules *rules;
	struct relabel_pass *pass;
	struct str source;
};

static const char *first_value(const struct work *w, const struct relabel_rule *rule)
{
	return rule->n_sources ? relabel_labels_get(&w->labels, rule->sources[0]) : "";
}

/* One label is looked at where it is. 0, or a failure of the buffer. */
static int join_source(struct work *w, const struct relabel_rule *rule)
{
	struct buf *b = &w->rules->source;
	const char *value = first_value(w, rule);
	int r;

	if (rule->n_sources <= 1) {
		w->source = str_from(value);
		return 0;
	}
	buf_reset(b);
	r = buf_append_str(b, value);
	if (r < 0)
		return r;
	for (size_t i = 1; i < rule->n_sources; i++) {
		r = buf_append_str(b, rule->separator);
		if (r < 0)
			return r;
		r = buf_append_str(b, relabel_labels_get(&w->labels, rule->sources[i]));
		if (r < 0)
			return r;
	}
	w->source = (struct str){ buf_str(b), b->len };
	return 0;
}

static bool matches(struct work *w, const struct relabel_rule *rule, struct str text,
		    struct relabel_spans *ret_spans)
{
	return relabel_regex_match(rule->regex, text.p, text.n, w->pass, ret_spans);
}

static int expand(const struct relabel_rule *rule, const struct relabel_template *template,
		  struct str text, const struct relabel_spans *spans, struct buf *out)
{
	buf_reset(out);
	return relabel_template_append(template, rule->regex, text.p, spans, out);
}

static int replace(struct work *w, const struct relabel_rule *rule)
{
	struct buf *name = &w->rules->name, *value = &w->rules->value;
	struct relabel_spans spans;
	int r;

	if (!matches(w, rule, w->source, &spans))
		return 0;
	r = expand(rule, &rule->target, w->source, &spans, name);
	if (r < 0 || !label_name_is_valid(buf_str(name)))
		return r;
	r = expand(rule, &rule->replacement, w->source, &spans, value);
	return r < 0 ? r : relabel_labels_set(&w->labels, buf_str(name), buf_str(value));
}

#define MD5_BYTES 16

/* It spreads targets, it protects nothing: where FIPS 140 forbids MD5, this is allowed. */
static int md5(struct str text, uint8_t ret_digest[static MD5_BYTES])
{
	GNUTLS_FIPS140_SET_LAX_MODE();
	int r = gnutls_hash_fast(GNUTLS_DIG_MD5, text.p, text.n, ret_digest);
	GNUTLS_FIPS140_SET_STRICT_MODE();
	return r == 0 ? 0 : r == GNUTLS_E_MEMORY_ERROR ? -ENOMEM : -EIO;
}

static int hashmod(struct work *w, const struct relabel_rule *rule)
{
	struct buf *value = &w->rules->value;
	uint8_t digest[MD5_BYTES];
	uint64_t hash = 0;
	int r = md5(w->source, digest);

	if (r < 0)
		return r;
	for (size_t i = MD5_BYTES / 2; i < MD5_BYTES; i++)
		hash = hash << 8 | digest[i];
	buf_reset(value);
	r = buf_printf(value, "%" PRIu64, rule->modulus ? hash % rule->modulus : 0);
	return r < 0 ? r : relabel_labels_set(&w->labels, rule->target.text, buf_str(value));
}

static int change_case(struct work *w, const struct relabel_rule *rule)
{
	struct buf *value = &w->rules->value;
	int r;

	buf_reset(value);
	r = rule->action == RELABEL_LOWERCASE
		    ? relabel_append_lower(value, w->source.p, w->source.n)
		    : relabel_append_upper(value, w->source.p, w->source.n);
	return r < 0 ? r : relabel_labels_set(&w->labels, rule->target.text, buf_str(value));
}

static int map_name(struct work *w, const struct relabel_rule *rule, const struct label *label)
{
	struct buf *name = &w->rules->name;
	struct str text = str_from(label->name);
	struct relabel_spans spans;
	int r;

	if (!matches(w, rule, text, &spans))
		return 0;
	r = expand(rule, &rule->replacement, text, &spans, name);
	return r < 0 ? r : relabel_labels_set(&w->labels, buf_str(name), label->value);
}

static int name_step(struct work *w, const struct relabel_rule *rule, const struct label *label)
{
	if (rule->action == RELABEL_LABELMAP)
		return map_name(w, rule, label);
	if (matches(w, rule, str_from(label->name), NULL) == (rule->action == RELABEL_LABELDROP))
		relabel_labels_remove(&w->labels, label->name);
	return 0;
}

static int walk_names(struct work *w, const struct relabel_rule *rule)
{
	struct label items[2 * LABELS_RAW_MAX];
	size_t n = relabel_labels_list(&w->labels, items);
	int r = 0;

	for (size_t i = 0; i < n && r >= 0; i++) {
		r = name_step(w, rule, &items[i]);
		if (r == -ENOBUFS) {
			w->pass->n_too_long++;
			r = 0;
		}
	}
	return r;
}

static bool equals_target(const struct work *w, const struct relabel_rule *rule)
{
	return str_eq(str_from(relabel_labels_get(&w->labels, rule->target.text)), w->source);
}

static int drop_if(bool condition)
{
	return condition ? RELABEL_DROPPED : RELABEL_KEPT;
}

static int apply_rule(struct work *w, const struct relabel_rule *rule)
{
	switch (rule->action) {
	case RELABEL_REPLACE:
		return replace(w, rule);
	case RELABEL_KEEP:
		return drop_if(!matches(w, rule, w->source, NULL));
	case RELABEL_DROP:
		return drop_if(matches(w, rule, w->source, NULL));
	case RELABEL_KEEPEQUAL:
		return drop_if(!equals_target(w, rule));
	case RELABEL_DROPEQUAL:
		return drop_if(equals_target(w, rule));
	case RELABEL_HASHMOD:
		return hashmod(w, rule);
	case RELABEL_LOWERCASE:
	case RELABEL_UPPERCASE:
		return change_case(w, rule);
	case RELABEL_LABELMAP:
	case RELABEL_LABELDROP:
	case RELABEL_LABELKEEP:
		return walk_names(w, rule);
	case RELABEL_ACTION_MAX:
		break;
	}
	return RELABEL_KEPT;
}

/* What would become too long leaves the labels as they are. */
static int run_rule(struct work *w, const struct relabel_rule *rule)
{
	int r = join_source(w, rule);

	if (r == 0)
		r = apply_rule(w, rule);
	if (r != -ENOBUFS)
		return r;
	w->pass->n_too_long++;
	return RELABEL_KEPT;
}

int relabel_rules_apply(struct relabel_rules *rules, struct labels *labels,
			struct relabel_pass *pass, struct labels **ret_labels)
{
	struct work w; /* large: only what is used is set */
	int r = RELABEL_KEPT;

	w.rules = rules;
	w.pass = pass;
	relabel_labels_init(&w.labels, labels);
	for (size_t i = 0; i < rules->n && r == RELABEL_KEPT; i++)
		r = run_rule(&w, &rules->items[i]);
	if (r == RELABEL_KEPT)
		r = relabel_labels_finish(&w.labels, ret_labels);
	relabel_labels_fini(&w.labels);
	return r;
}
