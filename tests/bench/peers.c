/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/peers.h"

#include <bpf/bpf.h>
#include <sys/mman.h>

#include "agent/util/macro.h"
#include "tests/bench/peers_bench.h"

/* 500 processes of 20 executable mappings, five prefixes each: what the trie holds on a busy host. */
#define N_OTHER_PROCESSES 500
#define N_OTHER_PREFIXES 100
#define PAGE_BYTES 65536ULL

struct filling {
	int pages_fd;
	uint32_t object;
	struct peers_row *rows; /* a mapped array */
	uint32_t n_rows;
	uint64_t page;	/* of the last row */
	uint32_t first; /* of its rows */
	struct peers_row last;
};

static int count_row(uint64_t file_off, const struct unwind_rule *rule, void *data)
{
	uint32_t *n = data;

	(void)rule;
	(void)file_off;
	(*n)++;
	return 0;
}

static int close_page(const struct filling *f)
{
	struct peers_page key = { f->object, (uint32_t)f->page };
	struct peers_range value = { f->first, f->n_rows };

	return bpf_map_update_elem(f->pages_fd, &key, &value, BPF_ANY) < 0 ? -errno : 0;
}

/* What holds at the first byte of a page is repeated there. */
static int open_page(struct filling *f, uint64_t page)
{
	int r = 0;

	while (r == 0 && f->page < page) {
		r = close_page(f);
		f->page++;
		f->first = f->n_rows;
		f->rows[f->n_rows] = f->last;
		f->rows[f->n_rows++].low = 0;
	}
	return r;
}

static int add_row(uint64_t file_off, const struct unwind_rule *rule, void *data)
{
	struct filling *f = data;
	int r;

	if (f->n_rows == 0)
		f->page = file_off / PAGE_BYTES;
	r = open_page(f, file_off / PAGE_BYTES);
	f->last = (struct peers_row){
		.low = (uint16_t)file_off,
		.cfa_off = (uint16_t)rule->cfa_off,
		.fp_off = rule->fp == RULE_FP_CFA ? (int16_t)rule->fp_off : 0,
	};
	f->rows[f->n_rows++] = f->last;
	return r;
}

static int add_table(const struct bpf_object *object, const struct context *w, uint32_t i)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	const struct context_object *o = &w->objects[i];
	uint32_t n = (uint32_t)((o->end - o->begin) / PAGE_BYTES) + 2;
	struct filling f = { .pages_fd = bpf_object__find_map_fd_by_name(object, "pages"),
			     .object = i };
	int r = context_foreach_row(w, i, count_row, &n);
	size_t bytes = (size_t)n * sizeof(struct peers_row);
	_cleanup_close_ int fd = r < 0 ? r
				       : bpf_map_create(BPF_MAP_TYPE_ARRAY, "rows", sizeof(i),
							sizeof(struct peers_row), n, &opts);

	if (fd < 0)
		return r < 0 ? r : -errno;
	f.rows = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (f.rows == MAP_FAILED)
		return -errno;
	r = context_foreach_row(w, i, add_row, &f);
	if (r == 0)
		r = close_page(&f);
	(void)munmap(f.rows, bytes);
	if (r == 0 && bpf_map_update_elem(bpf_object__find_map_fd_by_name(object, "tables"), &i,
					  &fd, BPF_ANY) < 0)
		r = -errno;
	return r;
}

static int add_prefix(int fd, uint32_t pid, uint64_t begin, uint32_t n_bits,
		      const struct peers_mapping *value)
{
	struct peers_prefix key = { 32 + n_bits, __builtin_bswap32(pid), __builtin_bswap64(begin) };

	return bpf_map_update_elem(fd, &key, value, BPF_ANY) < 0 ? -errno : 0;
}

/* The prefixes that a range of addresses consists of. */
static int add_mapping(int fd, const struct context *w, uint32_t i)
{
	const struct wire_mapping *m = &w->mappings[i];
	struct peers_mapping value = { m->begin - w->objects[i].begin, i, 0 };
	uint64_t at = m->begin;
	uint64_t end = at + (uint64_t)m->n_pages * WIRE_PAGE_BYTES;
	int r = 0;

	while (r == 0 && at < end) {
		unsigned int shift = (unsigned int)MIN_OF(__builtin_ctzll(at), 40);

		while (at + (1ULL << shift) > end)
			shift--;
		r = add_prefix(fd, 1, at, 64 - shift, &value);
		at += 1ULL << shift;
	}
	return r;
}

static int add_others(int fd, struct context *w)
{
	int r = 0;

	for (uint32_t pid = 2; pid < 2 + N_OTHER_PROCESSES; pid++)
		for (uint32_t i = 0; r == 0 && i < N_OTHER_PREFIXES; i++)
			r = add_prefix(
				fd, pid,
				0x7f0000000000ULL + ((uint64_t)context_random(w, 1u << 28) << 12),
				64 - 12 - context_random(w, 9), &(struct peers_mapping){ 0 });
	return r;
}

int peers_fill(const struct bpf_object *object, struct context *w)
{
	int fd = bpf_object__find_map_fd_by_name(object, "prefixes");
	int r = add_others(fd, w);

	for (uint32_t i = 0; r == 0 && i < w->n_mappings; i++) {
		r = add_table(object, w, i);
		if (r == 0)
			r = add_mapping(fd, w, i);
	}
	return r;
}
