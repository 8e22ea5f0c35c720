/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers and durations as text, the way Go's strconv and time packages read them. Pure;
 * independent of the locale.
 */
#ifndef XAGENT_RIVER_CONFIG_NUMBER_H
#define XAGENT_RIVER_CONFIG_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Digits that always tell two doubles apart. */
#define RIVER_FLOAT_DIGITS_MAX 17

/* All take the whole text or fail. `base` is 10, or 0: a leading 0 means octal. */
bool river_parse_uint(const char *s, size_t n, unsigned int base, uint64_t *ret);
bool river_parse_int(const char *s, size_t n, unsigned int base, int64_t *ret);

/*
 * Decimal with optional sign, fraction and exponent; false for anything else and for what is too
 * large.
 */
bool river_parse_float(const char *s, size_t n, double *ret);

/*
 * Fewest digits that read back as `f` (> 0, finite); *ret_point digits stand before the point.
 * Returns how many.
 */
size_t river_float_digits(double f, char *digits, int *ret_point);

enum river_duration_status {
	RIVER_DURATION_OK = 0,
	RIVER_DURATION_INVALID,
	RIVER_DURATION_MISSING_UNIT,
	RIVER_DURATION_UNKNOWN_UNIT,
};

/*
 * Go syntax: "1h30m", "-1.5s", "500ms", "0". For UNKNOWN_UNIT *ret_unit and *ret_unit_len name it.
 */
enum river_duration_status river_parse_duration(const char *s, size_t n, int64_t *ret_ns,
						const char **ret_unit, size_t *ret_unit_len);

#endif
