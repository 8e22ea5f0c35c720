/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that the host keeps in a form of its own.
 *
 * All objects of one array share a list, which lies in their arena. Members that somebody asks for are
 * made in an arena of the list's own: the arena around it may have moved by then.
 */
#include "river-config/value.h"

#include <errno.h>
#include <string.h>

struct river_foreign_list {
	const struct river_foreign *kind;
	struct river_arena members;
};

static void list_end(void *data)
{
	struct river_foreign_list *list = data;

	river_arena_fini(&list->members);
}

static struct river_foreign_list *list_new(struct river_arena *a, const struct river_foreign *kind)
{
	struct river_foreign_list *list = river_arena_alloc(a, sizeof(*list));

	if (!list || river_arena_defer(a, list_end, list) < 0)
		return NULL;
	list->kind = kind;
	river_arena_init(&list->members, a->max_bytes);
	return list;
}

struct foreign_array {
	struct river_value *values;
	struct river_value **items;
	const void **kept;
};

static bool array_room(struct river_arena *a, size_t n, struct foreign_array *room)
{
	room->values = river_arena_alloc(a, n * sizeof(*room->values));
	room->items = river_arena_alloc(a, n * sizeof(struct river_value *));
	room->kept = river_arena_alloc(a, n * sizeof(*room->kept));
	return room->values && room->items && room->kept;
}

static void set_foreign(struct river_value *v, struct river_foreign_list *list, const void *item)
{
	*v = (struct river_value){ .type = RIVER_TYPE_OBJECT };
	v->object.foreign = list;
	v->object.item = item;
}

static struct river_value *foreigns(struct river_arena *a, const struct river_foreign *kind,
				    const void *const *items, size_t n)
{
	struct river_foreign_list *list = list_new(a, kind);
	struct foreign_array room;

	if (!list || !array_room(a, n, &room))
		return NULL;
	if (n)
		memcpy(room.kept, items, n * sizeof(*room.kept));
	if (kind->keep(a, room.kept, n) < 0)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		set_foreign(&room.values[i], list, items[i]);
		room.items[i] = &room.values[i];
	}
	return river_value_wrap_array(a, room.items, n);
}

const struct river_value *river_value_foreigns(struct river_arena *a,
					       const struct river_foreign *kind,
					       const void *const *items, size_t n_items)
{
	return foreigns(a, kind, items, n_items);
}

const void *river_value_get_foreign(const struct river_value *v, const struct river_foreign *kind)
{
	return river_value_is_foreign(v) && v->object.foreign->kind == kind ? v->object.item : NULL;
}

bool river_value_open(const struct river_value *v)
{
	struct river_value *object = (struct river_value *)v;
	const struct river_value *made;

	if (!river_value_is_foreign(v) || v->object.members)
		return true;
	made = v->object.foreign->kind->open(&v->object.foreign->members, v->object.item);
	if (!made)
		return false;
	object->object.members = made->object.members;
	object->object.n_members = made->object.n_members;
	return true;
}

struct river_value *river_foreign_copy(struct river_arena *a, const struct river_value *v)
{
	struct river_value *array = foreigns(a, v->object.foreign->kind, &v->object.item, 1);

	return array ? array->array.items[0] : NULL;
}

struct river_value *river_foreign_copy_array(struct river_arena *a, const struct river_value *v,
					     bool *ret_same)
{
	size_t n = v->array.n_items;
	const struct river_foreign *kind = n && river_value_is_foreign(v->array.items[0])
						   ? v->array.items[0]->object.foreign->kind
						   : NULL;
	const void **items;

	*ret_same = kind;
	for (size_t i = 0; i < n && *ret_same; i++)
		*ret_same = river_value_get_foreign(v->array.items[i], kind) != NULL;
	if (!*ret_same)
		return NULL;
	items = river_arena_alloc(a, n * sizeof(*items));
	for (size_t i = 0; i < n && items; i++)
		items[i] = v->array.items[i]->object.item;
	return items ? foreigns(a, kind, items, n) : NULL;
}

bool river_foreign_compare(const struct river_value *a, const struct river_value *b,
			   bool *ret_equal)
{
	const struct river_foreign *kind =
		river_value_is_foreign(a) ? a->object.foreign->kind : NULL;

	if (!kind || !river_value_get_foreign(b, kind))
		return false;
	*ret_equal =
		a->object.item == b->object.item || kind->equal(a->object.item, b->object.item);
	return true;
}
