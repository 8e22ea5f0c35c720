/* SPDX-License-Identifier: Apache-2.0 */
/* The table of routes. A dozen of them: looking at each is cheaper than any index. */
#include "agent/http/route.h"

#include <errno.h>
#include <string.h>

void route_table_fini(struct route_table *table)
{
	for (size_t i = 0; i < table->n; i++) {
		free((char *)table->routes[i].method);
		free((char *)table->routes[i].path);
	}
	free(table->routes);
	*table = (struct route_table){ 0 };
}

static struct http_route *route_table_same(const struct route_table *table, const char *method,
					   const char *path, bool prefix)
{
	for (size_t i = 0; i < table->n; i++) {
		struct http_route *r = &table->routes[i];

		if (r->prefix == prefix && strcmp(r->path, path) == 0 &&
		    strcmp(r->method, method) == 0)
			return r;
	}
	return NULL;
}

int route_table_add(struct route_table *table, const struct http_route *route)
{
	if (route_table_same(table, route->method, route->path, route->prefix))
		return -EEXIST;
	if (table->n >= HTTP_SERVER_MAX_ROUTES)
		return -ENOBUFS;
	struct http_route *routes = reallocarray(table->routes, table->n + 1, sizeof(*routes));
	if (!routes)
		return -ENOMEM;
	table->routes = routes;
	_cleanup_free_ char *method = strdup(route->method);
	_cleanup_free_ char *path = strdup(route->path);
	if (!method || !path)
		return -ENOMEM;
	routes[table->n] = *route;
	routes[table->n].method = TAKE_PTR(method);
	routes[table->n].path = TAKE_PTR(path);
	table->n++;
	return 0;
}

void route_table_remove(struct route_table *table, const char *method, const char *path,
			bool prefix)
{
	struct http_route *r = route_table_same(table, method, path, prefix);

	if (!r)
		return;
	free((char *)r->method);
	free((char *)r->path);
	*r = table->routes[--table->n];
}

/* How well a route fits: 0 not at all, an exact one best. Below "/a" lie "/a" and "/a/b", not
 * "/ab". */
static size_t route_fit(const struct http_route *route, const char *path)
{
	size_t n = strlen(route->path);

	if (strcmp(route->path, path) == 0)
		return route->prefix ? n : SIZE_MAX;
	if (!route->prefix || strncmp(route->path, path, n) != 0)
		return 0;
	return path[n] == '/' || route->path[n - 1] == '/' ? n : 0;
}

static size_t route_table_best_fit(const struct route_table *table, const char *path)
{
	size_t best = 0;

	for (size_t i = 0; i < table->n; i++) {
		size_t fit = route_fit(&table->routes[i], path);

		if (fit > best)
			best = fit;
	}
	return best;
}

const struct http_route *route_table_find(const struct route_table *table, const char *method,
					  const char *path)
{
	size_t best = route_table_best_fit(table, path);

	for (size_t i = 0; best > 0 && i < table->n; i++)
		if (route_fit(&table->routes[i], path) == best &&
		    strcmp(table->routes[i].method, method) == 0)
			return &table->routes[i];
	return NULL;
}

int route_table_allow(const struct route_table *table, const char *path, struct buf *out)
{
	size_t best = route_table_best_fit(table, path);

	for (size_t i = 0; best > 0 && i < table->n; i++) {
		const struct http_route *r = &table->routes[i];

		if (route_fit(r, path) == best)
			(void)buf_printf(out, "%s%s%s", out->len ? ", " : "", r->method,
					 strcmp(r->method, "GET") == 0 ? ", HEAD" : "");
	}
	return out->failed ? -ENOMEM : 0;
}
