/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration language: a file of 10,000 lines to a tree, its references, and every attribute
 * to a value. usage: river
 *
 * Prints lines "name value"; the best CPU time of some runs counts. Memory is what the arena took
 * from malloc, tree and values together.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "river-config/river.h"

#define N_RUNS 20
#define N_LINES 10000
/* A component below has 24 lines of under 1 KiB together. */
#define TEXT_BYTES ((size_t)N_LINES * 100)
#define ARENA_BYTES ((size_t)256 << 20)

/* What discovery.relabel looks like on disk: targets, rules, comments, calls, sums. */
static const char component[] =
	"// Component number %u\n"
	"discovery.relabel \"r%u\" {\n"
	"\ttargets = [\n"
	"\t\t{\"__name__\" = \"cpu\", \"service_name\" = \"svc-%u\", \"__process_pid__\" = "
	"\"%u\"},\n"
	"\t\t{\"service_name\" = string.join([\"a\", \"b\", \"%u\"], \"-\")},\n"
	"\t]\n"
	"\n"
	"\trule {\n"
	"\t\tsource_labels = [\"__meta_docker_container_name\", \"pod\"]\n"
	"\t\tregex         = \"/?(.*)-[0-9]+\"\n"
	"\t\ttarget_label  = \"service_name\"\n"
	"\t\treplacement   = \"$1\" + \"-\" + string.to_upper(\"x%u\")\n"
	"\t}\n"
	"\n"
	"\trule {\n"
	"\t\taction  = \"labeldrop\" // and no more\n"
	"\t\tregex   = \"__meta_.*\"\n"
	"\t\tmodulus = (%u * 3 + 4) %% 7\n"
	"\t}\n"
	"}\n"
	"\n"
	"declare.field \"d%u\" {\n"
	"\tvalue = constants.os == \"linux\" && !false\n"
	"}\n";
#define COMPONENT_LINES 24

static size_t n_attributes;
static size_t n_references;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t min_of(uint64_t best, uint64_t ns)
{
	return best == 0 || ns < best ? ns : best;
}

static size_t make_text(char *text)
{
	size_t len = 0;

	for (unsigned int i = 0; i < N_LINES / COMPONENT_LINES + 1; i++) {
		int n = snprintf(text + len, TEXT_BYTES - len, component, i, i, i, i, i, i, i, i);

		if (n < 0 || (size_t)n >= TEXT_BYTES - len)
			return 0;
		len += (size_t)n;
	}
	return len;
}

static int count(void *ctx, const struct river_reference *ref)
{
	*(size_t *)ctx += ref->n_parts > 0;
	return 0;
}

static int eval_body(const struct river_body *body, struct river_arena *arena,
		     struct river_diags *diags)
{
	const struct river_scope scope = { .version = "1" };
	const struct river_value *value;
	int r = 0;

	for (size_t i = 0; i < body->n_stmts && r == 0; i++) {
		const struct river_stmt *stmt = body->stmts[i];

		if (stmt->kind == RIVER_STMT_BLOCK) {
			r = eval_body(&stmt->body, arena, diags);
			continue;
		}
		r = river_eval(stmt->value, &scope, arena, diags, &value);
		n_attributes++;
	}
	return r;
}

struct figures {
	uint64_t parse_ns, references_ns, eval_ns;
	size_t tree_bytes, bytes;
};

static int run(const char *text, size_t len, struct figures *f)
{
	const struct river_file *file;
	struct river_arena arena;
	struct river_diags diags;
	uint64_t begin = cpu_ns();
	int r;

	n_attributes = n_references = 0;
	river_arena_init(&arena, ARENA_BYTES);
	river_diags_init(&diags, &arena);
	r = river_parse("bench.alloy", text, len, &arena, &diags, &file);
	f->parse_ns = min_of(f->parse_ns, cpu_ns() - begin);
	f->tree_bytes = arena.used_bytes;
	begin = cpu_ns();
	if (r == 0)
		r = river_body_references(&file->body, count, &n_references);
	f->references_ns = min_of(f->references_ns, cpu_ns() - begin);
	begin = cpu_ns();
	if (r == 0)
		r = eval_body(&file->body, &arena, &diags);
	f->eval_ns = min_of(f->eval_ns, cpu_ns() - begin);
	f->bytes = arena.used_bytes;
	river_arena_fini(&arena);
	return r;
}

int main(void)
{
	char *text = malloc(TEXT_BYTES);
	size_t len = text ? make_text(text) : 0;
	struct figures f = { 0 };
	int r = len ? 0 : -1;

	for (int i = 0; i < N_RUNS && r == 0; i++)
		r = run(text, len, &f);
	if (r == 0)
		printf("river_text_bytes %zu\nriver_attributes %zu\nriver_references %zu\n"
		       "river_parse_ns %" PRIu64 "\nriver_references_ns %" PRIu64
		       "\nriver_eval_ns %" PRIu64 "\nriver_tree_bytes %zu\nriver_bytes %zu\n",
		       len, n_attributes, n_references, f.parse_ns, f.references_ns, f.eval_ns,
		       f.tree_bytes, f.bytes);
	free(text);
	return r == 0 ? 0 : 1;
}
