/* SPDX-License-Identifier: Apache-2.0 */
/* The block `spool`. */
#include "agent/component/receivers/spool_args.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "agent/push/spool/spool.h"
#include "agent/util/clock.h"
#include "agent/util/hash.h"
#include "agent/util/size.h"

#define PATH_MAX_BYTES 4096
/* Less than this is not worth a file; more is a mistake. */
#define MIN_BYTES ((uint64_t)1 << 20)
#define MAX_BYTES ((uint64_t)64 << 30)
#define MIN_AGE_NS ((int64_t)NS_PER_S)
#define MAX_AGE_NS ((int64_t)SPOOL_LONGEST_AGE_NS)

static bool spool_bytes_of(const char *text, uint64_t *ret_bytes)
{
	return size_parse(str_from(text), ret_bytes) == 0 && *ret_bytes >= MIN_BYTES &&
	       *ret_bytes <= MAX_BYTES;
}

static const char *validate_spool_bytes(const void *field, struct river_arena *arena)
{
	uint64_t bytes;

	(void)arena;
	return spool_bytes_of(*(const char *const *)field, &bytes)
		       ? NULL
		       : "max_bytes must be between 1MiB and 64GiB, for example \"256MiB\"";
}

static const char *validate_spool_age(const void *field, struct river_arena *arena)
{
	int64_t ns = *(const int64_t *)field;

	(void)arena;
	return ns >= MIN_AGE_NS && ns <= MAX_AGE_NS ? NULL : "max_age must be between 1s and 24h";
}

static const struct river_field fields[] = {
	RIVER_FIELD_BOOL(struct spool_args, enabled, "enabled", .def = "true"),
	RIVER_FIELD_STRING(struct spool_args, max_bytes, "max_bytes", .def = "256MiB",
			   .validate = validate_spool_bytes),
	RIVER_FIELD_DURATION(struct spool_args, max_age_ns, "max_age", .def = "55m",
			     .validate = validate_spool_age),
};
const struct river_schema spool_schema = RIVER_SCHEMA(struct spool_args, "spool", fields);

void spool_args_take(const struct spool_args *args, struct push_endpoint_options *o)
{
	(void)spool_bytes_of(args->max_bytes, &o->spool_max_bytes);
	o->spool_max_age_ns = (uint64_t)args->max_age_ns;
}

static const char *tenant_of(const struct http_header *headers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcasecmp(headers[i].name, "X-Scope-OrgID") == 0)
			return headers[i].value;
	return "";
}

static uint64_t hash_text(uint64_t seed, const char *text)
{
	return text ? hash_bytes(text, strlen(text) + 1, seed) : hash_u64(seed);
}

/* What makes two endpoints different ones, without a secret, which changes: the server, the tenant, the name. */
static uint64_t hash_endpoint(const struct push_endpoint_options *o, const char *component_id,
			      const char *form)
{
	uint64_t h = hash_text(0, component_id);

	h = hash_text(h, o->url);
	h = hash_text(h, o->name);
	h = hash_text(h, o->basic_auth_username);
	h = hash_text(h, tenant_of(o->headers, o->n_headers));
	h = hash_text(h, tenant_of(o->http_headers, o->n_http_headers));
	return form ? hash_text(h, form) : h;
}

int spool_args_path(const struct push_endpoint_options *o, const char *component_id,
		    const char *form, const char *storage_path, struct buf *out)
{
	bool below = storage_path && *storage_path;
	bool divided = below && storage_path[strlen(storage_path) - 1] == '/';

	return buf_printf(out, "%s%sspool/%016" PRIx64, below ? storage_path : "",
			  below && !divided ? "/" : "", hash_endpoint(o, component_id, form));
}

/* Where nobody outside is asked nothing is left behind either. */
int spool_args_place(const struct spool_args *args, const struct component *c, const char *form,
		     struct river_arena *arena, struct push_endpoint_options *o)
{
	_cleanup_buf_ struct buf path = BUF_INIT(PATH_MAX_BYTES);

	if (!args->enabled || !c->env->storage_path || c->env->offline)
		return 0;
	int r = spool_args_path(o, c->id, form, c->env->storage_path, &path);
	if (r < 0)
		return r;
	o->spool_path = river_arena_strndup(arena, path.data, path.len);
	return o->spool_path ? 0 : -ENOMEM;
}
