/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of rules by target: of ten thousand targets a few dozen are others than the last time.
 *
 * A memo belongs to one set of rules. Each time all targets go by, those that did not come are forgotten. Equal targets have one result,
 * which is the same object each time. Loop thread.
 */
#ifndef XAGENT_AGENT_TARGET_RELABEL_MEMO_H
#define XAGENT_AGENT_TARGET_RELABEL_MEMO_H

#include <stdint.h>

#include "agent/target/relabel.h"
#include "agent/util/hash.h"

struct relabel_memo {
	struct hash_table by_target;
	uint64_t round;
	size_t n_seen; /* of the entries, in this round */
};

/* Zeroed: empty. */
void relabel_memo_fini(struct relabel_memo *m); /* empty afterwards */
#define _cleanup_relabel_memo_ _cleanup_(relabel_memo_fini)

/* A round: begin, each target, end if all went well. */
void relabel_memo_begin(struct relabel_memo *m);
/* As relabel_rules_apply(). What took too long, or was too long, is not remembered: each time it is to be told. */
int relabel_memo_apply(struct relabel_memo *m, struct relabel_rules *rules, struct labels *target,
		       struct relabel_pass *pass, struct labels **ret_labels);
void relabel_memo_end(struct relabel_memo *m);

#endif
