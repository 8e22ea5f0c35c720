/* SPDX-License-Identifier: Apache-2.0 */
/* The standard library: look-up, calls, and the functions that are about no particular type. */
#include "river-config/stdlib.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "river-config/convert.h"

#if defined(__x86_64__)
#define ARCH_NAME "amd64"
#elif defined(__aarch64__)
#define ARCH_NAME "arm64"
#else
#define ARCH_NAME "unknown"
#endif

static int return_text(struct river_call *c, const char *text)
{
	c->result = river_value_new_string(c->err->arena, text, strlen(text));
	return RIVER_OK;
}

static int call_env(struct river_call *c)
{
	const struct river_scope *scope = c->scope;
	const char *name, *value;
	size_t len;
	int r = river_to_text(c->args[0], c->err, &name, &len);

	if (r != RIVER_OK)
		return r;
	value = scope->env ? scope->env(scope->ctx, name) : getenv(name);
	return return_text(c, value ? value : "");
}

/* Null, zero, "" and what is empty. */
static bool is_blank(const struct river_value *v)
{
	switch (v->type) {
	case RIVER_TYPE_NULL:
		return true;
	case RIVER_TYPE_NUMBER:
		return river_value_as_double(v) == 0;
	case RIVER_TYPE_BOOL:
		return !v->boolean;
	case RIVER_TYPE_ARRAY:
	case RIVER_TYPE_OBJECT:
		return river_value_len(v) == 0;
	default:
		/* Of an optional secret, being one is something. */
		return river_value_has_text(v) && v->string.len == 0 &&
		       !(river_value_is_capsule(v, RIVER_CAPSULE_OPTIONAL_SECRET) &&
			 v->string.is_secret);
	}
}

static int call_coalesce(struct river_call *c)
{
	size_t i = 0;

	if (c->n_args == 0) {
		c->result = river_value_new(c->err->arena, RIVER_TYPE_NULL);
		return RIVER_OK;
	}
	while (i + 1 < c->n_args && is_blank(c->args[i]))
		i++;
	c->result = c->args[i];
	return RIVER_OK;
}

static int call_nonsensitive(struct river_call *c)
{
	const char *text;
	size_t len;
	int r = river_to_secret(c->args[0], c->err, &text, &len);

	if (r == RIVER_OK)
		c->result = river_value_new_string(c->err->arena, text, len);
	return r;
}

static int constant_hostname(struct river_call *c)
{
	struct utsname name;

	if (c->scope->hostname)
		return return_text(c, c->scope->hostname);
	return return_text(c, uname(&name) == 0 ? name.nodename : "");
}

static int constant_os(struct river_call *c)
{
	return return_text(c, "linux");
}

static int constant_arch(struct river_call *c)
{
	return return_text(c, ARCH_NAME);
}

static int constant_version(struct river_call *c)
{
	return return_text(c, c->scope->version ? c->scope->version : "");
}

static const struct river_function general[] = {
	{ "coalesce", call_coalesce, .is_variadic = true },
	{ "sys.env", call_env, .n_args = 1 },
	{ "convert.nonsensitive", call_nonsensitive, .n_args = 1 },
	{ "constants.hostname", constant_hostname, .is_constant = true },
	{ "constants.os", constant_os, .is_constant = true },
	{ "constants.arch", constant_arch, .is_constant = true },
	{ "constants.version", constant_version, .is_constant = true },
	{ "env", call_env, .n_args = 1, .is_deprecated = true },
	{ "nonsensitive", call_nonsensitive, .n_args = 1, .is_deprecated = true },
};

static const struct river_family river_stdlib_general = RIVER_FAMILY(general);

/* A new family of functions is a file with a table, and a line here. */
static const struct river_family *const families[] = {
	&river_stdlib_general, &river_stdlib_array,  &river_stdlib_encoding,  &river_stdlib_file,
	&river_stdlib_format,  &river_stdlib_string, &river_stdlib_json_path,
};

static const struct river_function *row_at(size_t i)
{
	for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); f++) {
		if (i < families[f]->n_rows)
			return &families[f]->rows[i];
		i -= families[f]->n_rows;
	}
	return NULL;
}

/* "env" of "sys.env", if `name` is its namespace. */
static const char *member_name(const struct river_function *row, const char *name)
{
	size_t len = strlen(name);

	return strncmp(row->name, name, len) == 0 && row->name[len] == '.' ? row->name + len + 1
									   : NULL;
}

static int row_value(const struct river_function *row, const struct river_scope *scope,
		     struct river_error *err, struct river_value **ret_value)
{
	struct river_call call = { .scope = scope, .err = err };

	if (row->is_constant) {
		row->call(&call);
	} else {
		call.result = river_value_new(err->arena, RIVER_TYPE_FUNCTION);
		if (call.result)
			call.result->function = row;
	}
	*ret_value = call.result;
	return call.result ? RIVER_OK : -ENOMEM;
}

static size_t count_members(const char *name)
{
	size_t n = 0;

	for (size_t i = 0; row_at(i); i++)
		n += member_name(row_at(i), name) != NULL;
	return n;
}

static int namespace_value(const char *name, const struct river_scope *scope,
			   struct river_error *err, struct river_value **ret_value)
{
	size_t n = count_members(name), at = 0;
	struct river_object_member *members;

	if (n == 0)
		return -ENOENT;
	members = river_arena_alloc(err->arena, n * sizeof(*members));
	for (size_t i = 0; members && row_at(i); i++) {
		const char *member = member_name(row_at(i), name);

		if (!member)
			continue;
		members[at].key = member;
		members[at].key_len = strlen(member);
		if (row_value(row_at(i), scope, err, &members[at++].value) < 0)
			return -ENOMEM;
	}
	*ret_value = members ? river_value_wrap_object(err->arena, members, n) : NULL;
	return *ret_value ? RIVER_OK : -ENOMEM;
}

int river_stdlib_value(const char *name, const struct river_scope *scope, struct river_error *err,
		       struct river_value **ret_value)
{
	for (size_t i = 0; row_at(i); i++)
		if (strcmp(row_at(i)->name, name) == 0)
			return row_value(row_at(i), scope, err, ret_value);
	return namespace_value(name, scope, err, ret_value);
}

static enum river_stdlib_status row_status(const struct river_function *row,
					   const struct river_reference *ref)
{
	const char *first = ref->parts[0].text, *member = member_name(row, first);

	if (strcmp(row->name, first) == 0)
		return row->is_deprecated ? RIVER_STDLIB_DEPRECATED : RIVER_STDLIB_CURRENT;
	if (member && (ref->n_parts < 2 || strcmp(member, ref->parts[1].text) == 0))
		return RIVER_STDLIB_CURRENT;
	return RIVER_STDLIB_NONE;
}

enum river_stdlib_status river_stdlib_find(const struct river_reference *ref)
{
	enum river_stdlib_status status = RIVER_STDLIB_NONE;

	for (size_t i = 0; row_at(i) && status == RIVER_STDLIB_NONE; i++)
		status = row_status(row_at(i), ref);
	return status;
}
