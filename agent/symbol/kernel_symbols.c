/* SPDX-License-Identifier: Apache-2.0 */
/* The source of the kernel's names. */
#include "agent/symbol/kernel_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/build_id.h"
#include "agent/symbol/kallsyms.h"
#include "agent/symbol/kernel_changes.h"
#include "agent/util/file.h"
#include "agent/util/hash.h"
#include "agent/util/macro.h"

/* What was read of the kernel's list of symbols, with what frames point to. */
struct kernel_list {
	struct kallsyms *kallsyms;
	struct frame_object *objects; /* one a module, in the order of kallsyms_module() */
	char *paths;		      /* their paths, MODULE_PATH_BYTES each */
};

/* MODULE_NAME_LEN is 56, and two brackets. */
#define MODULE_PATH_BYTES 64
/* 4096 modules of 100 bytes, with the names of those that need them. */
#define MAX_MODULES_TEXT_BYTES ((size_t)1 << 20)

struct kernel_symbols {
	struct kernel_symbols_options options;
	enum demangle_mode mode;
	struct kernel_list list;
	struct kernel_changes changes; /* since the kernel's symbols were read */
	uint64_t n_read;
	struct kernel_list retired; /* its modules: frames of this interval still point to them */
	bool is_reread;		    /* in this interval */
	uint64_t now_ns;
	uint64_t reload_at_ns;
	uint64_t reload_pause_ns;
	uint64_t change_at_ns; /* the same after a change that is known of */
	uint64_t change_pause_ns;
	uint64_t modules_hash; /* when the index was read */
	bool is_incomplete;    /* not all that changed since then is known */
	bool is_checked;       /* in this interval: is_old is right */
	bool is_old;
	struct build_id build_id; /* of the kernel itself */
};

static void kernel_list_fini(struct kernel_list *list)
{
	kallsyms_free(list->kallsyms);
	free(list->objects);
	free(list->paths);
	*list = (struct kernel_list){ 0 };
}

static int name_modules(struct kernel_list *list, const char *kernel_build_id)
{
	size_t n = 0;

	while (kallsyms_module(list->kallsyms, n))
		n++;
	if (n == 0)
		return 0;
	list->objects = calloc(n, sizeof(*list->objects));
	list->paths = calloc(n, MODULE_PATH_BYTES);
	if (!list->objects || !list->paths)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		char *path = list->paths + i * MODULE_PATH_BYTES;

		(void)snprintf(path, MODULE_PATH_BYTES, "[%s]",
			       i == 0 ? "kernel" : kallsyms_module(list->kallsyms, i));
		list->objects[i] = (struct frame_object){ FRAME_OBJECT_KERNEL, path,
							  i == 0 ? kernel_build_id : "" };
	}
	return 0;
}

/* name size refcount users state address: references come and go, what is where does not. */
static uint64_t hash_module(struct str line, uint64_t seed)
{
	struct str field = { NULL, 0 };

	for (int i = 0; str_split(&line, ' ', &field); i++)
		if (i == 0 || i == 1 || i == 5)
			seed = hash_bytes(field.p, field.n, seed);
	return seed;
}

/* 0 where there are no modules. */
static uint64_t hash_modules(const char *path)
{
	_cleanup_buf_ struct buf text = BUF_INIT(MAX_MODULES_TEXT_BYTES);
	uint64_t hash = 0;
	struct str line;

	if (!path || file_read(AT_FDCWD, path, &text) < 0)
		return 0;
	struct str rest = { buf_str(&text), text.len };
	while (str_split(&rest, '\n', &line))
		hash = hash_module(line, hash);
	return hash;
}

/* What changes while it is read is noticed at the next look. */
static void note_read(struct kernel_symbols *s)
{
	s->modules_hash = hash_modules(s->options.modules_path);
	s->is_incomplete = false;
	kernel_changes_fini(&s->changes);
	s->n_read++;
	s->is_checked = true;
	s->is_old = false;
}

static int load(struct kernel_symbols *s, struct kernel_list *ret_list)
{
	note_read(s);
	_cleanup_(kernel_list_fini) struct kernel_list list = { 0 };
	int r = kallsyms_load(s->options.path, s->options.max_bytes, &list.kallsyms);

	if (r < 0)
		return r;
	r = name_modules(&list, build_id_text(&s->build_id));
	if (r < 0)
		return r;
	*ret_list = list;
	list = (struct kernel_list){ 0 };
	return 0;
}

static void read_build_id(struct kernel_symbols *s)
{
	_cleanup_buf_ struct buf notes = BUF_INIT(BUILD_ID_MAX_NOTES_BYTES);

	if (s->options.notes_path && file_read(AT_FDCWD, s->options.notes_path, &notes) == 0)
		build_id_parse_notes(buf_str(&notes), notes.len, 4, &s->build_id);
}

/* Returns whether there is an index to look into; a failed attempt is repeated after the pause. */
static bool ensure_loaded(struct kernel_symbols *s)
{
	if (s->list.kallsyms)
		return true;
	if (s->now_ns < s->reload_at_ns)
		return false;
	s->reload_at_ns = s->now_ns + s->reload_pause_ns;
	s->change_at_ns = s->now_ns + s->change_pause_ns;
	read_build_id(s);
	return load(s, &s->list) == 0;
}

/* True when there is a new index, in which the pc is to be looked up again. One a round: what is
 * retired must live until its end. The old index makes way before, so that there are never two; it is gone when
 * there is no memory for the new one. */
static bool reload(struct kernel_symbols *s)
{
	s->is_reread = true;
	s->retired = s->list;
	s->list = (struct kernel_list){ 0 };
	kallsyms_free(s->retired.kallsyms);
	s->retired.kallsyms = NULL;
	return load(s, &s->list) == 0;
}

static bool is_old(struct kernel_symbols *s)
{
	if (!s->is_checked)
		s->is_old = s->is_incomplete ||
			    hash_modules(s->options.modules_path) != s->modules_hash;
	s->is_checked = true;
	return s->is_old;
}

/* Whether the index is to be read again for the sake of a pc, and how it is paced. */
static bool is_due(struct kernel_symbols *s, bool old)
{
	uint64_t at = old ? s->change_at_ns : s->reload_at_ns;

	return s->now_ns >= at;
}

static void adapt_pause(struct kernel_symbols *s, bool old, bool helped)
{
	if (old)
		s->change_pause_ns =
			helped ? KERNEL_SYMBOLS_CHANGE_NS
			       : MIN_OF(2 * s->change_pause_ns, KERNEL_SYMBOLS_MAX_CHANGE_NS);
	else
		s->reload_pause_ns =
			helped ? KERNEL_SYMBOLS_RELOAD_NS
			       : MIN_OF(2 * s->reload_pause_ns, KERNEL_SYMBOLS_MAX_RELOAD_NS);
	s->change_at_ns = s->now_ns + s->change_pause_ns;
	s->reload_at_ns = s->now_ns + s->reload_pause_ns;
}

/* A name, lent until the next look-up, and whose it is. */
struct found {
	const char *name;
	const struct frame_object *object;
	uint64_t begin;
	bool is_own; /* the kernel's own, which never goes */
};

static const struct frame_object *object_of(const struct kernel_symbols *s, const char *module)
{
	size_t i = 0;

	/* The names of modules are unique strings of the index. */
	while (kallsyms_module(s->list.kallsyms, i) != module)
		i++;
	return &s->list.objects[i];
}

/* kernel/bpf/core.c, kernel/trace/ftrace.c and kernel/kprobes.c call them so in /proc/kallsyms. */
static const struct frame_object *object_of_code(const struct kernel_code *code)
{
	static const struct frame_object bpf = { FRAME_OBJECT_KERNEL, "[bpf]", "" };
	static const struct frame_object ftrace = { FRAME_OBJECT_KERNEL, "[__builtin__ftrace]",
						    "" };
	static const struct frame_object probes = { FRAME_OBJECT_KERNEL, "[__builtin__kprobes]",
						    "" };

	if (code->kind == KERNEL_TEXT_BPF)
		return &bpf;
	return str_starts_with(str_from(code->name), STR_LIT("kprobe_")) ? &probes : &ftrace;
}

/* What is in the index, and has not gone since. */
static bool find_in_index(struct kernel_symbols *s, uint64_t pc, struct found *ret_found)
{
	struct kallsyms_symbol symbol;

	if (!kallsyms_find(s->list.kallsyms, pc, &symbol))
		return false;
	bool is_own = !symbol.module[0];
	if (!is_own && kernel_changes_hide(&s->changes, symbol.begin))
		return false;
	*ret_found =
		(struct found){ symbol.name, object_of(s, symbol.module), symbol.begin, is_own };
	return true;
}

static bool find_again(struct kernel_symbols *s, uint64_t pc, bool old, uint64_t old_name_hash,
		       struct found *ret_found)
{
	bool found = find_in_index(s, pc, ret_found);

	adapt_pause(s, old, found && hash_str(ret_found->name) != old_name_hash);
	return found;
}

/* Nothing that came since, nor the kernel's own: perhaps nobody has told. */
static bool find_outside(struct kernel_symbols *s, uint64_t pc, bool found, struct found *ret_found)
{
	bool old = is_old(s);
	uint64_t name_hash = found ? hash_str(ret_found->name) : 0;

	if ((found && !old) || s->is_reread || !is_due(s, old))
		return found;
	return reload(s) && find_again(s, pc, old, name_hash, ret_found);
}

/* Who was told to be, or to have been, at pc: what told of another may have been lost. */
static bool find_told(struct kernel_symbols *s, uint64_t pc, const struct kernel_code *code,
		      struct found *ret_found)
{
	*ret_found = (struct found){ code->name, object_of_code(code), code->begin, false };
	return !s->is_incomplete || find_outside(s, pc, true, ret_found);
}

static bool find(struct kernel_symbols *s, uint64_t pc, struct found *ret_found)
{
	const struct kernel_code *code;

	if (!ensure_loaded(s))
		return false;
	if ((code = kernel_changes_find(&s->changes, pc)))
		return find_told(s, pc, code, ret_found);
	bool found = find_in_index(s, pc, ret_found);
	if (found && ret_found->is_own)
		return true;
	code = kernel_changes_find_gone(&s->changes, pc);
	/* An entry of the index reaches up to the next one: who came and went since lay behind it. */
	if (code && (!found || code->begin > ret_found->begin))
		return find_told(s, pc, code, ret_found);
	return find_outside(s, pc, found, ret_found);
}

/* The index lends a name for one look-up only. NULL when the interval's memory is used up. */
static const char *shown_name(struct kernel_symbols *s, const char *name)
{
	_cleanup_buf_ struct buf text = BUF_INIT(DEMANGLE_MAX_RESULT_BYTES);

	if (demangle(str_from(name), s->mode, &text) < 0)
		return arena_strndup(s->options.names, name, strlen(name));
	return arena_strndup(s->options.names, text.data, text.len);
}

bool kernel_symbols_resolve(struct kernel_symbols *s, uint64_t pc, struct frames *ret_frames)
{
	struct found found;

	if (!find(s, pc, &found))
		return false;
	const char *name = shown_name(s, found.name);
	if (!name)
		return false;
	ret_frames->n = 1;
	ret_frames->items[0] =
		(struct frame){ .function = name, .file = "", .object = found.object };
	return true;
}

int kernel_symbols_new(const struct kernel_symbols_options *options,
		       struct kernel_symbols **ret_symbols)
{
	struct kernel_symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->options = *options;
	s->reload_pause_ns = KERNEL_SYMBOLS_RELOAD_NS;
	s->change_pause_ns = KERNEL_SYMBOLS_CHANGE_NS;
	*ret_symbols = s;
	return 0;
}

void kernel_symbols_free(struct kernel_symbols *s)
{
	if (!s)
		return;
	kernel_list_fini(&s->list);
	kernel_list_fini(&s->retired);
	kernel_changes_fini(&s->changes);
	free(s);
}

void kernel_symbols_set_time(struct kernel_symbols *s, uint64_t now_ns)
{
	s->now_ns = now_ns;
	s->is_checked = false;
}

/* What is not read yet will be newer, and where nothing can be seen nothing is told. */
void kernel_symbols_changed(struct kernel_symbols *s, const struct kernel_text *text)
{
	if (!s->list.kallsyms || kernel_symbols_hidden(s))
		return;
	int r = kernel_changes_apply(&s->changes, text);
	if (text->is_incomplete || r < 0)
		s->is_incomplete = true;
}

static bool is_in_index(uint64_t begin, void *data)
{
	const struct kernel_symbols *s = data;

	return s->list.kallsyms && kallsyms_begins(s->list.kallsyms, begin);
}

void kernel_symbols_end(struct kernel_symbols *s)
{
	kernel_list_fini(&s->retired);
	s->is_reread = false;
	kernel_changes_end(&s->changes, is_in_index, s);
	if (s->list.kallsyms)
		kallsyms_rest(s->list.kallsyms);
}

uint64_t kernel_symbols_n_read(const struct kernel_symbols *s)
{
	return s->n_read;
}

uint64_t kernel_symbols_n_skipped(const struct kernel_symbols *s)
{
	return s->list.kallsyms ? kallsyms_n_skipped(s->list.kallsyms) : 0;
}

void kernel_symbols_set_demangle(struct kernel_symbols *s, enum demangle_mode mode)
{
	s->mode = mode;
}

bool kernel_symbols_hidden(const struct kernel_symbols *s)
{
	return s->list.kallsyms && kallsyms_state(s->list.kallsyms) == KALLSYMS_HIDDEN;
}

size_t kernel_symbols_bytes(const struct kernel_symbols *s)
{
	return (s->list.kallsyms ? kallsyms_bytes(s->list.kallsyms) : 0) +
	       kernel_changes_bytes(&s->changes);
}
