/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of one container, and the look that finds it. */
#include <string.h>

#include "agent/target/container_metadata_private.h"

void metadata_page_fini(struct metadata_page *page)
{
	for (size_t i = 0; i < METADATA_FACT_MAX; i++)
		free(page->text[i]);
	*page = (struct metadata_page){ 0 };
}

bool metadata_page_equal(const struct metadata_page *a, const struct metadata_page *b)
{
	for (size_t i = 0; i < METADATA_FACT_MAX; i++) {
		const char *x = a->text[i] ? a->text[i] : "", *y = b->text[i] ? b->text[i] : "";

		if (strcmp(x, y) != 0)
			return false;
	}
	return true;
}

void metadata_tell(struct metadata_page *page, enum metadata_fact fact, const char *text)
{
	char clean[METADATA_FACT_BYTES];

	if (!text || !text[0] || page->text[fact])
		return;
	str_copy_utf8(clean, sizeof(clean), str_from(text));
	page->text[fact] = strdup(clean);
}

void metadata_tell_words(struct metadata_page *page, const json_t *object,
			 const struct metadata_word *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		metadata_tell(page, words[i].fact,
			      json_string_value(json_object_get(object, words[i].key)));
}

void metadata_add_source(struct metadata_look *look, const char *path,
			 const struct metadata_stamp *stamp)
{
	char *copy = look->n_sources < METADATA_SOURCES_MAX ? strdup(path) : NULL;

	if (copy)
		look->sources[look->n_sources++] =
			(struct metadata_source){ copy, *stamp, look->files->is_foreign };
}

void metadata_begin_foreign(struct metadata_look *look, struct metadata_files_kept *kept)
{
	kept->before = look->files;
	kept->foreign = metadata_files_foreign(look->files, look->pid);
	look->files = &kept->foreign;
}

void metadata_end_foreign(struct metadata_look *look, const struct metadata_files_kept *kept)
{
	look->files = kept->before;
}

json_t *metadata_load(struct metadata_look *look, const char *path)
{
	_cleanup_buf_ struct buf b = BUF_INIT(METADATA_CONFIG_MAX_BYTES);
	struct metadata_stamp stamp;

	if (metadata_read(look->files, path, &b, &stamp) < 0)
		return NULL;
	metadata_add_source(look, path, &stamp);
	return json_loadb(buf_str(&b), b.len, JSON_ALLOW_NUL, NULL);
}

bool metadata_may_be(const struct metadata_look *look, const char *runtime)
{
	return !look->runtime[0] || strcmp(look->runtime, runtime) == 0;
}
