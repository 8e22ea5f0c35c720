/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values as the typed arguments of functions and schemas. A null yields the zero value of the type.
 */
#ifndef XAGENT_RIVER_CONFIG_CONVERT_H
#define XAGENT_RIVER_CONFIG_CONVERT_H

#include "river-config/error.h"

/*
 * Each: RIVER_OK, RIVER_INVALID with `err` set, or -ENOMEM. Texts live as long as the value or the
 * arena of `err`.
 */
int river_to_text(const struct river_value *v, struct river_error *err, const char **ret_text,
		  size_t *ret_len);
int river_to_secret(const struct river_value *v, struct river_error *err, const char **ret_text,
		    size_t *ret_len);
int river_to_bool(const struct river_value *v, struct river_error *err, bool *ret);
int river_to_int(const struct river_value *v, struct river_error *err, int64_t *ret);
int river_to_uint(const struct river_value *v, struct river_error *err, uint64_t *ret);
int river_to_float(const struct river_value *v, struct river_error *err, double *ret);
int river_to_duration(const struct river_value *v, struct river_error *err, int64_t *ret_ns);
int river_to_capsule(const struct river_value *v, const char *type, struct river_error *err,
		     void **ret_ptr);
int river_to_strings(const struct river_value *v, struct river_error *err,
		     struct river_strings *ret);
int river_to_string_map(const struct river_value *v, struct river_error *err,
			struct river_string_map *ret);
int river_to_string_maps(const struct river_value *v, struct river_error *err,
			 struct river_string_maps *ret);
int river_to_foreigns(const struct river_value *v, const struct river_foreign *kind,
		      struct river_error *err, struct river_foreigns *ret);
int river_to_secret_lists(const struct river_value *v, struct river_error *err,
			  struct river_list_map *ret);
int river_to_capsules(const struct river_value *v, const char *type, struct river_error *err,
		      struct river_capsules *ret);

#endif
