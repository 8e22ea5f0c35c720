/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formats of stacks that the clients of /ingest send besides pprof. Pure but for what `profile` takes.
 *
 *	groups	"root;…;leaf COUNT" lines; a line without a blank is none
 *	lines	"root;…;leaf" lines, each counts one
 *	trie	nodes, each before its children: length, bytes, value, number of children. What the nodes on the way to one have together is a stack's
 *		text
 *	tree	the same, but each node is a frame; the first is above all roots
 *
 * Numbers of the last two are varints of protobuf.
 */
#ifndef XAGENT_AGENT_RECEIVE_STACK_FORMATS_H
#define XAGENT_AGENT_RECEIVE_STACK_FORMATS_H

#include "agent/receive/stack_profile.h"

/* Levels, and bytes of one stack, of a trie or a tree. */
#define STACK_FORMAT_MAX_DEPTH 4096
#define STACK_FORMAT_MAX_STACK ((size_t)1 << 20)

/* All: 0; -EBADMSG with a sentence in `why`; what stack_profile_add() returns. */
int stack_read_groups(struct str text, struct stack_profile *profile, struct buf *why);
int stack_read_lines(struct str text, struct stack_profile *profile, struct buf *why);
int stack_read_trie(struct str bytes, struct stack_profile *profile, struct buf *why);
int stack_read_tree(struct str bytes, struct stack_profile *profile, struct buf *why);

#endif
