/* SPDX-License-Identifier: Apache-2.0 */
/* Intervals as one tree. */
#include "agent/draw/flame_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/macro.h"
#include "agent/util/str.h"

#define FIRST_KINDS 1024
#define NO_KIND FLAME_KIND_MAX

int flame_tree_init(struct flame_tree *t, size_t max_bytes)
{
	return call_tree_new(NULL, max_bytes, &t->calls);
}

void flame_tree_fini(struct flame_tree *t)
{
	call_tree_free(t->calls);
	free(t->kinds);
	*t = (struct flame_tree){ 0 };
}

enum flame_kind flame_tree_kind(const struct flame_tree *t, uint32_t name)
{
	return name < t->n_kinds && t->kinds[name] != NO_KIND ? t->kinds[name] : FLAME_PROGRAM;
}

static enum flame_kind kind_of_file(const struct frame *f)
{
	struct str file = str_basename(str_from(f->object->path));

	if (strstr(f->function, "+0x"))
		return FLAME_UNNAMED;
	return memmem(file.p, file.n, ".so", 3) ? FLAME_LIBRARY : FLAME_PROGRAM;
}

static enum flame_kind kind_of(const struct frame *f)
{
	if (f->object->kind == FRAME_OBJECT_KERNEL)
		return FLAME_KERNEL;
	if (*f->function == '[')
		return FLAME_NOTE;
	if (f->object->kind == FRAME_OBJECT_ANON || f->object->kind == FRAME_OBJECT_SOURCE)
		return FLAME_JIT;
	return f->object->kind == FRAME_OBJECT_VDSO ? FLAME_LIBRARY : kind_of_file(f);
}

static int grow_kinds(struct flame_tree *t, uint32_t name)
{
	size_t n = MAX_OF(2 * t->n_kinds, (size_t)FIRST_KINDS);
	uint8_t *kinds;

	n = MAX_OF(n, (size_t)name + 1);
	kinds = realloc(t->kinds, n);
	if (!kinds)
		return -ENOMEM;
	memset(kinds + t->n_kinds, NO_KIND, n - t->n_kinds);
	t->kinds = kinds;
	t->n_kinds = n;
	return 0;
}

static int note_kind(struct flame_tree *t, uint32_t name, const struct frame *f)
{
	int r = name < t->n_kinds ? 0 : grow_kinds(t, name);

	if (r == 0 && t->kinds[name] == NO_KIND)
		t->kinds[name] = (uint8_t)kind_of(f);
	return r;
}

static int descend(struct flame_tree *t, const char *text, uint32_t *ret_name, uint32_t *node)
{
	uint32_t child;
	int r = call_tree_name(t->calls, text, strlen(text), ret_name);

	if (r == 0)
		r = call_tree_child(t->calls, *node, *ret_name, &child);
	if (r == 0)
		*node = child;
	return r;
}

/* An address with the functions inlined there, innermost first. */
static int descend_named(struct flame_tree *t, const struct named *named, uint32_t *node)
{
	uint32_t name;
	int r = 0;

	for (uint32_t i = named->n; r == 0 && i-- > 0;) {
		r = descend(t, named->items[i].function, &name, node);
		if (r == 0)
			r = note_kind(t, name, &named->items[i]);
	}
	return r;
}

static int add_stack(struct flame_tree *t, const struct stack *stack, struct namer *namer)
{
	struct named_stack named;
	uint32_t process, node = CALL_ROOT;
	int r = namer_stack(namer, stack, &named);

	if (r == 0)
		r = descend(t, series_name(stack->series), &process, &node);
	for (uint32_t i = r == 0 ? named.n : 0; r == 0 && i-- > 0;)
		r = descend_named(t, named.items[i], &node);
	if (r == 0)
		call_tree_add(t->calls, node, CALL_LEFT, stack_weight(stack));
	return r;
}

void flame_tree_add_series(struct flame_tree *t, const struct series *series, struct namer *namer,
			   struct build *build)
{
	for (const struct stack *stack = series->stacks; stack; stack = stack->next) {
		if (!stack_is_empty(stack) && add_stack(t, stack, namer) < 0)
			build->summary.n_failed += stack->count - stack->n_again;
		else
			build->summary.n_samples += stack->count - stack->n_again;
	}
}

void flame_tree_build(const struct interval *interval, struct namer *namer, struct build *build)
{
	for (const struct series *s = interval->series; s; s = s->next)
		flame_tree_add_series(build->data, s, namer, build);
}
