/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of one table: each distinct one has an id in the order of its first appearance; id 0 is "no rule". In the end they are put
 * in the order of their weight, so that the heaviest get the codes that fit a row, and packed into words.
 *
 *	source's rule ──(hash)──► normalized rule ──(hash)──► id ──(weight)──► index: place among the words; a code when below 255
 *
 * Normalizing costs more than hashing, so it is done once for each distinct rule of the source. In front of both is a memo: of the rules
 * that a compiler writes, few dozen make nearly all rows.
 */
#ifndef XAGENT_AGENT_UNWIND_ROW_RULES_H
#define XAGENT_AGENT_UNWIND_ROW_RULES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "agent/object/rules/dwarf_abi.h"
#include "agent/unwind/row_budget.h"
#include "bpf/rule.h"
#include "bpf/wire.h"

/* Ids have 16 bits. The most that one file of a whole distribution has is 861. */
#define ROW_RULES_MAX 65535
#define ROW_RULES_NONE 0

/* Distinct rules, numbered; found by open addressing. */
struct rule_set {
	struct unwind_rule *rules; /* owned */
	size_t n;
	size_t cap;
	uint16_t *slots; /* number + 1, 0 is empty; owned */
	size_t n_slots;	 /* a power of two, four times n and more */
};

/* By some bits of a hash; one that has another rule is looked up and taken over. 8 KiB, so that it stays in the first cache. */
#define ROW_RULES_MEMO_BITS 8

struct row_rule_memo {
	struct unwind_rule raw;
	uint16_t id;
	bool used;
};

struct row_rules {
	const struct dwarf_abi *abi;
	struct row_budget *budget; /* borrowed */
	struct rule_set raw;
	uint16_t *id_of_raw; /* owned */
	size_t cap_id_of_raw;
	struct rule_set distinct;
	uint64_t *weight; /* of each id: entries that the table would need for it; owned */
	size_t cap_weight;
	uint64_t n_refused; /* rules that had no number left */
	struct row_rule_memo memo[1 << ROW_RULES_MEMO_BITS];
};

/* What ids became. */
struct row_words {
	uint64_t *words; /* owned: struct wire_rule [], then the rules in full */
	uint32_t n_words;
	uint32_t *index_of; /* by id; 0 where there was no room; owned */
};

static inline uint64_t row_rule_word(const struct unwind_rule *rule, size_t i)
{
	uint64_t word;

	memcpy(&word, (const char *)rule + i * sizeof(word), sizeof(word));
	return word;
}

/* Equal rules are equal bytes. */
static inline bool row_rule_equal(const struct unwind_rule *a, const struct unwind_rule *b)
{
	return row_rule_word(a, 0) == row_rule_word(b, 0) &&
	       row_rule_word(a, 1) == row_rule_word(b, 1) &&
	       row_rule_word(a, 2) == row_rule_word(b, 2);
}

/* 0 or -errno, with all released. */
int row_rules_init(struct row_rules *r, const struct dwarf_abi *abi, struct row_budget *budget);
void row_rules_fini(struct row_rules *r);

/* The id of a rule as the source gave it; ROW_RULES_NONE when there are too many. 0, -E2BIG, -ENOMEM. */
int row_rules_number(struct row_rules *r, const struct unwind_rule *raw, uint16_t *ret_id);

/* Offsets have just been written one by one: wider loads would wait until they are in the cache. */
static inline bool row_rule_is(const struct unwind_rule *a, const struct unwind_rule *b)
{
	return row_rule_word(a, 0) == row_rule_word(b, 0) && a->cfa_off == b->cfa_off &&
	       a->fp_off == b->fp_off && a->ra_off == b->ra_off && a->cfa_add == b->cfa_add;
}

/* As row_rules_number(), by the memo. */
static inline int row_rules_id(struct row_rules *r, const struct unwind_rule *raw, uint16_t *ret_id)
{
	/* Golden ratio; rows that follow each other differ in the CFA's offset, a multiple of 8. */
	uint64_t h = (row_rule_word(raw, 0) + (uint32_t)raw->cfa_off +
		      ((uint64_t)(uint32_t)raw->fp_off << 24)) *
		     0x9e3779b97f4a7c15ULL;
	struct row_rule_memo *m = &r->memo[h >> (64 - ROW_RULES_MEMO_BITS)];
	uint64_t n_refused = r->n_refused;

	if (m->used && row_rule_is(&m->raw, raw)) {
		*ret_id = m->id;
		return 0;
	}
	int err = row_rules_number(r, raw, ret_id);
	/* Those that are refused are counted each time. */
	if (err == 0 && r->n_refused == n_refused)
		*m = (struct row_rule_memo){ *raw, *ret_id, true };
	return err;
}

/* Packs all, in order of weight. 0, -E2BIG, -ENOMEM. */
int row_rules_pack(const struct row_rules *r, struct row_words *ret_words);
void row_words_fini(struct row_words *w);

/* False: it does not fit into a word. Pure. */
bool row_rule_pack(const struct unwind_rule *rule, struct wire_rule *ret_packed);
/* As the walk has it: 0 for "no rule", and for one that does not fit a word that says no more than that. Pure. */
uint64_t row_rule_packed(const struct unwind_rule *rule);

#endif
