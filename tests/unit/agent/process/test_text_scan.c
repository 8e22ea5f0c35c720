/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of which file may lie in anonymous memory, by the lines of maps beside it. */
#include <stdlib.h>

#include "agent/process/remapped_text.h"
#include "agent/util/buf.h"
#include "tests/support/unit.h"

#define ANON " 00000000 00:00 0\n"
#define APP " 08:01 11 /app\n"
#define LIB " 08:01 12 /lib\n"

struct row {
	const char *name;
	const char *maps;
	const char *guesses; /* "BEGIN-END OFF PATH;" each */
};

static const struct row rows[] = {
	{ "all of a segment",
	  "1000-2000 r--p 0" APP "2000-5000 r-xp" ANON "5000-6000 r--p 4000" APP,
	  "2000-5000 1000 /app;" },
	{ "the middle of a segment",
	  "2000-3000 r-xp 1000" APP "3000-4000 r-xp" ANON "4000-5000 r-xp 3000" APP,
	  "3000-4000 2000 /app;" },
	{ "in several pieces",
	  "1000-2000 r--p 0" APP "2000-3000 r-xp" ANON "3000-5000 rwxp" ANON
	  "5000-6000 r--p 4000" APP,
	  "2000-5000 1000 /app;" },
	{ "a page of the file is in both segments",
	  "1000-3000 r--p 0" APP "3000-5000 r-xp" ANON "5000-6000 r--p 2000" APP,
	  "3000-5000 2000 /app;3000-5000 1000 /app;" },
	{ "the first segment", "1000-3000 r-xp" ANON "3000-5000 rw-p 2000" APP,
	  "1000-3000 0 /app;1000-3000 1000 /app;" },
	{ "the first segment, its last page in the next, too",
	  "1000-3000 r-xp" ANON "3000-5000 rw-p 1000" APP, "1000-3000 0 /app;" },
	{ "the last segment", "1000-3000 r--p 1000" APP "3000-5000 r-xp" ANON,
	  "3000-5000 3000 /app;3000-5000 2000 /app;" },
	{ "the end of a segment", "1000-3000 r-xp 1000" APP "3000-5000 r-xp" ANON,
	  "3000-5000 3000 /app;" },
	{ "between two files",
	  "1000-3000 r-xp 1000" APP "3000-4000 r-xp" ANON "4000-5000 r-xp 1000" LIB,
	  "3000-4000 3000 /app;" },
	{ "between two files, none is sure",
	  "1000-3000 r--p 0" APP "3000-4000 r-xp" ANON "4000-5000 r-xp 1000" LIB,
	  "3000-4000 2000 /app;3000-4000 1000 /app;3000-4000 0 /lib;" },
	{ "two of them",
	  "1000-2000 r-xp 0" APP "2000-3000 r-xp" ANON "3000-4000 r-xp 2000" APP
	  "4000-5000 r-xp" ANON "5000-6000 r-xp 4000" APP,
	  "2000-3000 1000 /app;4000-5000 3000 /app;" },
	{ "nothing of it is left", "1000-2000 r-xp" ANON, "" },
	{ "gaps on both sides",
	  "1000-2000 r--p 0" APP "3000-4000 r-xp" ANON "5000-6000 r--p 4000" APP, "" },
	{ "data between", "1000-2000 r--p 0" APP "2000-3000 rw-p" ANON "3000-4000 r-xp" ANON, "" },
	{ "in front of a file", "1000-4000 r-xp" ANON "4000-5000 r--p 0" LIB, "" },
	{ "beside the vdso",
	  "1000-2000 r-xp" ANON "2000-3000 r-xp 0 00:00 0 [vdso]\n3000-4000 r-xp" ANON, "" },
	{ "an offset that no file has",
	  "1000-3000 r-xp 7fffffffffffe000" APP "3000-5000 r-xp" ANON "5000-6000 r-xp" ANON, "" },
	{ "no memory without a file", "1000-2000 r--p 0" APP "2000-5000 r-xp 1000" APP, "" },
};

static void note(const struct text_guess *g, const struct maps_entry *file, void *data)
{
	assert_int_equal(buf_printf(data, "%llx-%llx %llx %.*s;", (unsigned long long)g->begin,
				    (unsigned long long)g->end, (unsigned long long)g->file_off,
				    (int)file->path.n, file->path.p),
			 0);
	assert_true(file->inode == 11 || file->inode == 12);
}

static bool feed(const struct maps_entry *e, void *data)
{
	text_scan_entry(data, e);
	return true;
}

static void test_row(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf out = BUF_INIT(1024);
	struct text_scan s = { .page = 0x1000, .fn = note, .data = &out };

	assert_int_equal(maps_parse(str_from(row->maps), feed, &s), 0);
	text_scan_entry(&s, NULL);
	assert_string_equal(buf_str(&out), row->guesses);
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_row, rows, name),
};

TEST_MAIN(tests)
