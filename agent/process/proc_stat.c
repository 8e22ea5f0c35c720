/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of /proc/PID/stat and /proc/PID/status (fields: proc_pid_stat(5), proc_pid_status(5)).
 */
#include "agent/process/proc_stat.h"

#include <errno.h>

/* Numbers of the fields that follow the name, as the manual page counts them. */
enum {
	STAT_STATE = 3,
	STAT_PPID = 4,
	STAT_FLAGS = 9,
	STAT_N_THREADS = 20,
	STAT_START = 22, /* the last one that has to be there */
	STAT_CODE = 26,
	STAT_STACK = 28,
};

static int parse_field(int number, struct str field, struct proc_stat *s)
{
	uint64_t value;
	int r;

	switch (number) {
	case STAT_STATE:
		s->state = field.p[0];
		return field.n == 1 ? 0 : -EINVAL;
	case STAT_PPID:
		r = str_parse_u64(field, 10, UINT32_MAX, &value);
		s->parent_pid = r < 0 ? 0 : (uint32_t)value;
		return r;
	case STAT_FLAGS:
		return str_parse_u64(field, 10, UINT32_MAX, &s->flags);
	case STAT_N_THREADS:
		return str_parse_u64(field, 10, UINT32_MAX, &s->n_threads);
	case STAT_START:
		return str_parse_u64(field, 10, UINT64_MAX, &s->start_ticks);
	case STAT_CODE:
		return str_parse_u64(field, 10, UINT64_MAX, &s->code_at);
	case STAT_STACK:
		return str_parse_u64(field, 10, UINT64_MAX, &s->stack_at);
	default:
		return 0;
	}
}

/* Stat = pid " (" name ") " state { " " number } ; the name may hold blanks and parentheses, so it
 * ends at the last one. */
int proc_stat_parse(struct str text, struct proc_stat *ret_stat)
{
	struct proc_stat s = { 0 };
	struct str field;
	uint64_t pid;

	text = str_trim(text);
	if (str_scan_u64(&text, 10, UINT32_MAX, &pid) < 0 || !str_starts_with(text, STR_LIT(" (")))
		return -EINVAL;
	const char *close = memrchr(text.p, ')', text.n);
	if (!close || close < text.p + 2)
		return -EINVAL;
	s.pid = (uint32_t)pid;
	s.comm = (struct str){ text.p + 2, (size_t)(close - text.p) - 2 };
	struct str rest = { close + 1, text.n - (size_t)(close + 1 - text.p) };
	if (rest.n == 0 || rest.p[0] != ' ')
		return -EINVAL;
	rest = (struct str){ rest.p + 1, rest.n - 1 };
	for (int number = STAT_STATE; number <= STAT_STACK; number++) {
		if (number > STAT_START && rest.n == 0)
			break;
		if (!str_split(&rest, ' ', &field) || field.n == 0 ||
		    parse_field(number, field, &s) < 0)
			return -EINVAL;
	}
	*ret_stat = s;
	return 0;
}

bool proc_stat_is_dead(const struct proc_stat *s)
{
	return s->state == 'Z' || s->state == 'X' || s->state == 'x' || s->flags & PROC_PF_EXITING;
}

/* Uid = "Uid:" TAB real TAB effective TAB saved TAB filesystem */
int proc_status_uid(struct str text, uint32_t *ret_uid)
{
	struct str line;

	while (str_split(&text, '\n', &line)) {
		uint64_t uid;

		if (!str_starts_with(line, STR_LIT("Uid:")))
			continue;
		line = str_trim((struct str){ line.p + 4, line.n - 4 });
		if (str_scan_u64(&line, 10, UINT32_MAX, &uid) < 0)
			return -EINVAL;
		*ret_uid = (uint32_t)uid;
		return 0;
	}
	return -EINVAL;
}
