/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the unwind table of every ELF file below some directories, several times, and tells what they take.
 * usage: tables DIRECTORY...
 *
 * Prints lines "name value"; of each file the best CPU time counts, with its contents in the page cache.
 */
#include <elf.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "agent/util/macro.h"
#include "tests/bench/context.h"

#define N_RUNS 3
#define MAX_OPEN_DIRECTORIES 32
/* A well-known large library: 53 MB of text. */
#define LARGE_NAME "libLLVM"

static struct {
	uint64_t n_files;
	uint64_t n_failed;
	uint64_t eh_frame_bytes;
	uint64_t table_bytes; /* of files with .eh_frame */
	uint64_t n_rows, n_raw_rows;
	uint64_t n_bad, n_unrepresentable, n_dropped;
	uint64_t ns, hash_ns; /* the second is part of the first */
	uint64_t digests;     /* not left out by the compiler */
	uint64_t large_ns, large_rows;
	uint64_t slowest_ns;
	char slowest[256]; /* NAME_MAX + 1 */
} sum;

/* Programs and libraries of this machine: what can be mapped into a process. */
static bool is_mapped_kind(int fd)
{
	Elf64_Ehdr h;

	return pread(fd, &h, sizeof(h), 0) == (ssize_t)sizeof(h) &&
	       memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 && h.e_ident[EI_CLASS] == ELFCLASS64 &&
	       (h.e_type == ET_EXEC || h.e_type == ET_DYN) &&
	       h.e_machine == (WIRE_N_REGS == 16 ? EM_X86_64 : EM_AARCH64);
}

static uint64_t eh_frame_bytes(int fd)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	const struct elf_section *section;
	struct bytes bytes;

	if (bytes_from_fd(fd, &bytes) != 0 || elf_new(bytes, &elf) != 0 ||
	    elf_load_sections(elf) != 0)
		return 0;
	section = elf_section_by_name(elf, ".eh_frame");
	return section && section->type != SHT_NOBITS ? section->size_bytes : 0;
}

/* CPU time: on a busy machine the clock on the wall would count others. */
static uint64_t cpu_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

/* What tells equal tables costs, too. */
static uint64_t hash(const struct row_table *table)
{
	const struct siphash_key key = { { 1, 2 } };
	struct siphash s;

	siphash_init(&s, &key);
	row_table_hash(table, &s);
	return siphash_finish(&s, NULL, 0);
}

static int build(const char *path, uint64_t *ret_ns, struct row_table_stats *ret_stats)
{
	uint64_t best = UINT64_MAX, best_hash = UINT64_MAX;

	for (int i = 0; i < N_RUNS; i++) {
		_cleanup_(row_table_freep) struct row_table *table = NULL;
		uint64_t begin = cpu_ns();
		int r = context_file_table(path, &table);

		if (r != 0)
			return r;
		uint64_t built = cpu_ns();
		sum.digests ^= hash(table);
		best_hash = MIN_OF(best_hash, cpu_ns() - built);
		best = MIN_OF(best, cpu_ns() - begin);
		*ret_stats = *row_table_stats(table);
	}
	sum.hash_ns += best_hash;
	*ret_ns = best;
	return 0;
}

static void add(const char *name, uint64_t eh_bytes, uint64_t ns, const struct row_table_stats *s)
{
	sum.n_files++;
	sum.eh_frame_bytes += eh_bytes;
	sum.table_bytes += eh_bytes ? s->n_bytes : 0;
	sum.n_rows += s->n_rows;
	sum.n_raw_rows += s->n_raw_rows;
	sum.n_bad += s->source.n_bad_cies + s->source.n_bad_fdes;
	sum.n_unrepresentable += s->source.n_unrepresentable;
	sum.n_dropped += s->n_dropped_rows;
	sum.ns += ns;
	if (ns > sum.slowest_ns) {
		sum.slowest_ns = ns;
		(void)snprintf(sum.slowest, sizeof(sum.slowest), "%s", name);
	}
	if (strncmp(name, LARGE_NAME, strlen(LARGE_NAME)) == 0 && s->n_rows > sum.large_rows) {
		sum.large_rows = s->n_rows;
		sum.large_ns = ns;
	}
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *at)
{
	_cleanup_close_ int fd = -1;
	struct row_table_stats stats;
	uint64_t ns;

	if (type != FTW_F || !S_ISREG(st->st_mode))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || !is_mapped_kind(fd))
		return 0;
	int r = build(path, &ns, &stats);
	if (r < 0 || r == ROW_TABLE_TOO_LARGE)
		sum.n_failed++;
	else if (r == 0)
		add(path + at->base, eh_frame_bytes(fd), ns, &stats);
	return 0;
}

int main(int argc, char **argv)
{
	/* Other file systems (/proc, /sys, network) are left out. */
	for (int i = 1; i < argc; i++)
		if (nftw(argv[i], visit, MAX_OPEN_DIRECTORIES, FTW_PHYS | FTW_MOUNT) < 0)
			(void)fprintf(stderr, "tables: %s: %s\n", argv[i], strerror(errno));
#define PRINT(name) printf(#name " %llu\n", (unsigned long long)sum.name)
	PRINT(n_files);
	PRINT(n_failed);
	PRINT(eh_frame_bytes);
	PRINT(table_bytes);
	PRINT(n_rows);
	PRINT(n_raw_rows);
	PRINT(n_bad);
	PRINT(n_unrepresentable);
	PRINT(n_dropped);
	PRINT(ns);
	PRINT(hash_ns);
	PRINT(large_rows);
	PRINT(large_ns);
	PRINT(slowest_ns);
	printf("slowest %s\n", sum.slowest);
	return 0;
}
