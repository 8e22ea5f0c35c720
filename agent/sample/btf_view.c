/* SPDX-License-Identifier: Apache-2.0 */
/* Reading type information. */
#include "agent/sample/btf_view.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* The kernel's own ceiling on type ids, include/uapi/linux/btf.h. */
#define MAX_TYPES BTF_MAX_TYPE

/* A section lies behind the header, whole. */
static bool holds(struct str raw, const struct btf_header *h, uint32_t off, uint32_t len)
{
	uint64_t begin = (uint64_t)h->hdr_len + off;

	return begin <= raw.n && len <= raw.n - begin;
}

static int read_header(struct str raw, const struct btf_header **ret_header)
{
	const struct btf_header *h = (const void *)raw.p;

	if (raw.n < sizeof(*h) || h->magic != BTF_MAGIC || h->version != BTF_VERSION)
		return -EBADMSG;
	if (h->hdr_len < sizeof(*h) || h->hdr_len % 4 != 0 || h->type_off % 4 != 0)
		return -EBADMSG;
	if (!holds(raw, h, h->type_off, h->type_len) || !holds(raw, h, h->str_off, h->str_len))
		return -EBADMSG;
	if (h->str_len == 0 || raw.p[(size_t)h->hdr_len + h->str_off + h->str_len - 1] != '\0')
		return -EBADMSG;
	*ret_header = h;
	return 0;
}

int btf_tail_bytes(const struct btf_type *t)
{
	int n = (int)BTF_INFO_VLEN(t->info);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return n * (int)sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return n * (int)sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return n * (int)sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return n * (int)sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return n * (int)sizeof(struct btf_var_secinfo);
	default:
		return -ENOTSUP;
	}
}

/* Types have no common size: their places are found by going through them once. */
static int find_places(struct btf_view *v, uint32_t n_bytes)
{
	uint32_t at = 0;

	while (at < n_bytes) {
		const struct btf_type *t = (const void *)(v->types + at);

		if (n_bytes - at < sizeof(*t) || v->n == MAX_TYPES)
			return -EBADMSG;
		int tail = btf_tail_bytes(t);
		if (tail < 0)
			return tail;
		if (n_bytes - at - sizeof(*t) < (uint32_t)tail)
			return -EBADMSG;
		v->places[v->n++] = at;
		at += (uint32_t)sizeof(*t) + (uint32_t)tail;
	}
	return 0;
}

int btf_view_init(struct btf_view *v, struct str raw)
{
	const struct btf_header *h = NULL;
	int r = read_header(raw, &h);

	*v = (struct btf_view){ 0 };
	if (r < 0)
		return r;
	v->types = (const uint8_t *)raw.p + h->hdr_len + h->type_off;
	v->names = raw.p + h->hdr_len + h->str_off;
	v->n_name_bytes = h->str_len;
	/* As many as there can be; pages behind the last one are never touched. */
	v->places = calloc(h->type_len / sizeof(struct btf_type) + 1, sizeof(*v->places));
	return v->places ? find_places(v, h->type_len) : -ENOMEM;
}

void btf_view_fini(struct btf_view *v)
{
	free(v->places);
	*v = (struct btf_view){ 0 };
}

const struct btf_type *btf_view_type(const struct btf_view *v, uint32_t id)
{
	return id > 0 && id <= v->n ? (const void *)(v->types + v->places[id - 1]) : NULL;
}

const char *btf_view_name(const struct btf_view *v, uint32_t name_off)
{
	return name_off < v->n_name_bytes ? v->names + name_off : NULL;
}
