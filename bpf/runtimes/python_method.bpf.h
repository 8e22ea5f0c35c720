/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which class a method is of, up to CPython 3.10: a code object has the name of its function there, and nothing leads to that.
 *
 * The class that has defined it has the function under that name in its dictionary, and is one of those that the class of the method's first argument
 * is derived from (type.__mro__). The function that is found there runs the very code object, and says itself what it is called (__qualname__): so
 * whatever a program passes as a first argument, another name does not come out. Functions in functions and static methods are not found.
 */
#ifndef XAGENT_BPF_RUNTIMES_PYTHON_METHOD_BPF_H
#define XAGENT_BPF_RUNTIMES_PYTHON_METHOD_BPF_H

/* PyTypeObject, PyTupleObject, PyCellObject, and what a classmethod, staticmethod or property has first, of 3.6 to 3.10. */
#define PYTHON_TYPE_FLAGS 168
#define PYTHON_TYPE_DICT 264
#define PYTHON_TYPE_MRO 344
#define PYTHON_TUPLE_LENGTH 16
#define PYTHON_TUPLE_ITEMS 24
#define PYTHON_WRAPPED 16
/* Py_TPFLAGS_TYPE_SUBCLASS: its objects are classes. */
#define PYTHON_IS_METACLASS (1ULL << 31)

/* Entries of a dictionary that one look-up goes through: the chance that it takes more is below 1 %. */
#define PYTHON_MAX_PROBES 6
/* Classes that one function is looked for in. */
#define PYTHON_MAX_CLASSES 10
/* A first argument that a function in the method refers to lies in one of the method's cells. */
#define PYTHON_MAX_CELLS 3

/* Of the loop over classes. */
struct python_method {
	__u32 level;
	__u64 class_at; /* pointer to the next one */
	__u64 name;	/* str; names in code and in dictionaries are one object */
	__u64 hash;
	__u64 function; /* found */
};

/* words[6 …]: a dictionary's keys and how many there may be; the hash, of which the low bits tell where to look, and what is left of it. */
enum { PYTHON_KEYS = 6, PYTHON_KEYS_SIZE, PYTHON_PROBE, PYTHON_PERTURB };

/* Bytes of each index, by the number of entries. */
static __always_inline __u32 python_index_bytes(__u64 size)
{
	__u32 width = size <= 0xff ? 1 : size <= 0xffff ? 2 : 4;

	/* One state for the verifier, not one for each. */
	barrier_var(width);
	return width;
}

/* The index that is looked at; negative: the entry is empty, or was removed. */
static __always_inline __s32 python_dict_index(struct scratch *s)
{
	const __u64 *w = s->runtime.words;
	__u32 width = python_index_bytes(w[PYTHON_KEYS_SIZE]);
	__u32 unused_bits = (32 - 8 * width) & 31;

	if (!python_get(s,
			w[PYTHON_KEYS] + 40 + (w[PYTHON_PROBE] & (w[PYTHON_KEYS_SIZE] - 1)) * width,
			sizeof(__s32)))
		return -1;
	return (__s32)(python_u32(s, 0) << unused_bits) >> unused_bits;
}

/* Reads an entry: its hash, its key, its value. */
static __always_inline bool python_dict_entry(struct scratch *s, __s32 index)
{
	const __u64 *w = s->runtime.words;
	__u64 size = w[PYTHON_KEYS_SIZE];

	return index >= 0 &&
	       python_get(s,
			  w[PYTHON_KEYS] + 40 + size * python_index_bytes(size) + (__u64)index * 24,
			  24);
}

/*
 * The value that a dictionary has for a name, as CPython itself looks it up (3.6 to 3.10); 0: none. All that is known of it lies in the scratch: the
 * kernel's stack is short.
 */
static __always_inline __u64 python_dict_get(struct scratch *s, const struct python_method *m,
					     __u64 dict)
{
	__u64 *w = s->runtime.words;

	w[PYTHON_KEYS] = python_word(dict + python_layout(s)->dict_keys);
	w[PYTHON_KEYS_SIZE] = python_word(w[PYTHON_KEYS] + 8);
	w[PYTHON_PROBE] = w[PYTHON_PERTURB] = m->hash;
	if (!w[PYTHON_KEYS_SIZE] || w[PYTHON_KEYS_SIZE] & (w[PYTHON_KEYS_SIZE] - 1) ||
	    w[PYTHON_KEYS_SIZE] > 1U << 30)
		return 0;
	/* In the callback of a loop 6.1 takes no other loop. */
#pragma unroll
	for (int i = 0; i < PYTHON_MAX_PROBES; i++) {
		__s32 index = python_dict_index(s);

		if (index == -1)
			return 0;
		if (python_dict_entry(s, index) && python_u64(s, 8) == m->name)
			return python_u64(s, 16);
		w[PYTHON_PERTURB] >>= 5;
		w[PYTHON_PROBE] = w[PYTHON_PROBE] * 5 + w[PYTHON_PERTURB] + 1;
	}
	return 0;
}

/* The function that has the code object of the frame that was read last, if `value` is it or wraps it; else 0. */
static __always_inline __u64 python_function_of(struct scratch *s, __u64 value)
{
	const struct python_layout *l = python_layout(s);
	__u64 type = s->runtime.of.base + l->code_type_at + (__s64)l->function_type;

	for (int i = 0; i < 2 && value; i++) {
		if (python_word(value + l->code_type) == type &&
		    python_word(value + l->func_code) == s->runtime.function)
			return value;
		value = python_word(value + PYTHON_WRAPPED);
	}
	return 0;
}

static long python_method_step(__u32 index, void *data)
{
	struct python_method *m = data;
	struct scratch *s = bpf_map_lookup_elem(&scratch, &m->level);
	__u64 class, dict;

	(void)index;
	if (!s)
		return 1;
	class = python_word(m->class_at);
	m->class_at += 8;
	dict = python_word(class + PYTHON_TYPE_DICT);
	m->function = python_function_of(s, python_dict_get(s, m, dict));
	return m->function != 0;
}

/* Looks through what a class is derived from, itself first. */
static __always_inline __u64 python_method_of(struct python_method *m, __u64 class)
{
	__u64 mro = class ? python_word(class + PYTHON_TYPE_MRO) : 0;
	__u64 n = mro ? python_word(mro + PYTHON_TUPLE_LENGTH) : 0;

	m->class_at = mro + PYTHON_TUPLE_ITEMS;
	bpf_loop(n < PYTHON_MAX_CLASSES ? n : PYTHON_MAX_CLASSES, python_method_step, m, 0);
	return m->function;
}

/* By a first argument, which is a class in a class method. */
static __always_inline __u64 python_method_by(struct scratch *s, struct python_method *m,
					      __u64 object)
{
	__u64 class = object ? python_word(object + python_layout(s)->code_type) : 0;

	if (!class || python_method_of(m, class))
		return m->function;
	if (!(python_word(class + PYTHON_TYPE_FLAGS) & PYTHON_IS_METACLASS))
		return 0;
	return python_method_of(m, object);
}

/* What the function of the frame that was read last says that it is called, a str; 0: it was not found. Its code object was read. */
__noinline __u64 python_qualname(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	struct python_method m = { .level = level };
	const struct python_layout *l;
	__u64 locals, object;
	__u32 n_locals;

	if (!s || !python_layout(s)->frame_locals || !python_get_code(s))
		return 0;
	l = python_layout(s);
	m.name = python_u64(s, l->code_name);
	m.hash = python_word(m.name + l->str_hash);
	locals = s->runtime.at + l->frame_locals;
	n_locals = python_u32(s, l->code_n_locals);
	object = n_locals ? python_word(locals) : 0;
	locals += 8 * (__u64)n_locals;
	for (int i = 0; i < PYTHON_MAX_CELLS; i++) {
		if (!object)
			object = python_word(python_word(locals + 8 * i) + PYTHON_WRAPPED);
	}
	if (!python_method_by(s, &m, object))
		return 0;
	return python_word(m.function + l->func_qualname);
}

#endif
