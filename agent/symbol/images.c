/* SPDX-License-Identifier: Apache-2.0 */
/* All images, those of equal content once. */
#include "agent/symbol/images.h"

#include <assert.h>

void images_init(struct images *t)
{
	*t = (struct images){ 0 };
	list_init(&t->all);
}

void images_fini(struct images *t)
{
	assert(t->n == 0 && t->bytes == 0 && t->source_bytes == 0);
	hash_fini(&t->by_digest);
}

struct image *images_find(struct images *t, uint64_t digest)
{
	HASH_FOREACH_MATCH (&t->by_digest, digest, node) {
		struct image *image = CONTAINER_OF(node, struct image, node);

		image->n_users++;
		return image;
	}
	return NULL;
}

int images_add(struct images *t, struct image *image, uint64_t digest)
{
	int r = digest ? hash_insert(&t->by_digest, &image->node, digest) : 0;

	if (r < 0)
		return r;
	image->digest = digest;
	image->n_users = 1;
	list_push_back(&t->all, &image->all);
	t->n++;
	images_end_change(t, image);
	return 0;
}

void images_release(struct images *t, struct image *image)
{
	assert(image->n_users > 0);
	if (--image->n_users > 0)
		return;
	if (image->digest)
		hash_remove(&t->by_digest, &image->node);
	list_remove(&image->all);
	t->n--;
	images_begin_change(t, image);
	image_free(image);
}

void images_begin_change(struct images *t, const struct image *image)
{
	t->bytes -= image_bytes(image);
	t->source_bytes -= image_source_bytes(image);
}

void images_end_change(struct images *t, const struct image *image)
{
	t->bytes += image_bytes(image);
	t->source_bytes += image_source_bytes(image);
}

static struct image *coldest(const struct images *t, const struct image *keep, uint64_t interval)
{
	struct image *found = NULL;

	LIST_FOREACH (&t->all, node) {
		struct image *image = LIST_ENTRY(node, struct image, all);

		if (image == keep || !image_has_sources(image))
			continue;
		if (!found || image_heat(image, interval) < image_heat(found, interval))
			found = image;
	}
	return found;
}

size_t images_evict_sources(struct images *t, size_t max_bytes, const struct image *keep,
			    uint64_t interval)
{
	size_t n = 0;

	while (t->bytes > max_bytes) {
		struct image *image = coldest(t, keep, interval);

		if (!image)
			break;
		images_begin_change(t, image);
		image_drop_sources(image);
		images_end_change(t, image);
		n++;
	}
	return n;
}

void images_end_interval(struct images *t, uint64_t interval)
{
	LIST_FOREACH (&t->all, node) {
		struct image *image = LIST_ENTRY(node, struct image, all);

		images_begin_change(t, image);
		image_end_interval(image, interval);
		images_end_change(t, image);
	}
}

void images_drop_names(struct images *t)
{
	LIST_FOREACH (&t->all, node) {
		struct image *image = LIST_ENTRY(node, struct image, all);

		images_begin_change(t, image);
		image_drop_names(image);
		images_end_change(t, image);
	}
}
