/* SPDX-License-Identifier: Apache-2.0 */
/* Files made by gcc while a test runs, as processes map them. */
#ifndef XAGENT_TESTS_UNIT_AGENT_UNWIND_ELF_FILES_H
#define XAGENT_TESTS_UNIT_AGENT_UNWIND_ELF_FILES_H

#include <elf.h>
#include <errno.h>
#include <sys/stat.h>

#include "agent/process/file_table.h"
#include "agent/util/str.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/fixture.h"

/* A file of the directory; opened. One reference. */
static inline struct mapped_file *elf_file(struct file_table *files, const struct fixture_dir *dir,
					   const char *name)
{
	char path[FIXTURE_PATH_BYTES];
	struct mapped_file *f = NULL;
	struct stat st;
	int fd = open(fixture_path(dir, name, path), O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	const struct file_facts facts = { .key = { .dev = st.st_dev, .inode = st.st_ino },
					  .path = str_from(path) };
	assert_int_equal(file_table_get(files, &facts, &f), 0);
	mapped_file_take_fd(f, fd);
	return f;
}

/* Where in the file its n-th piece of code is; false when it has fewer. */
static inline bool elf_text_piece(const struct mapped_file *f, size_t n, uint64_t *ret_off,
				  uint64_t *ret_bytes)
{
	struct elf *elf = NULL;
	struct bytes bytes;

	*ret_bytes = 0;
	assert_int_equal(bytes_from_fd(f->fd, &bytes), 0);
	assert_int_equal(elf_new(bytes, &elf), 0);
	for (size_t i = 0; i < elf_n_segments(elf); i++) {
		const struct elf_segment *s = elf_segment(elf, i);

		if (s->type != PT_LOAD || !(s->flags & PF_X) || n-- > 0)
			continue;
		*ret_off = s->file_off;
		*ret_bytes = s->file_bytes;
	}
	elf_free(elf);
	return *ret_bytes > 0;
}

/* Where it is in a file that has one piece. */
static inline void elf_text(const struct mapped_file *f, uint64_t *ret_off, uint64_t *ret_bytes)
{
	assert_true(elf_text_piece(f, 0, ret_off, ret_bytes));
}

#endif
