/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of the Kubernetes API as it arrives.
 *
 * One look at each byte tells strings from the rest and counts brackets; that is enough to know where an item begins and ends. Whether
 * it is JSON is asked of the parser, item by item, and at the end for the rest, in which the array is left empty.
 */
#include "agent/discovery/json_items.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* The whole answer is one, its array two, an item three deep. */
enum { DEPTH_ANSWER = 1, DEPTH_ITEMS, DEPTH_ITEM };

/* What is between the items. */
#define BLANKS_AND_COMMA " \t\r\n,"

void json_items_init(struct json_items *s, size_t max_item_bytes)
{
	*s = (struct json_items){ 0 };
	buf_init(&s->item, max_item_bytes);
	buf_init(&s->rest, JSON_ITEMS_MAX_REST_BYTES);
}

void json_items_fini(struct json_items *s)
{
	buf_fini(&s->item);
	buf_fini(&s->rest);
}

void json_items_reset(struct json_items *s)
{
	struct buf item = s->item, rest = s->rest;
	size_t n_too_large = s->n_too_large;

	*s = (struct json_items){
		.known = s->known, .item = item, .rest = rest, .n_too_large = n_too_large
	};
	buf_reset(&s->item);
	buf_reset(&s->rest);
}

static void see_in_string(struct json_items *s, char c)
{
	if (s->escaped)
		s->escaped = false;
	else if (c == '\\')
		s->escaped = true;
	else if (c == '"')
		s->in_string = false;
	if (s->in_string && s->depth == DEPTH_ANSWER && s->n_key < JSON_ITEMS_MAX_KEY_BYTES)
		s->key[s->n_key++] = c;
}

static bool opens_items(const struct json_items *s, char c)
{
	return c == '[' && s->depth == DEPTH_ANSWER && s->n_key == 5 &&
	       memcmp(s->key, "items", 5) == 0;
}

static int see_close(struct json_items *s)
{
	if (s->depth == 0)
		return -EBADMSG;
	s->depth--;
	if (s->depth < DEPTH_ITEMS)
		s->in_items = false;
	return 0;
}

static int see(struct json_items *s, char c)
{
	if (s->in_string) {
		see_in_string(s, c);
		return 0;
	}
	if (c == '"') {
		s->in_string = true;
		if (s->depth == DEPTH_ANSWER)
			s->n_key = 0;
	}
	if (opens_items(s, c))
		s->in_items = true;
	if (c == '{' || c == '[')
		s->depth++;
	return c == '}' || c == ']' ? see_close(s) : 0;
}

static int put(struct json_items *s, const char *bytes, size_t n)
{
	int r;

	if (!s->in_item) {
		r = buf_append(&s->rest, bytes, n);
		return r == -ENOBUFS ? -EMSGSIZE : r;
	}
	r = s->skipping ? 0 : buf_append(&s->item, bytes, n);
	if (r == -ENOBUFS) {
		s->skipping = true;
		s->n_too_large++;
		r = 0;
	}
	return r;
}

static int parse_item(struct json_items *s, json_items_fn fn, void *data)
{
	int r = s->known ? s->known(buf_str(&s->item), s->item.len, data) : 0;

	if (r != 0)
		return r;
	json_t *item = json_loadb(buf_str(&s->item), s->item.len, 0, NULL);
	r = item ? fn(item, data) : -EBADMSG;
	json_decref(item);
	return r;
}

static int take_item(struct json_items *s, json_items_fn fn, void *data)
{
	assert(s->in_item && s->depth == DEPTH_ITEMS);

	int r = s->skipping ? 0 : parse_item(s, fn, data);

	s->in_item = false;
	s->skipping = false;
	buf_reset(&s->item);
	return r < 0 ? r : 0;
}

/* Of an item: from its first bracket to its last. */
static size_t item_piece(struct json_items *s, const char *bytes, size_t n, int *ret_error)
{
	size_t i = 0;

	while (i < n && *ret_error == 0) {
		*ret_error = see(s, bytes[i++]);
		if (s->depth == DEPTH_ITEMS)
			break;
	}
	return i;
}

/* Of the rest: up to the next item, or to the first byte between items. */
static size_t rest_piece(struct json_items *s, const char *bytes, size_t n, int *ret_error)
{
	size_t i = 0;

	while (i < n && *ret_error == 0 && !s->in_items)
		*ret_error = see(s, bytes[i++]);
	return i;
}

/* One byte of the array that is in no item. 1: it is done with; 0: an item begins with it; -errno. */
static int see_between(struct json_items *s, char c)
{
	if (c == '{') {
		s->in_item = true;
		return 0;
	}
	if (strchr(BLANKS_AND_COMMA, c) && c)
		return 1;
	if (c != ']')
		return -EBADMSG;
	int r = see(s, c);

	if (r < 0)
		return r;
	r = put(s, "]", 1);
	return r < 0 ? r : 1;
}

int json_items_feed(struct json_items *s, const char *bytes, size_t n, json_items_fn fn, void *data)
{
	int r = 0;

	assert(fn);
	for (size_t i = 0; i < n && r >= 0;) {
		if (s->in_items && !s->in_item) {
			r = see_between(s, bytes[i]);
			i += r > 0;
			continue;
		}
		r = 0;
		size_t n_piece = s->in_item ? item_piece(s, bytes + i, n - i, &r)
					    : rest_piece(s, bytes + i, n - i, &r);
		if (r == 0)
			r = put(s, bytes + i, n_piece);
		i += n_piece;
		if (r == 0 && s->in_item && s->depth == DEPTH_ITEMS)
			r = take_item(s, fn, data);
	}
	return r < 0 ? r : 0;
}

int json_items_end(struct json_items *s, json_t **ret_rest)
{
	json_t *rest;

	if (s->depth != 0 || s->in_string)
		return -EBADMSG;
	rest = json_loadb(buf_str(&s->rest), s->rest.len, 0, NULL);
	if (!json_is_object(rest)) {
		json_decref(rest);
		return -EBADMSG;
	}
	*ret_rest = rest;
	return 0;
}
