/* SPDX-License-Identifier: Apache-2.0 */
/* The frame that tells who has ended a wait. */
#include "agent/profile/waker_frame.h"

#include <ctype.h>
#include <string.h>

#include "agent/util/hash.h"
#include "agent/util/macro.h"

#define BEGIN "[woken "
#define BY "by "
#define END "]"

static uint64_t hash_of(const void *place)
{
	return hash_bytes(place, sizeof(struct waker_name), 0);
}

static bool is_equal(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct waker_name)) == 0;
}

_Static_assert(sizeof(struct waker_name) == WIRE_COMM_BYTES + sizeof(uint64_t),
	       "no gaps: they are compared as they lie");

static const struct place_kind kind = { sizeof(struct waker_name), hash_of, is_equal };

struct waker_name waker_name_of(const char *comm)
{
	struct waker_name name = { .comm = "" };

	memcpy(name.comm, comm, strnlen(comm, sizeof(name.comm)));
	return name;
}

int waker_names_get(struct waker_names *t, struct arena *arena, const struct waker_name *name,
		    uint32_t *ret_index)
{
	if (place_table_find(&t->places, &kind, name, ret_index))
		return 0;
	return place_table_add(&t->places, &kind, arena, name, ret_index);
}

const struct waker_name *waker_names_at(const struct waker_names *t, size_t i)
{
	return i < t->places.n ? (const struct waker_name *)t->places.items + i : NULL;
}

/* The process chose its name. */
static void put_comm(const struct waker_name *name, struct buf *out)
{
	for (size_t i = 0; i < sizeof(name->comm) && name->comm[i]; i++)
		(void)buf_append_char(out,
				      isprint((unsigned char)name->comm[i]) ? name->comm[i] : '?');
}

void waker_name_text(const struct waker_name *name, bool has_names, struct buf *out)
{
	bool is_sure = has_names && !name->is_doubtful;

	if (!name->comm[0]) {
		(void)buf_append_str(out, BEGIN BY "interrupt" END);
		return;
	}
	(void)buf_append_str(out, is_sure ? BEGIN BY : BEGIN "while ");
	put_comm(name, out);
	(void)buf_append_str(out, is_sure ? END : " ran" END);
}

struct str waker_name_in(const char *text)
{
	struct str s = str_from(text);

	if (!str_starts_with(s, STR_LIT(BEGIN)) || !str_ends_with(s, STR_LIT(END)))
		return (struct str){ 0 };
	s.p += strlen(BEGIN);
	s.n -= strlen(BEGIN) + strlen(END);
	if (str_starts_with(s, STR_LIT(BY)))
		s = (struct str){ s.p + strlen(BY), s.n - strlen(BY) };
	return s;
}

bool waker_is_interrupt_entry(const char *function)
{
	/* arch/x86/entry/, arch/arm64/kernel/entry.S */
	static const char *const begins[] = {
		"asm_sysvec_", "asm_common_interrupt", "asm_spurious_interrupt",
		"fred_extint", "el1h_64_irq",	       "el1h_64_fiq",
		"el0t_64_irq", "el0t_64_fiq",	       "el0t_32_irq",
		"el0t_32_fiq"
	};

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (strncmp(function, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}
