/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the parser of regular expressions share; for relabel_syntax.c and its parts only. */
#ifndef XAGENT_AGENT_TARGET_RELABEL_PARSER_H
#define XAGENT_AGENT_TARGET_RELABEL_PARSER_H

#include <stdbool.h>
#include <string.h>

#include "agent/target/relabel_syntax.h"

/* PCRE2 takes 250 groups within each other, and some of what is written stands in a group of its own. */
#define RELABEL_DEPTH_MAX 200
/* A compiled expression of PCRE2 as distributions build it (2 bytes a link) has at most 64 KiB. */
#define RELABEL_TEXT_MAX ((size_t)64 * 1024)

enum parser_flags {
	PARSER_FOLD = 1 << 0,	   /* i */
	PARSER_MULTILINE = 1 << 1, /* m */
	PARSER_DOT_NL = 1 << 2,	   /* s */
	PARSER_LAZY = 1 << 3,	   /* U */
};

/* One open parenthesis, or the whole. */
struct parser_level {
	unsigned int flags;	/* of what is around it */
	bool fold_written;	/* the same, as it was written */
	size_t start;		/* of what was written for it */
	unsigned int n_repeats; /* the most often that anything in it is repeated */
};

struct parser {
	const char *whole;
	const char *at; /* up to a NUL */
	struct buf *out;
	struct buf *why;
	struct relabel_groups *groups;
	unsigned int flags;
	bool fold_written; /* (?i) is in force in what was written; written when something depends on it */
	struct parser_level levels[RELABEL_DEPTH_MAX];
	size_t depth;

	/* What a repetition would repeat. */
	bool has_atom;
	bool is_repeated;
	size_t atom; /* where it was written */
	unsigned int atom_repeats;
	const char *repeat; /* a repetition right before, or NULL */
	unsigned int n_guards;
};

static inline bool parser_is_alnum(uint32_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline const char *parser_end(const char *s)
{
	return s + strlen(s);
}

/* All that return something return 0, RELABEL_WRONG or -errno. */

/* What is wrong, and the part of the text it is about. */
int parser_refuse(struct parser *p, const char *what, const char *from, const char *to);
/* The next character, at most one of four bytes. */
int parser_next(struct parser *p, uint32_t *ret_char);
int parser_check_utf8(struct parser *p, const char *from, const char *to);
/* From a backslash on: one character. */
int parser_escape(struct parser *p, uint32_t *ret_char);

/* Begins what may be repeated, with the flags it needs. */
void parser_atom(struct parser *p);
void parser_write(struct parser *p, const char *text);
/* A character or a range of a class; those that no text has (surrogates) are left out. */
void parser_write_range(struct parser *p, uint32_t first, uint32_t last);

void parser_literal(struct parser *p, uint32_t c);
void parser_write_fold(struct parser *p);

/* From a parenthesis on; a group in between is written as `text` and has these flags. */
int parser_group(struct parser *p);
int parser_open(struct parser *p, const char *text, unsigned int flags);
int parser_close(struct parser *p);
/* The level knows how often its last atom is repeated. */
void parser_note_repeats(struct parser *p);

/* * + ?, and counts in braces; *ret_taken is whether the brace began one. */
int parser_repeat(struct parser *p);
int parser_counted_repeat(struct parser *p, bool *ret_taken);

/* From a '[' on. */
int parser_class(struct parser *p);
/* \d \D \s \S \w \W \pL \PL \p{…} outside of a class and within; *ret_taken is whether there was one. */
int parser_class_escape(struct parser *p, bool in_class, bool *ret_taken);

/* `\p{name}` for PCRE2, without sign and without braces: false when Unicode has no such name. */
bool parser_property(const char *name, size_t n, char *ret_name, size_t size);

#endif
