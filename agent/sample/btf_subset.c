/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A part of a BTF, by names.
 *
 *	names of the object ─► types of the kernel ─► what lies in them ─► written with new ids and names
 *
 * Names are written as often as they occur: nobody compares them by offset.
 */
#include "agent/sample/btf_subset.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sample/btf_view.h"
#include "agent/util/hash.h"
#include "agent/util/macro.h"

/* The flavour behind it is not part of a type's name (libbpf, bpf_core_essential_name_len). */
#define FLAVOUR "___"

struct wanted_name {
	struct hash_node node;
	struct str name;
};

struct subset {
	struct btf_view kernel;
	struct btf_view object;
	struct wanted_name *wanted; /* one for each type of the object */
	struct hash_table names;
	uint32_t *new_ids; /* of the kernel's type i, 0: not taken */
	uint32_t *taken;   /* the kernel's ids, in the order of the new ones */
	uint32_t n_taken;
	struct buf *types;
	struct buf strings;
};

static void subset_fini(struct subset *s)
{
	btf_view_fini(&s->kernel);
	btf_view_fini(&s->object);
	hash_fini(&s->names);
	free(s->wanted);
	free(s->new_ids);
	free(s->taken);
	buf_fini(&s->strings);
}

static bool can_be_asked_for(const struct btf_type *t)
{
	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
	case BTF_KIND_TYPEDEF:
		return true;
	default:
		return false;
	}
}

static bool is_wanted(const struct subset *s, struct str name)
{
	HASH_FOREACH_MATCH (&s->names, hash_bytes(name.p, name.n, 0), node)
		if (str_eq(CONTAINER_OF(node, struct wanted_name, node)->name, name))
			return true;
	return false;
}

static int want(struct subset *s, const struct btf_type *t, struct wanted_name *w)
{
	const char *name = btf_view_name(&s->object, t->name_off);

	if (!name)
		return -EBADMSG;
	const char *flavour = strstr(name, FLAVOUR);
	w->name = str_from(name);
	if (flavour)
		w->name.n = (size_t)(flavour - name);
	if (w->name.n == 0 || is_wanted(s, w->name))
		return 0;
	return hash_insert(&s->names, &w->node, hash_bytes(w->name.p, w->name.n, 0));
}

static int want_names(struct subset *s)
{
	int r = 0;

	s->wanted = calloc((size_t)s->object.n + 1, sizeof(*s->wanted));
	if (!s->wanted)
		return -ENOMEM;
	for (uint32_t id = 1; id <= s->object.n && r == 0; id++) {
		const struct btf_type *t = btf_view_type(&s->object, id);

		if (can_be_asked_for(t))
			r = want(s, t, &s->wanted[id]);
	}
	return r;
}

static int take(struct subset *s, uint32_t id)
{
	if (id == 0)
		return 0;
	if (id > s->kernel.n)
		return -EBADMSG;
	if (s->new_ids[id])
		return 0;
	assert(s->n_taken < s->kernel.n);
	s->taken[s->n_taken++] = id;
	s->new_ids[id] = s->n_taken;
	return 0;
}

static int take_named(struct subset *s)
{
	for (uint32_t id = 1; id <= s->kernel.n; id++) {
		const struct btf_type *t = btf_view_type(&s->kernel, id);

		if (!t->name_off || !can_be_asked_for(t))
			continue;
		const char *name = btf_view_name(&s->kernel, t->name_off);
		int r = !name ? -EBADMSG : is_wanted(s, str_from(name)) ? take(s, id) : 0;
		if (r < 0)
			return r;
	}
	return s->n_taken ? 0 : -ENOENT;
}

static int take_members(struct subset *s, const struct btf_type *t)
{
	const struct btf_member *m = (const void *)(t + 1);
	int r = 0;

	for (uint32_t i = 0; i < BTF_INFO_VLEN(t->info) && r == 0; i++)
		r = take(s, m[i].type);
	return r;
}

/* What lies in a type. */
static int take_parts(struct subset *s, const struct btf_type *t)
{
	const struct btf_array *array = (const void *)(t + 1);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return take_members(s, t);
	case BTF_KIND_ARRAY: {
		int r = take(s, array->type);
		return r < 0 ? r : take(s, array->index_type);
	}
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		return take(s, t->type);
	case BTF_KIND_PTR:
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
	case BTF_KIND_FWD:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return 0;
	/* The alias of a function's type. */
	case BTF_KIND_FUNC_PROTO:
		return 0;
	default:
		return -EBADMSG;
	}
}

/* Each type once: what is taken while going through them is behind. */
static int take_all(struct subset *s)
{
	int r = take_named(s);

	for (uint32_t i = 0; i < s->n_taken && r == 0; i++)
		r = take_parts(s, btf_view_type(&s->kernel, s->taken[i]));
	return r;
}

static int write_name(struct subset *s, uint32_t name_off, uint32_t *ret_name_off)
{
	const char *name = btf_view_name(&s->kernel, name_off);
	uint32_t at = (uint32_t)s->strings.len;

	if (!name)
		return -EBADMSG;
	*ret_name_off = *name ? at : 0;
	return *name ? buf_append(&s->strings, name, strlen(name) + 1) : 0;
}

static int write_members(struct subset *s, const struct btf_type *t)
{
	const struct btf_member *members = (const void *)(t + 1);

	for (uint32_t i = 0; i < BTF_INFO_VLEN(t->info); i++) {
		struct btf_member m = members[i];
		int r = write_name(s, m.name_off, &m.name_off);

		if (r < 0)
			return r;
		assert(m.type <= s->kernel.n);
		m.type = s->new_ids[m.type];
		r = buf_append(s->types, &m, sizeof(m));
		if (r < 0)
			return r;
	}
	return 0;
}

/* Values of both widths begin with their name. */
static int write_values(struct subset *s, const struct btf_type *t)
{
	size_t n_bytes = BTF_INFO_KIND(t->info) == BTF_KIND_ENUM64 ? sizeof(struct btf_enum64)
								   : sizeof(struct btf_enum);
	const char *from = (const char *)(t + 1);

	for (uint32_t i = 0; i < BTF_INFO_VLEN(t->info); i++, from += n_bytes) {
		const struct btf_enum *value = (const void *)from;
		uint32_t name_off = 0;
		int r = write_name(s, value->name_off, &name_off);

		if (r < 0)
			return r;
		r = buf_append(s->types, &name_off, sizeof(name_off));
		if (r < 0)
			return r;
		r = buf_append(s->types, from + sizeof(name_off), n_bytes - sizeof(name_off));
		if (r < 0)
			return r;
	}
	return 0;
}

static int write_tail(struct subset *s, const struct btf_type *t)
{
	struct btf_array array;

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return write_members(s, t);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return write_values(s, t);
	case BTF_KIND_ARRAY:
		memcpy(&array, t + 1, sizeof(array));
		array.type = s->new_ids[array.type];
		array.index_type = s->new_ids[array.index_type];
		return buf_append(s->types, &array, sizeof(array));
	default:
		return buf_append(s->types, t + 1, (size_t)btf_tail_bytes(t));
	}
}

static int write_type(struct subset *s, const struct btf_type *t)
{
	struct btf_type copy = *t;
	int r = write_name(s, t->name_off, &copy.name_off);

	if (r < 0)
		return r;
	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		copy.type = s->new_ids[t->type];
		break;
	case BTF_KIND_PTR:
		copy.type = 0;
		break;
	/* Without what it takes and returns. */
	case BTF_KIND_FUNC_PROTO:
		copy.info = (uint32_t)BTF_KIND_FUNC_PROTO << 24;
		copy.type = 0;
		return buf_append(s->types, &copy, sizeof(copy));
	default:
		break;
	}
	r = buf_append(s->types, &copy, sizeof(copy));
	return r < 0 ? r : write_tail(s, t);
}

static int write_all(struct subset *s)
{
	struct btf_header h = { .magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(h) };
	/* The name at 0 is that of all that have none. */
	int r = buf_append_char(&s->strings, '\0');

	if (r < 0)
		return r;
	r = buf_append(s->types, &h, sizeof(h));
	for (uint32_t i = 0; i < s->n_taken && r == 0; i++)
		r = write_type(s, btf_view_type(&s->kernel, s->taken[i]));
	if (r < 0)
		return r;
	h.type_len = (uint32_t)(s->types->len - sizeof(h));
	h.str_off = h.type_len;
	h.str_len = (uint32_t)s->strings.len;
	memcpy(s->types->data, &h, sizeof(h));
	return buf_append(s->types, s->strings.data, s->strings.len);
}

int btf_subset(struct str kernel, struct str object, struct buf *out)
{
	_cleanup_(subset_fini) struct subset s = { .types = out,
						   .strings = BUF_INIT(out->max_bytes) };
	int r = btf_view_init(&s.kernel, kernel);

	assert(out->len == 0);
	if (r < 0)
		return r;
	r = btf_view_init(&s.object, object);
	if (r < 0)
		return r;
	s.new_ids = calloc((size_t)s.kernel.n + 1, sizeof(*s.new_ids));
	s.taken = calloc((size_t)s.kernel.n + 1, sizeof(*s.taken));
	if (!s.new_ids || !s.taken)
		return -ENOMEM;
	r = want_names(&s);
	if (r < 0)
		return r;
	r = take_all(&s);
	if (r < 0)
		return r;
	return write_all(&s);
}
