/* SPDX-License-Identifier: Apache-2.0 */
/* Values of flags that several commands have. */
#include "agent/cli/values.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/cli/duration.h"
#include "agent/sample/sampler.h"
#include "agent/util/cpus.h"
#include "agent/util/str.h"

static int id_list_add(struct id_list *l, uint32_t id)
{
	uint32_t *ids;

	if (l->n == SAMPLER_MAX_FILTERS)
		return -E2BIG;
	ids = reallocarray(l->ids, l->n + 1, sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	l->ids = ids;
	l->ids[l->n++] = id;
	return 0;
}

/* id-list = id { "," id } */
int cli_parse_ids(const char *value, void *member)
{
	struct str rest = str_from(value), piece;
	uint64_t id;

	while (str_split(&rest, ',', &piece)) {
		int r = str_parse_u64(piece, 10, UINT32_MAX, &id);

		if (r < 0)
			return r;
		if (id == 0)
			return -EINVAL;
		r = id_list_add(member, (uint32_t)id);
		if (r < 0)
			return r;
	}
	return 0;
}

int cli_parse_cpus(const char *value, void *member)
{
	struct cpus *to = member, cpus;
	int r = cpus_parse(str_from(value), &cpus);

	if (r < 0)
		return r;
	if (cpus.n == 0) {
		cpus_fini(&cpus);
		return -EINVAL;
	}
	cpus_fini(to);
	*to = cpus;
	return 0;
}

int cli_parse_hz(const char *value, void *member)
{
	uint64_t hz;
	int r = str_parse_u64(str_from(value), 10, SAMPLER_MAX_HZ, &hz);

	if (r < 0)
		return r;
	if (hz == 0)
		return -EINVAL;
	*(uint32_t *)member = (uint32_t)hz;
	return 0;
}

int cli_parse_duration(const char *value, void *member)
{
	uint64_t ns;
	int r = duration_parse(str_from(value), &ns);

	if (r < 0)
		return r;
	if (ns == 0)
		return -EINVAL;
	*(uint64_t *)member = ns;
	return 0;
}

int cli_parse_path(const char *value, void *member)
{
	if (!*value)
		return -EINVAL;
	*(const char **)member = value;
	return 0;
}
