/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of one table: numbering them. */
#include "agent/unwind/row_rules.h"

#include "agent/object/rules/unwind_info.h"
#include "agent/util/macro.h"

#define SLOTS_MIN 256
/* With a quarter of the slots in use chains are short, unless a file was made to hash badly: then its rules are refused. */
#define MAX_PROBES 64

/* One multiplication a word spreads it over the upper half; constants of SplitMix64 and of the golden ratio. */
static uint32_t rule_hash(const struct unwind_rule *rule)
{
	uint64_t h = row_rule_word(rule, 0) * 0x9e3779b97f4a7c15ULL +
		     row_rule_word(rule, 1) * 0xbf58476d1ce4e5b9ULL +
		     row_rule_word(rule, 2) * 0x94d049bb133111ebULL;

	return (uint32_t)(h >> 32);
}

/* The slot of the rule, or the empty one where it belongs; NULL when neither is near. */
static uint16_t *slot_of(const struct rule_set *s, const struct unwind_rule *rule)
{
	size_t i = rule_hash(rule);

	for (int probe = 0; probe < MAX_PROBES; probe++, i++) {
		uint16_t *slot = &s->slots[i & (s->n_slots - 1)];

		if (*slot == 0 || row_rule_equal(&s->rules[*slot - 1], rule))
			return slot;
	}
	return NULL;
}

static int set_rehash(struct rule_set *s, struct row_budget *budget)
{
	size_t n_slots = MAX_OF(s->n_slots * 2, (size_t)SLOTS_MIN);
	int r = row_budget_charge(budget, (n_slots - s->n_slots) * sizeof(*s->slots));

	if (r < 0)
		return r;
	uint16_t *slots = calloc(n_slots, sizeof(*slots));
	if (!slots) {
		row_budget_release(budget, (n_slots - s->n_slots) * sizeof(*s->slots));
		return -ENOMEM;
	}
	free(s->slots);
	s->slots = slots;
	s->n_slots = n_slots;
	for (size_t i = 0; i < s->n; i++) {
		uint16_t *slot = slot_of(s, &s->rules[i]);

		/* Without a slot it is merely not found again. */
		if (slot)
			*slot = (uint16_t)(i + 1);
	}
	return 0;
}

static int set_reserve(struct rule_set *s, struct row_budget *budget)
{
	int r = 0;

	if ((s->n + 1) * 4 > s->n_slots)
		r = set_rehash(s, budget);
	return r < 0 ? r : row_budget_grow(budget, &s->rules, &s->cap, sizeof(*s->rules), s->n + 1);
}

enum set_outcome {
	SET_FOUND,
	SET_ADDED,
	SET_REFUSED,
};

/* An enum set_outcome with the rule's number, or -errno. */
static int set_number(struct rule_set *s, const struct unwind_rule *rule, struct row_budget *budget,
		      uint16_t *ret_number)
{
	uint16_t *slot = s->n_slots ? slot_of(s, rule) : NULL;
	int r;

	if (slot && *slot) {
		*ret_number = (uint16_t)(*slot - 1);
		return SET_FOUND;
	}
	if (s->n == ROW_RULES_MAX)
		return SET_REFUSED;
	r = set_reserve(s, budget);
	if (r < 0)
		return r;
	slot = slot_of(s, rule);
	if (!slot)
		return SET_REFUSED;
	s->rules[s->n] = *rule;
	*ret_number = (uint16_t)s->n;
	*slot = (uint16_t)++s->n;
	return SET_ADDED;
}

static void set_fini(struct rule_set *s)
{
	free(s->rules);
	free(s->slots);
}

/* Also of the rule that is none: it is looked up like the others. */
static int distinct_id(struct row_rules *r, const struct unwind_rule *rule, uint16_t *ret_id)
{
	int outcome = set_number(&r->distinct, rule, r->budget, ret_id);

	if (outcome == SET_ADDED) {
		int err = row_budget_grow(r->budget, &r->weight, &r->cap_weight, sizeof(*r->weight),
					  r->distinct.n);
		if (err < 0)
			return err;
		r->weight[*ret_id] = 0;
	}
	return outcome;
}

int row_rules_init(struct row_rules *r, const struct dwarf_abi *abi, struct row_budget *budget)
{
	uint16_t id;

	*r = (struct row_rules){ .abi = abi, .budget = budget };
	int err = distinct_id(r, &(struct unwind_rule){ 0 }, &id);
	if (err < 0)
		row_rules_fini(r);
	return err < 0 ? err : 0;
}

void row_rules_fini(struct row_rules *r)
{
	set_fini(&r->raw);
	set_fini(&r->distinct);
	free(r->id_of_raw);
	free(r->weight);
	*r = (struct row_rules){ 0 };
}

static int add_raw(struct row_rules *r, const struct unwind_rule *raw, uint16_t number)
{
	struct unwind_rule rule = *raw;
	uint16_t id = ROW_RULES_NONE;

	unwind_rule_normalize(r->abi, &rule);
	int outcome = distinct_id(r, &rule, &id);
	if (outcome < 0)
		return outcome;
	if (outcome == SET_REFUSED)
		r->n_refused++;
	int err = row_budget_grow(r->budget, &r->id_of_raw, &r->cap_id_of_raw,
				  sizeof(*r->id_of_raw), (size_t)number + 1);
	if (err == 0)
		r->id_of_raw[number] = outcome == SET_REFUSED ? ROW_RULES_NONE : id;
	return err;
}

int row_rules_number(struct row_rules *r, const struct unwind_rule *raw, uint16_t *ret_id)
{
	uint16_t number = 0;
	int outcome = set_number(&r->raw, raw, r->budget, &number);
	int err = 0;

	if (outcome < 0)
		return outcome;
	if (outcome == SET_REFUSED) {
		r->n_refused++;
		*ret_id = ROW_RULES_NONE;
		return 0;
	}
	if (outcome == SET_ADDED)
		err = add_raw(r, raw, number);
	if (err == 0)
		*ret_id = r->id_of_raw[number];
	return err;
}
