/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Relabel rules: they change the labels of a target, or drop it.
 *
 * Rules run in order, each over what the ones before have left. The values of source_labels (of one that is absent: nothing), with
 * the separator between, are the source.
 *
 *	replace			target_label = replacement, both expanded with what the regex took from the source
 *	keep, drop		the target, when the regex matches the source
 *	keepequal, dropequal	the target, when the source is the value of target_label
 *	hashmod			target_label = the last 8 bytes of the source's MD5, big-endian, modulo modulus
 *	lowercase, uppercase	target_label = the source in that case
 *	labelmap		each label that the regex matches also has the name that replacement expands to
 *	labeldrop, labelkeep	the labels that the regex matches
 *
 * A value that becomes empty removes its label; a name that is none after expansion skips the rule. What may be given together is the
 * caller's to check. Pure; loop thread, one application of the same rules at a time.
 */
#ifndef XAGENT_AGENT_TARGET_RELABEL_H
#define XAGENT_AGENT_TARGET_RELABEL_H

#include "agent/target/label.h"
#include "agent/target/relabel_regex.h"

/* Bytes of a value on its way: so that rules which double it end. A value that is sent has LABEL_VALUE_MAX. */
#define RELABEL_VALUE_MAX ((size_t)64 * 1024)
/* More than any rule list has; a target costs each of them. */
#define RELABEL_RULES_MAX 1024

enum relabel_action {
	RELABEL_REPLACE,
	RELABEL_KEEP,
	RELABEL_DROP,
	RELABEL_HASHMOD,
	RELABEL_LABELMAP,
	RELABEL_LABELDROP,
	RELABEL_LABELKEEP,
	RELABEL_LOWERCASE,
	RELABEL_UPPERCASE,
	RELABEL_KEEPEQUAL,
	RELABEL_DROPEQUAL,
	RELABEL_ACTION_MAX,
};

/* What a rule is; borrowed for the call that takes it. */
struct relabel_config {
	const char *const *source_labels;
	size_t n_source_labels;
	const char *separator;
	const char *regex;
	uint64_t modulus; /* hashmod: not 0 */
	const char *target_label;
	const char *replacement;
	enum relabel_action action;
};

#define RELABEL_CONFIG_INIT       \
	((struct relabel_config){ \
		.separator = ";", .regex = "(.*)", .target_label = "", .replacement = "$1" })

const char *relabel_action_text(enum relabel_action action);
/* In any case ("Replace"). */
bool relabel_action_parse(const char *text, enum relabel_action *ret_action);

/* The name of a label (agent/util/label_name.h) with $1, ${1}, $name or ${name} in the place of any character. */
bool relabel_is_name_template(const char *text);

struct relabel_rules;

/* 0; RELABEL_WRONG with `why` for a regex that is none; -E2BIG beyond RELABEL_RULES_MAX; -ENOMEM. */
int relabel_rules_new(const struct relabel_config *configs, size_t n, struct buf *why,
		      struct relabel_rules **ret_rules);
void relabel_rules_free(struct relabel_rules *rules); /* NULL-safe */
DEFINE_CLEANUP(struct relabel_rules *, relabel_rules_free);

enum relabel_outcome { RELABEL_KEPT, RELABEL_DROPPED };

/* A reference of the labels it has now (to `labels` itself when nothing changed), only for RELABEL_KEPT. -E2BIG: more than
 * LABELS_RAW_MAX; -ENOMEM. */
int relabel_rules_apply(struct relabel_rules *rules, struct labels *labels,
			struct relabel_pass *pass, struct labels **ret_labels);

#endif
