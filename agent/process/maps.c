/* SPDX-License-Identifier: Apache-2.0 */
/* The text of /proc/PID/maps (format: show_map_vma in fs/proc/task_mmu.c). */
#include "agent/process/maps.h"

#include <sys/sysmacros.h>

#include "agent/util/macro.h"

static struct str cut_front(struct str s, size_t n)
{
	return (struct str){ s.p + n, s.n - n };
}

static bool cut_char(struct str *s, char c)
{
	if (s->n == 0 || s->p[0] != c)
		return false;
	*s = cut_front(*s, 1);
	return true;
}

static bool cut_number(struct str *s, unsigned int base, uint64_t *ret_value, char then)
{
	return str_scan_u64(s, base, UINT64_MAX, ret_value) == 0 && cut_char(s, then);
}

/* Files of the kernel's own memory file systems that only hold memory: there is no ELF to look
 * into. The last is where .NET from 7 on maps the code that it generates, twice: to write and to run. */
static bool is_memory_name(struct str name)
{
	return str_eq(name, STR_LIT("/dev/zero")) || str_starts_with(name, STR_LIT("/SYSV")) ||
	       str_starts_with(name, STR_LIT("/anon_hugepage")) ||
	       str_eq(name, STR_LIT("/memfd:doublemapper"));
}

bool maps_classify(struct str name, struct maps_entry *e)
{
	static const struct str deleted = { " (deleted)", 10 };

	e->path = (struct str){ "", 0 };
	e->name = (struct str){ "", 0 };
	e->deleted = str_ends_with(name, deleted);
	if (e->deleted)
		name.n -= deleted.n;
	e->kind = MAPPING_ANON;
	if (str_eq(name, STR_LIT("[vsyscall]")) || e->begin >> 63)
		return false;
	if (str_eq(name, STR_LIT("[vdso]")))
		e->kind = MAPPING_VDSO;
	else if (e->inode != 0 && !is_memory_name(name))
		e->kind = MAPPING_FILE;
	if (e->kind == MAPPING_ANON && name.n > 0 && name.p[0] == '[')
		e->name = name;
	/* "//toolong", "//enomem" of perf, "socket:[1]": a file whose path is not told. */
	if (e->kind == MAPPING_FILE && name.n > 0 && name.p[0] == '/' &&
	    !str_starts_with(name, STR_LIT("//")))
		e->path = name;
	return true;
}

/* The kernel escapes newlines only, as "\012"; other backslashes are literal. False when the path
 * is too long. */
static bool unescape(struct str raw, char *path, struct str *ret_path)
{
	size_t n = 0;

	while (raw.n > 0) {
		bool newline = str_starts_with(raw, STR_LIT("\\012"));

		if (n + 1 >= MAPPING_PATH_MAX)
			return false;
		path[n++] = newline ? '\n' : raw.p[0];
		raw = cut_front(raw, newline ? 4 : 1);
	}
	path[n] = '\0';
	*ret_path = (struct str){ path, n };
	return true;
}

/* Perms = r w x (s | p), each or '-' */
static bool cut_perms(struct str *s, bool *ret_executable)
{
	if (s->n < 5 || s->p[4] != ' ')
		return false;
	*ret_executable = s->p[2] == 'x';
	*s = cut_front(*s, 5);
	return true;
}

/* Line = begin "-" end " " perms " " file_off " " major ":" minor " " inode [ " "… name ] */
enum maps_outcome maps_parse_line(struct str line, char path[static MAPPING_PATH_MAX],
				  struct maps_entry *ret_entry)
{
	struct maps_entry e = { 0 };
	uint64_t major_dev;
	uint64_t minor_dev;
	struct str name;

	if (!cut_number(&line, 16, &e.begin, '-') || !cut_number(&line, 16, &e.end, ' ') ||
	    !cut_perms(&line, &e.executable) || e.end <= e.begin)
		return MAPS_MALFORMED;
	if (!cut_number(&line, 16, &e.file_off, ' ') || !cut_number(&line, 16, &major_dev, ':') ||
	    !cut_number(&line, 16, &minor_dev, ' ') ||
	    str_scan_u64(&line, 10, UINT64_MAX, &e.inode) < 0 || (line.n > 0 && line.p[0] != ' '))
		return MAPS_MALFORMED;
	while (cut_char(&line, ' '))
		;
	if (!e.executable && e.inode == 0)
		return MAPS_SKIPPED;
	e.dev = makedev((unsigned int)major_dev, (unsigned int)minor_dev);
	if (!unescape(line, path, &name))
		return MAPS_MALFORMED;
	if (!maps_classify(name, &e))
		return MAPS_SKIPPED;
	if (!e.executable && e.kind != MAPPING_FILE)
		return MAPS_SKIPPED;
	*ret_entry = e;
	return e.executable ? MAPS_ENTRY : MAPS_FILE_DATA;
}

size_t maps_parse(struct str text, maps_fn fn, void *data)
{
	char path[MAPPING_PATH_MAX];
	size_t n_malformed = 0;
	size_t n = 0;
	struct str line;

	while (n < MAPPINGS_MAX && str_split(&text, '\n', &line)) {
		struct maps_entry e;

		if (line.n == 0)
			continue;
		switch (maps_parse_line(line, path, &e)) {
		case MAPS_ENTRY:
		case MAPS_FILE_DATA:
			n += e.executable;
			if (!fn(&e, data))
				return n_malformed;
			break;
		case MAPS_MALFORMED:
			n_malformed++;
			break;
		case MAPS_SKIPPED:
			break;
		}
	}
	return n_malformed;
}
