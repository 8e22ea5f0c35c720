/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of one container, and the look that finds it. */
#include <string.h>

#include "agent/target/container_book_private.h"

void book_page_fini(struct book_page *page)
{
	for (size_t i = 0; i < BOOK_FACT_MAX; i++)
		free(page->text[i]);
	*page = (struct book_page){ 0 };
}

bool book_page_equal(const struct book_page *a, const struct book_page *b)
{
	for (size_t i = 0; i < BOOK_FACT_MAX; i++) {
		const char *x = a->text[i] ? a->text[i] : "", *y = b->text[i] ? b->text[i] : "";

		if (strcmp(x, y) != 0)
			return false;
	}
	return true;
}

void book_tell(struct book_page *page, enum book_fact fact, const char *text)
{
	char clean[BOOK_FACT_BYTES];

	if (!text || !text[0] || page->text[fact])
		return;
	str_copy_utf8(clean, sizeof(clean), str_from(text));
	page->text[fact] = strdup(clean);
}

void book_tell_words(struct book_page *page, const json_t *object, const struct book_word *words,
		     size_t n)
{
	for (size_t i = 0; i < n; i++)
		book_tell(page, words[i].fact,
			  json_string_value(json_object_get(object, words[i].key)));
}

void book_add_source(struct book_look *look, const char *path, const struct book_stamp *stamp)
{
	char *copy = look->n_sources < BOOK_SOURCES_MAX ? strdup(path) : NULL;

	if (copy)
		look->sources[look->n_sources++] =
			(struct book_source){ copy, *stamp, look->files->is_foreign };
}

void book_begin_foreign(struct book_look *look, struct book_files_kept *kept)
{
	kept->before = look->files;
	kept->foreign = book_files_foreign(look->files, look->pid);
	look->files = &kept->foreign;
}

void book_end_foreign(struct book_look *look, const struct book_files_kept *kept)
{
	look->files = kept->before;
}

json_t *book_load(struct book_look *look, const char *path)
{
	_cleanup_buf_ struct buf b = BUF_INIT(BOOK_CONFIG_MAX_BYTES);
	struct book_stamp stamp;

	if (book_read(look->files, path, &b, &stamp) < 0)
		return NULL;
	book_add_source(look, path, &stamp);
	return json_loadb(buf_str(&b), b.len, JSON_ALLOW_NUL, NULL);
}

bool book_may_be(const struct book_look *look, const char *runtime)
{
	return !look->runtime[0] || strcmp(look->runtime, runtime) == 0;
}
