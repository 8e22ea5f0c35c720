/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names: the index of the largest library below some directories, and 10,000 addresses in it; what names of 300 libraries take; the index of
 * the kernel.
 * usage: names DIRECTORY...
 *
 * Prints lines "name value"; the best CPU time of some runs counts, with the file in the page cache.
 */
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/object/names/symtab.h"
#include "agent/process/file_table.h"
#include "agent/symbol/kallsyms.h"
#include "agent/symbol/store.h"
#include "agent/util/macro.h"

#define N_RUNS 5
#define N_ADDRESSES 10000
#define MAX_OPEN_DIRECTORIES 32
/* A well-known large library: 53 MB of text, 45,000 exported functions. */
#define LARGE_NAME "libLLVM"

/* An ordinary host's, a few functions of each sampled at a time. */
#define N_OBJECTS 300
#define N_A_FILE 20
/* Of the kernel, in an interval of 15 s. */
#define N_KERNEL_NAMES 500
#define KERNEL_NAMES_EACH 200

static char large[4096]; /* PATH_MAX */
static uint64_t large_bytes;
static struct mapped_file objects[N_OBJECTS];
static size_t n_objects;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int look(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	bool found =
		type == FTW_F && strncmp(path + ftw->base, LARGE_NAME, strlen(LARGE_NAME)) == 0;

	if (found && (uint64_t)st->st_size > large_bytes) {
		(void)snprintf(large, sizeof(large), "%s", path);
		large_bytes = (uint64_t)st->st_size;
	}
	return 0;
}

static int collect(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	struct mapped_file *f = &objects[n_objects];

	if (type != FTW_F || n_objects == N_OBJECTS || !strstr(path + ftw->base, ".so"))
		return 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	*f = (struct mapped_file){ .id = (uint32_t)n_objects + 2,
				   .key = { st->st_dev, st->st_ino },
				   .path = strdup(path),
				   .fd = -1,
				   .debug_fd = -1,
				   .n_refs = 1 };
	if (!f->path)
		return -1;
	mapped_file_take_fd(f, fd);
	n_objects++;
	return 0;
}

static uint64_t min_of(uint64_t best, uint64_t ns)
{
	return best == 0 || ns < best ? ns : best;
}

static int index_once(int fd, uint64_t *ns, size_t *ret_n, size_t *ret_bytes)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	_cleanup_(symtab_freep) struct symtab *symtab = NULL;
	struct bytes bytes;

	if (bytes_from_fd(fd, &bytes) != 0 || elf_new(bytes, &elf) != 0)
		return -1;
	uint64_t begin = cpu_ns();
	if (symtab_new(elf, &symtab) != 0)
		return -1;
	*ns = min_of(*ns, cpu_ns() - begin);
	*ret_n = symtab_n_entries(symtab);
	*ret_bytes = symtab_bytes(symtab);
	return 0;
}

static void bench_index(int fd)
{
	uint64_t ns = 0;
	size_t n = 0, bytes = 0;

	for (int i = 0; i < N_RUNS; i++)
		if (index_once(fd, &ns, &n, &bytes) < 0)
			return;
	printf("index_symbols %zu\nindex_bytes %zu\nindex_ns %" PRIu64 "\n", n, bytes, ns);
}

/* Evenly over the text. */
static int text_of(int fd, uint64_t *ret_file_off, uint64_t *ret_bytes)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	const struct elf_section *text;
	struct bytes bytes;

	if (bytes_from_fd(fd, &bytes) != 0 || elf_new(bytes, &elf) != 0 ||
	    elf_load_sections(elf) != 0)
		return -1;
	text = elf_section_by_name(elf, ".text");
	if (!text)
		return -1;
	*ret_file_off = text->file_off;
	*ret_bytes = text->size_bytes;
	return 0;
}

static uint64_t name_once(const struct mapped_file *file, uint64_t file_off, uint64_t n_bytes,
			  size_t *ret_named)
{
	struct symbol_store_options options = SYMBOL_STORE_OPTIONS_INIT;
	_cleanup_(symbol_store_freep) struct symbol_store *store = NULL;
	struct frames frames;

	if (symbol_store_new(&options, &store) < 0)
		return 0;
	uint64_t begin = cpu_ns();
	*ret_named = 0;
	symbol_store_begin(store);
	for (uint64_t i = 0; i < N_ADDRESSES; i++) {
		symbol_resolve_user(store, file, file_off + i * (n_bytes / N_ADDRESSES), &frames);
		*ret_named += strchr(frames.items[0].function, '+') == NULL;
	}
	symbol_store_end(store);
	return cpu_ns() - begin;
}

static void bench_store(int fd)
{
	struct mapped_file file = { .id = 1, .path = large, .fd = -1, .debug_fd = -1, .n_refs = 1 };
	uint64_t file_off = 0, n_bytes = 0, ns = 0;
	size_t n_named = 0;

	if (text_of(fd, &file_off, &n_bytes) < 0)
		return;
	mapped_file_take_fd(&file, fd);
	for (int i = 0; i < N_RUNS; i++)
		ns = min_of(ns, name_once(&file, file_off, n_bytes, &n_named));
	printf("store_ns %" PRIu64 "\nstore_named %zu\n", ns, n_named);
}

/* What is resident, by /proc/self/statm. */
static size_t resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (!f || fscanf(f, "%*u %lu", &pages) != 1)
		return 0;
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static size_t name_object(struct symbol_store *store, const struct mapped_file *file)
{
	uint64_t file_off, n_bytes;
	struct frames frames;
	size_t n_named = 0;

	if (text_of(file->fd, &file_off, &n_bytes) < 0)
		return 0;
	for (uint64_t i = 0; i < N_A_FILE; i++) {
		symbol_resolve_user(store, file, file_off + i * (n_bytes / N_A_FILE), &frames);
		n_named += strchr(frames.items[0].function, '+') == NULL;
	}
	return n_named;
}

static void bench_objects(void)
{
	struct symbol_store_options options = SYMBOL_STORE_OPTIONS_INIT;
	_cleanup_(symbol_store_freep) struct symbol_store *store = NULL;
	size_t before = resident_bytes(), n_named = 0;

	if (n_objects == 0 || symbol_store_new(&options, &store) < 0)
		return;
	symbol_store_begin(store);
	for (size_t i = 0; i < n_objects; i++)
		n_named += name_object(store, &objects[i]);
	size_t after = resident_bytes();
	symbol_store_end(store);
	printf("objects %zu\nobjects_resident %zu\nobjects_held %zu\nobjects_named %zu\n",
	       n_objects, after - before, symbol_store_object_bytes(store), n_named);
}

/* Functions of the kernel that an interval asks for, spread over all of it, and what the next interval takes for the same. */
static void bench_kernel_names(struct kallsyms *k, const uint64_t *pcs, size_t n)
{
	uint64_t first_ns = 0, again_ns = UINT64_MAX;

	for (int i = 0; i <= N_RUNS; i++) {
		struct kallsyms_symbol symbol;
		uint64_t begin = cpu_ns();

		for (size_t j = 0; j < n; j++)
			(void)kallsyms_find(k, pcs[j], &symbol);
		kallsyms_rest(k);
		if (i == 0)
			first_ns = cpu_ns() - begin;
		else
			again_ns = min_of(again_ns, cpu_ns() - begin);
	}
	printf("kernel_names_n %zu\nkernel_names_first_ns %" PRIu64 "\n", n, first_ns);
	printf("kernel_names_again_ns %" PRIu64 "\n", again_ns);
}

static size_t spread_pcs(uint64_t *pcs, size_t n)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/kallsyms", "re");
	size_t n_lines = 0, found = 0;
	char line[1024];

	while (f && found < n && fgets(line, sizeof(line), f))
		if (++n_lines % KERNEL_NAMES_EACH == 0)
			pcs[found++] = strtoull(line, NULL, 16);
	return found;
}

static void bench_kernel(void)
{
	uint64_t pcs[N_KERNEL_NAMES];
	size_t n_pcs = spread_pcs(pcs, N_KERNEL_NAMES);
	uint64_t ns = 0;

	for (int i = 0; i < N_RUNS; i++) {
		_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;
		uint64_t begin = cpu_ns();

		if (kallsyms_load("/proc/kallsyms", KALLSYMS_MAX_BYTES, &k) < 0 ||
		    kallsyms_n_symbols(k) == 0)
			return;
		ns = min_of(ns, cpu_ns() - begin);
		if (i == 0)
			printf("kernel_symbols %zu\nkernel_bytes %zu\n", kallsyms_n_symbols(k),
			       kallsyms_bytes(k));
		if (i == 0)
			bench_kernel_names(k, pcs, n_pcs);
	}
	printf("kernel_ns %" PRIu64 "\n", ns);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		(void)nftw(argv[i], look, MAX_OPEN_DIRECTORIES, FTW_PHYS);
	for (int i = 1; i < argc; i++)
		(void)nftw(argv[i], collect, MAX_OPEN_DIRECTORIES, FTW_PHYS);
	bench_objects();
	_cleanup_close_ int fd = large[0] ? open(large, O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0) {
		bench_index(fd);
		bench_store(fd);
	}
	bench_kernel();
	return 0;
}
