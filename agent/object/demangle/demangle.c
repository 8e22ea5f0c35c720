/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names as people write them, by libiberty.
 *
 * A mangled name of a few hundred bytes can stand for gigabytes of text: substitutions double it
 * again and again. libiberty hands its text to a callback in pieces, which cannot say "enough"; so
 * the callback jumps out. The C++ and Rust demanglers hold nothing but stack memory while they
 * print, which makes that safe. The D demangler has no callback, and is kept to names that cannot
 * grow.
 */
#include "agent/object/demangle/demangle.h"

#include <ctype.h>
#include <errno.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/demangle/simplify.h"

/* libiberty.h, which its demangle.h includes, has an ARRAY_SIZE of its own: agent/util/macro.h
 * cannot be included beside it. */

static const char *const mode_texts[DEMANGLE_MODE_MAX] = {
	[DEMANGLE_NONE] = "none",
	[DEMANGLE_SIMPLIFIED] = "simplified",
	[DEMANGLE_TEMPLATES] = "templates",
	[DEMANGLE_FULL] = "full",
};

bool demangle_mode_parse(struct str text, enum demangle_mode *ret_mode)
{
	for (int i = 0; i < DEMANGLE_MODE_MAX; i++) {
		if (!str_eq(text, str_from(mode_texts[i])))
			continue;
		*ret_mode = (enum demangle_mode)i;
		return true;
	}
	return false;
}

const char *demangle_mode_text(enum demangle_mode mode)
{
	return mode_texts[mode];
}

/*
 * What compilers append to the name of a function that they split or copied: GCC's .cold, .part.N,
 * .isra.N, .constprop.N, .lto_priv.N, .localalias; Clang's .llvm.N, .__uniq.N, .hot, .unlikely.
 * Others (._omp_fn.0, .avx2) are functions of their own.
 */
static const struct {
	struct str text;
	bool needs_number;
} clone_suffixes[] = {
	{ STR_LIT(".cold"), false },	{ STR_LIT(".part"), true },
	{ STR_LIT(".isra"), true },	{ STR_LIT(".constprop"), true },
	{ STR_LIT(".lto_priv"), true }, { STR_LIT(".localalias"), false },
	{ STR_LIT(".llvm"), true },	{ STR_LIT(".__uniq"), true },
	{ STR_LIT(".hot"), false },	{ STR_LIT(".unlikely"), false },
};

static struct str without_number(struct str s, bool *ret_number)
{
	size_t n = s.n;

	*ret_number = false;
	while (n > 0 && isdigit((unsigned char)s.p[n - 1]))
		n--;
	if (n == s.n || n == 0 || s.p[n - 1] != '.')
		return s;
	*ret_number = true;
	return (struct str){ s.p, n - 1 };
}

static bool cut_clone_suffix(struct str *name)
{
	bool number;
	struct str s = without_number(*name, &number);

	for (size_t i = 0; i < ARRAY_SIZE(clone_suffixes); i++) {
		struct str suffix = clone_suffixes[i].text;

		if ((clone_suffixes[i].needs_number && !number) || s.n <= suffix.n ||
		    !str_ends_with(s, suffix))
			continue;
		*name = (struct str){ s.p, s.n - suffix.n };
		return true;
	}
	return false;
}

struct sink {
	struct buf *out;
	jmp_buf enough;
};

static void take_piece(const char *piece, size_t n, void *data)
{
	struct sink *sink = data;

	if (buf_append(sink->out, piece, n) < 0)
		longjmp(sink->enough, 1);
}

enum language { LANGUAGE_CXX, LANGUAGE_RUST, LANGUAGE_D, LANGUAGE_MAX };

/* True when `out` holds the whole text. Own function, so that no local lives across setjmp. */
static bool print_name(const char *name, enum language language, int options, struct buf *out)
{
	struct sink sink = { .out = out };
	int ok;

	if (setjmp(sink.enough) != 0)
		return false;
	if (language == LANGUAGE_RUST)
		ok = rust_demangle_callback(name, options, take_piece, &sink);
	else
		ok = cplus_demangle_v3_callback(name, options, take_piece, &sink);
	return ok && !out->failed && out->len > 0;
}

static bool print_d_name(const char *name, size_t n, struct buf *out)
{
	size_t n_references = 0;

	for (size_t i = 0; i < n; i++)
		n_references += name[i] == 'Q';
	if (n > DEMANGLE_MAX_D_NAME_BYTES || n_references > DEMANGLE_MAX_D_REFERENCES)
		return false;
	_cleanup_free_ char *text = dlang_demangle(name, DMGL_NO_OPTS);
	return text && text[0] && buf_append_str(out, text) == 0;
}

/* _Z… and what stands before it for static constructors and blocks; _R… of Rust v0; _D and a
 * length, or main, of D. */
static bool looks_like(struct str name, enum language language)
{
	switch (language) {
	case LANGUAGE_RUST:
		return str_starts_with(name, STR_LIT("_R")) ||
		       str_starts_with(name, STR_LIT("_ZN"));
	case LANGUAGE_CXX:
		return str_starts_with(name, STR_LIT("_Z")) ||
		       str_starts_with(name, STR_LIT("___Z")) ||
		       str_starts_with(name, STR_LIT("_GLOBAL_"));
	case LANGUAGE_D:
		return str_starts_with(name, STR_LIT("_D")) && name.n > 2 &&
		       (isdigit((unsigned char)name.p[2]) || str_eq(name, STR_LIT("_Dmain")));
	case LANGUAGE_MAX:
		break;
	}
	return false;
}

static bool print_in(struct str name, enum language language, int options, struct buf *out)
{
	buf_reset(out);
	if (!looks_like(name, language))
		return false;
	if (language == LANGUAGE_D)
		return print_d_name(name.p, name.n, out);
	return print_name(name.p, language, options, out);
}

/* GCC's " [clone .x]" for suffixes that are not in the table above. */
static struct str without_clone_text(struct str text)
{
	static const char clone[] = " [clone ";
	const char *at = memmem(text.p, text.n, clone, sizeof(clone) - 1);

	return at && at > text.p ? (struct str){ text.p, (size_t)(at - text.p) } : text;
}

static bool simplify(struct str text, enum language language, enum demangle_mode mode,
		     struct buf *out)
{
	bool keep_templates = mode == DEMANGLE_TEMPLATES;

	switch (language) {
	case LANGUAGE_CXX:
		return simplify_cxx(text, keep_templates, out);
	case LANGUAGE_RUST:
		return keep_templates ? buf_append(out, text.p, text.n) == 0
				      : simplify_rust(text, out);
	case LANGUAGE_D:
		return simplify_d(text, keep_templates, out);
	case LANGUAGE_MAX:
		break;
	}
	return false;
}

/* False when no language takes the name. */
static bool demangle_any(struct str name, enum demangle_mode mode, struct buf *text,
			 struct buf *shorter, struct str *ret_text)
{
	/* Rust's legacy names are valid C++ as well, so Rust is asked first. */
	static const enum language order[] = { LANGUAGE_RUST, LANGUAGE_CXX, LANGUAGE_D };
	int options = mode == DEMANGLE_FULL ? DMGL_PARAMS | DMGL_ANSI : DMGL_ANSI;

	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		if (!print_in(name, order[i], options, text))
			continue;
		*ret_text = without_clone_text((struct str){ text->data, text->len });
		if (mode != DEMANGLE_FULL && simplify(*ret_text, order[i], mode, shorter) &&
		    shorter->len > 0)
			*ret_text = (struct str){ shorter->data, shorter->len };
		return true;
	}
	return false;
}

/* The text made showable: valid UTF-8, no control characters, not above the ceiling. */
static int put_result(struct str text, struct buf *out)
{
	static const char ellipsis[] = "…";
	/* A byte that is no UTF-8 becomes three. */
	size_t max = DEMANGLE_MAX_RESULT_BYTES - sizeof(ellipsis);
	size_t room = text.n * 3 + 1 < max ? text.n * 3 + 1 : max;
	bool cut = text.n >= room;

	buf_reset(out);
	int r = buf_reserve(out, room + sizeof(ellipsis));
	if (r < 0)
		return r;
	str_copy_utf8(out->data, room, text);
	out->len = strlen(out->data);
	return cut ? buf_append_str(out, ellipsis) : 0;
}

int demangle(struct str name, enum demangle_mode mode, struct buf *out)
{
	_cleanup_buf_ struct buf terminated = BUF_INIT(DEMANGLE_MAX_NAME_BYTES + 1);
	_cleanup_buf_ struct buf text = BUF_INIT(DEMANGLE_MAX_OUTPUT_BYTES);
	_cleanup_buf_ struct buf shorter = BUF_INIT(DEMANGLE_MAX_OUTPUT_BYTES);
	struct str base = name;
	struct str found;

	if (mode == DEMANGLE_NONE)
		return put_result(name, out);
	while (cut_clone_suffix(&base))
		;
	if (base.n > DEMANGLE_MAX_NAME_BYTES || base.n < 2 || base.p[0] != '_' ||
	    memchr(base.p, '\0', base.n))
		return put_result(base, out);
	int r = buf_append(&terminated, base.p, base.n);
	if (r < 0)
		return r;
	if (!demangle_any((struct str){ terminated.data, terminated.len }, mode, &text, &shorter,
			  &found))
		return put_result(base, out);
	return put_result(found, out);
}
