/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of this folder as they are, in the program. A new file is a new line here.
 *
 * The table is the assembler's, which alone can say how long a file is where it is put; it finds the files from the top of the
 * repository, where the build begins.
 */
#include "agent/page/page.h"

#define HTML "text/html; charset=utf-8"
#define STYLE "text/css; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"
#define PICTURE "image/svg+xml"

/* X(name, content type) */
#define PAGE_FILES(X)              \
	X("api.js", SCRIPT)        \
	X("app.css", STYLE)        \
	X("app.js", SCRIPT)        \
	X("colour.js", SCRIPT)     \
	X("compare.js", SCRIPT)    \
	X("dom.js", SCRIPT)        \
	X("download.js", SCRIPT)   \
	X("filters.js", SCRIPT)    \
	X("flame.js", SCRIPT)      \
	X("format.js", SCRIPT)     \
	X("functions.js", SCRIPT)  \
	X("icon.svg", PICTURE)     \
	X("index.html", HTML)      \
	X("keys.js", SCRIPT)       \
	X("layout.js", SCRIPT)     \
	X("legend.js", SCRIPT)     \
	X("missing.js", SCRIPT)    \
	X("page.css", STYLE)       \
	X("paint.js", SCRIPT)      \
	X("panel.js", SCRIPT)      \
	X("path.js", SCRIPT)       \
	X("picker.js", SCRIPT)     \
	X("popover.js", SCRIPT)    \
	X("problems.js", SCRIPT)   \
	X("profile.js", SCRIPT)    \
	X("proto.js", SCRIPT)      \
	X("range.js", SCRIPT)      \
	X("selector.js", SCRIPT)   \
	X("series.js", SCRIPT)     \
	X("standalone.html", HTML) \
	X("standalone.js", SCRIPT) \
	X("state.js", SCRIPT)      \
	X("status.js", SCRIPT)     \
	X("svg.js", SCRIPT)        \
	X("table.js", SCRIPT)      \
	X("theme.js", SCRIPT)      \
	X("time.js", SCRIPT)       \
	X("timeline.js", SCRIPT)   \
	X("tip.js", SCRIPT)        \
	X("toolbar.js", SCRIPT)    \
	X("tree.js", SCRIPT)

/* A struct page_file, and what it points to. */
#define EMBED(name, type)                      \
	".quad 1f, 2f, 3f, 4f - 3f\n"          \
	".pushsection .rodata.page, \"a\"\n"   \
	"1: .asciz \"" name "\"\n"             \
	"2: .asciz \"" type "\"\n"             \
	"3: .incbin \"agent/page/" name "\"\n" \
	"4: .byte 0\n"                         \
	".popsection\n"

__asm__(".pushsection .data.rel.ro.page, \"aw\"\n"
	".balign 8\n"
	".globl page_table, page_table_end\n"
	".hidden page_table, page_table_end\n"
	"page_table:\n" PAGE_FILES(EMBED) "page_table_end:\n"
					  ".popsection\n");

extern const struct page_file page_table[], page_table_end[];

_Static_assert(sizeof(struct page_file) == 4 * 8, "four words, as the assembler writes them");
_Static_assert(offsetof(struct page_file, name) == 0 &&
		       offsetof(struct page_file, content_type) == 8 &&
		       offsetof(struct page_file, bytes) == 16 &&
		       offsetof(struct page_file, n) == 24,
	       "in this order");

const struct page_file *page_files(size_t *ret_n)
{
	*ret_n = (size_t)(page_table_end - page_table);
	return page_table;
}
