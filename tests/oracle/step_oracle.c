/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the unwind rules of a program while it runs, instruction by instruction.
 *
 * usage: step_oracle [-g] [-n STEPS] [-s SKIPPED] [-p PRINTED] PROGRAM [ARGUMENT …]
 *	-g	Go's tables only; else all sources
 * Exits 1 when a rule was wrong or none was checked.
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/object/go/go_unwind.h"
#include "agent/object/go/gopclntab.h"
#include "agent/object/rules/unwind_info.h"
#include "tests/support/step_oracle.h"

struct subject {
	struct elf *elf;
	struct unwind_source *go;
	struct gopclntab *table;
	struct unwind_info *info;
	struct unwind_spans spans[UNWIND_INFO_MAX_SOURCES];
	struct buf name;
};

static int rule_at(void *data, uint64_t vaddr, struct unwind_rule *ret_rule)
{
	struct subject *s = data;

	if (s->info)
		return unwind_info_rule_at(s->info, vaddr, ret_rule);
	return s->go->rule_at(s->go, vaddr, ret_rule);
}

static uint64_t go_function(struct subject *s, uint64_t vaddr)
{
	struct gopclntab_func func;
	uint32_t index;

	if (!s->table || gopclntab_find(s->table, vaddr, &index) != 0 ||
	    gopclntab_func(s->table, index, &func) != 0 || func.pcsp == 0)
		return 0;
	return func.begin;
}

static uint64_t function_of(void *data, uint64_t vaddr)
{
	struct subject *s = data;
	uint64_t found = go_function(s, vaddr);

	for (size_t i = 0; !found && s->info && i < UNWIND_INFO_MAX_SOURCES; i++) {
		const struct unwind_spans *spans = &s->spans[i];
		size_t lo = 0;
		size_t hi = spans->n;

		while (lo < hi) {
			size_t mid = lo + (hi - lo) / 2;

			if (spans->items[mid].begin <= vaddr)
				lo = mid + 1;
			else
				hi = mid;
		}
		if (lo > 0 && vaddr - spans->items[lo - 1].begin < spans->items[lo - 1].n_bytes)
			found = spans->items[lo - 1].begin;
	}
	return found;
}

static const char *name_of(void *data, uint64_t vaddr)
{
	struct subject *s = data;
	struct gopclntab_func func;
	uint32_t index;

	buf_reset(&s->name);
	if (s->table && gopclntab_find(s->table, vaddr, &index) == 0 &&
	    gopclntab_func(s->table, index, &func) == 0)
		(void)gopclntab_name(s->table, &func, &s->name);
	return buf_str(&s->name);
}

/* Of the first page that is mapped. */
static uint64_t base_vaddr(const struct elf *elf)
{
	for (size_t i = 0; i < elf_n_segments(elf); i++)
		if (elf_segment(elf, i)->type == PT_LOAD)
			return elf_segment(elf, i)->vaddr & ~(uint64_t)4095;
	return 0;
}

static int open_subject(const char *path, bool go_only, struct subject *s)
{
	struct bytes bytes;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || bytes_from_fd(fd, &bytes) < 0 || elf_new(bytes, &s->elf) != 0)
		return -1;
	s->name = BUF_INIT(GOPCLNTAB_MAX_NAME_BYTES);
	(void)gopclntab_new(s->elf, &s->table);
	(void)go_unwind_new(s->elf, &s->go);
	if (!go_only) {
		struct unwind_source_stats stats = { 0 };

		if (unwind_info_new(s->elf, NULL, &s->info) < 0)
			return -1;
		for (size_t i = 0; i < unwind_info_n_sources(s->info); i++) {
			struct unwind_source *source = unwind_info_source(s->info, i);

			s->spans[i].max_bytes = (size_t)1 << 30;
			(void)source->spans(source, &s->spans[i], &stats);
		}
		return 0;
	}
	return s->go ? 0 : -1;
}

static void print_report(const struct step_report *r)
{
	printf("steps %" PRIu64 " threads %" PRIu64 " inside %" PRIu64 ": no rule %" PRIu64
	       ", unknown %" PRIu64 ", roots %" PRIu64 ", checked %" PRIu64 " (switched %" PRIu64
	       ", addresses %" PRIu64 ", signals %" PRIu64 "); wrong CFA %" PRIu64 ", RA %" PRIu64
	       ", FP %" PRIu64 "\n",
	       r->n_steps, r->n_threads, r->n_inside, r->n_no_rule, r->n_unknown, r->n_roots,
	       r->n_checked, r->n_switched, r->n_pcs, r->n_signals, r->n_wrong_cfa, r->n_wrong_ra,
	       r->n_wrong_fp);
}

int main(int argc, char **argv)
{
	struct subject s = { 0 };
	struct step_oracle oracle = { .max_printed = 20,
				      .data = &s,
				      .rule_at = rule_at,
				      .function_of = function_of,
				      .name_of = name_of };
	struct step_report report;
	bool go_only = false;
	int c;

	while ((c = getopt(argc, argv, "+gn:s:p:")) != -1) {
		if (c == 'g')
			go_only = true;
		else if (c == 'n')
			oracle.max_steps = strtoull(optarg, NULL, 10);
		else if (c == 's')
			oracle.skip_steps = strtoull(optarg, NULL, 10);
		else if (c == 'p')
			oracle.max_printed = (uint32_t)strtoul(optarg, NULL, 10);
		else
			return 2;
	}
	if (optind == argc || open_subject(argv[optind], go_only, &s) < 0) {
		(void)fprintf(stderr, "step_oracle: no program with unwind rules\n");
		return 2;
	}
	oracle.argv = argv + optind;
	oracle.base_vaddr = base_vaddr(s.elf);
	if (step_oracle_run(&oracle, &report) < 0) {
		perror("step_oracle");
		return 2;
	}
	print_report(&report);
	return report.n_checked == 0 || report.n_wrong_cfa || report.n_wrong_ra ||
	       report.n_wrong_fp;
}
