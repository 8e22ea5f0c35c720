/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of one table: from ids to words.
 *
 *	words	| none | the heaviest … | … the lightest | rules in full, three words each |
 *	index	  0      1 … 254: codes   255 …            named by the word of their rule
 */
#include "agent/unwind/row_rules.h"

#include <string.h>

#include "agent/util/cleanup.h"

#define FULL_RULE_WORDS (sizeof(struct unwind_rule) / WIRE_WORD_BYTES)
/* All words lie in one segment, whose first word may be nobody's. */
#define MAX_WORDS (WIRE_SEGMENT_WORDS - 1)

static bool pack_fp(const struct unwind_rule *rule, struct wire_rule *to)
{
	if (rule->fp == RULE_FP_REG || rule->fp_off < INT16_MIN || rule->fp_off > INT16_MAX)
		return false;
	/* The frame pointer's number is that of the machine the walk runs on; tables of others are only looked at. */
	if (rule->fp == RULE_FP_DEREF && rule->fp_reg != WIRE_ABI_FP)
		return false;
	to->fp_ra = rule->fp;
	to->fp_off = (int16_t)rule->fp_off;
	return true;
}

static bool pack_ra(const struct unwind_rule *rule, struct wire_rule *to)
{
	unsigned int kind;

	if (rule->ra == RULE_RA_CFA && rule->ra_off == -8)
		kind = WIRE_RA_CFA_8;
	else if (rule->ra == RULE_RA_CFA && rule->ra_off == (int64_t)rule->fp_off + 8)
		kind = WIRE_RA_FP_8;
	else if (rule->ra == RULE_RA_REG && rule->ra_reg == RULE_ARM64_LR)
		kind = WIRE_RA_LINK;
	else if (rule->ra == RULE_RA_UNDEFINED)
		kind = WIRE_RA_UNDEFINED;
	else if (rule->ra == RULE_RA_SIGNAL)
		kind = WIRE_RA_SIGNAL;
	else
		return false;
	to->fp_ra |= (uint8_t)(kind << 4);
	return true;
}

bool row_rule_pack(const struct unwind_rule *rule, struct wire_rule *ret_packed)
{
	struct wire_rule to = { .cfa_off = rule->cfa_off };

	if (rule->cfa > WIRE_RULE_CFA(0xff) || rule->cfa_reg > WIRE_RULE_CFA_REG(0xff) ||
	    rule->cfa_add != 0)
		return false;
	to.cfa = (uint8_t)(rule->cfa << 5 | rule->cfa_reg);
	if (rule->flags & RULE_SWITCH)
		to.cfa |= WIRE_RULE_SWITCH;
	if (to.cfa == WIRE_RULE_FULL || !pack_fp(rule, &to) || !pack_ra(rule, &to))
		return false;
	*ret_packed = to;
	return true;
}

static uint64_t word_of(const struct wire_rule *packed)
{
	uint64_t word;

	memcpy(&word, packed, sizeof(word));
	return word;
}

uint64_t row_rule_packed(const struct unwind_rule *rule)
{
	struct wire_rule packed;

	if (rule->cfa == RULE_CFA_NONE)
		return 0;
	if (!row_rule_pack(rule, &packed))
		packed = (struct wire_rule){ .cfa = WIRE_RULE_FULL };
	return word_of(&packed);
}

/* In the order of their weight; of equal ones the first seen is first, so that a file always gives the same table. */
struct ranked {
	uint64_t weight;
	uint32_t id;
};

static int by_weight(const void *va, const void *vb)
{
	const struct ranked *a = va;
	const struct ranked *b = vb;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static struct ranked *rank(const struct row_rules *r)
{
	struct ranked *ranked = calloc(r->distinct.n, sizeof(*ranked));

	if (!ranked)
		return NULL;
	for (size_t id = 0; id < r->distinct.n; id++)
		ranked[id] = (struct ranked){ r->weight[id], (uint32_t)id };
	/* No rule is index 0, whatever its weight. */
	qsort(ranked + 1, r->distinct.n - 1, sizeof(*ranked), by_weight);
	return ranked;
}

/* How many of the ranked rules fit: one that is kept in full needs four words. */
static uint32_t count_that_fit(const struct row_rules *r, const struct ranked *ranked,
			       uint32_t *ret_n_words)
{
	struct wire_rule packed;
	uint32_t n_words = 1;
	uint32_t n = 1;

	for (; n < r->distinct.n; n++) {
		bool is_packed = row_rule_pack(&r->distinct.rules[ranked[n].id], &packed);
		uint32_t need = is_packed ? 1 : 1 + FULL_RULE_WORDS;

		if (need > MAX_WORDS - n_words)
			break;
		n_words += need;
	}
	*ret_n_words = n_words;
	return n;
}

static void fill(const struct row_rules *r, const struct ranked *ranked, uint32_t n,
		 struct row_words *w)
{
	uint32_t full_at = n;

	/* The word of "no rule" is 0, as it was made. */
	for (uint32_t i = 1; i < n; i++) {
		const struct unwind_rule *rule = &r->distinct.rules[ranked[i].id];
		struct wire_rule packed;

		w->index_of[ranked[i].id] = i;
		if (!row_rule_pack(rule, &packed)) {
			packed = (struct wire_rule){ .cfa = WIRE_RULE_FULL,
						     .cfa_off = (int32_t)full_at };
			memcpy(&w->words[full_at], rule, sizeof(*rule));
			full_at += FULL_RULE_WORDS;
		}
		w->words[i] = word_of(&packed);
	}
}

int row_rules_pack(const struct row_rules *r, struct row_words *ret_words)
{
	_cleanup_(row_words_fini) struct row_words w = { 0 };
	_cleanup_free_ struct ranked *ranked = NULL;
	/* Ranks are gone when the words are filled; 16 bytes and 4 for each id. */
	int err = row_budget_charge(r->budget, r->distinct.n * 20);

	if (err < 0)
		return err;
	ranked = rank(r);
	if (!ranked)
		return -ENOMEM;
	uint32_t n = count_that_fit(r, ranked, &w.n_words);
	w.words = calloc(w.n_words, sizeof(*w.words));
	w.index_of = calloc(r->distinct.n, sizeof(*w.index_of));
	if (!w.words || !w.index_of)
		return -ENOMEM;
	fill(r, ranked, n, &w);
	*ret_words = w;
	w = (struct row_words){ 0 };
	return 0;
}

void row_words_fini(struct row_words *w)
{
	free(w->words);
	free(w->index_of);
	*w = (struct row_words){ 0 };
}
