/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of one mapped file, looked up one by one in the file. */
#include "agent/unwind/object_rules.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/object/vdso.h"
#include "agent/unwind/debug_elf.h"
#include "agent/util/reader.h"

struct object_rules {
	struct elf *elf;	  /* NULL: not ELF */
	struct elf *debug;	  /* NULL: none */
	struct unwind_info *info; /* NULL likewise */
};

int object_bytes_open(const struct mapped_file *f, struct bytes *ret_bytes)
{
	if (f->vdso)
		return vdso_image(ret_bytes);
	return f->fd < 0 ? -EBADF : bytes_from_fd(f->fd, ret_bytes);
}

/* A debug file that cannot be read is as good as none. */
static int open_debug(struct object_rules *r, const struct process *p, const struct mapped_file *f,
		      int *debug_fd)
{
	int result = *debug_fd == -1 ? debug_elf_find(r->elf, p, f, debug_fd) : 0;

	if (result != 0 && result != -ENOMEM)
		*debug_fd = result < 0 ? DEBUG_ELF_LATER : DEBUG_ELF_NONE;
	if (*debug_fd >= 0)
		result = debug_elf_new(*debug_fd, &r->debug);
	return result == -ENOMEM ? result : 0;
}

/* Sources take what they cannot read for what is not there. */
static int open_sources(struct object_rules *r)
{
	uint64_t n_failed = reader_n_failed();

	return reader_result_since(n_failed,
				   unwind_info_new_for_lookups(r->elf, r->debug, &r->info));
}

static int open_info(struct object_rules *r, const struct process *p, const struct mapped_file *f,
		     struct bytes bytes, int *debug_fd)
{
	int result = elf_new(bytes, &r->elf);

	/* Programs map other kinds of files executable too. */
	if (result > 0)
		return 0;
	if (result == 0)
		result = open_debug(r, p, f, debug_fd);
	if (result == 0)
		result = open_sources(r);
	return result;
}

int object_rules_new(const struct process *p, const struct mapped_file *f, int *debug_fd,
		     struct object_rules **ret_rules)
{
	_cleanup_(object_rules_freep) struct object_rules *r = calloc(1, sizeof(*r));
	struct bytes bytes;

	if (!r)
		return -ENOMEM;
	int result = object_bytes_open(f, &bytes);
	if (result == 0)
		result = open_info(r, p, f, bytes, debug_fd);
	if (result < 0)
		return result;
	*ret_rules = TAKE_PTR(r);
	return 0;
}

void object_rules_free(struct object_rules *r)
{
	if (!r)
		return;
	unwind_info_free(r->info);
	elf_free(r->debug);
	elf_free(r->elf);
	free(r);
}

int object_rules_at(struct object_rules *r, uint64_t file_off, struct unwind_rule *ret_rule)
{
	uint64_t n_failed = reader_n_failed();
	struct unwind_rule rule;
	uint64_t vaddr;

	*ret_rule = (struct unwind_rule){ 0 };
	if (!r->info || !elf_vaddr(r->elf, file_off, &vaddr))
		return 0;
	int result = reader_result_since(n_failed, unwind_info_rule_at(r->info, vaddr, &rule));
	if (result == 0)
		*ret_rule = rule;
	return result;
}

int object_rules_register_at(struct object_rules *r, uint64_t file_off, uint8_t reg,
			     struct unwind_rule *ret_rule)
{
	uint64_t n_failed = reader_n_failed();
	struct unwind_rule rule;
	uint64_t vaddr;

	*ret_rule = (struct unwind_rule){ .fp = RULE_FP_UNDEFINED };
	if (!r->info || !elf_vaddr(r->elf, file_off, &vaddr))
		return 0;
	int result = reader_result_since(n_failed,
					 unwind_info_register_at(r->info, vaddr, reg, &rule));
	if (result == 0)
		*ret_rule = rule;
	return result;
}
