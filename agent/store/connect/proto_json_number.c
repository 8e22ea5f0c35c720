/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of protobuf's JSON mapping. */
#include "agent/store/connect/proto_json_number.h"

#include <assert.h>
#include <math.h>

#include "agent/util/str.h"

/* 2^63, the first double beyond an int64. */
#define INT64_END 9223372036854775808.0

/* integer = [ "-" ] digits, as a magnitude and a sign */
struct magnitude {
	uint64_t n;
	bool negative;
};

static bool text_magnitude(struct str s, struct magnitude *ret)
{
	bool negative = s.n > 0 && *s.p == '-';
	uint64_t n;

	if (negative)
		s = (struct str){ s.p + 1, s.n - 1 };
	if (str_parse_u64(s, 10, UINT64_MAX, &n) < 0)
		return false;
	*ret = (struct magnitude){ n, negative && n > 0 };
	return true;
}

static bool real_magnitude(double value, struct magnitude *ret)
{
	if (!(fabs(value) < INT64_END) || value != trunc(value))
		return false;
	*ret = (struct magnitude){ (uint64_t)fabs(value), value < 0 };
	return true;
}

static bool json_magnitude(const json_t *v, struct magnitude *ret)
{
	if (json_is_integer(v)) {
		json_int_t n = json_integer_value(v);

		*ret = (struct magnitude){ n < 0 ? -(uint64_t)n : (uint64_t)n, n < 0 };
		return true;
	}
	if (json_is_real(v))
		return real_magnitude(json_real_value(v), ret);
	return json_is_string(v) &&
	       text_magnitude((struct str){ json_string_value(v), json_string_length(v) }, ret);
}

bool proto_json_signed(const json_t *v, unsigned int bits, int64_t *ret)
{
	assert(bits > 0 && bits <= 64);

	uint64_t end = UINT64_C(1) << (bits - 1);
	struct magnitude m;

	if (!json_magnitude(v, &m) || m.n > end - !m.negative)
		return false;
	*ret = (int64_t)(m.negative ? -m.n : m.n);
	return true;
}

static bool read_unsigned(const json_t *v, uint64_t max, uint64_t *ret)
{
	struct magnitude m;

	if (!json_magnitude(v, &m) || m.negative || m.n > max)
		return false;
	*ret = m.n;
	return true;
}

static bool read_double(const json_t *v, double *ret)
{
	char *end;

	if (json_is_number(v)) {
		*ret = json_number_value(v);
		return true;
	}
	if (!json_is_string(v) || json_string_length(v) == 0)
		return false;
	*ret = strtod(json_string_value(v), &end);
	return end == json_string_value(v) + json_string_length(v);
}

bool proto_json_number(ProtobufCType type, const json_t *v, void *item)
{
	uint64_t u = 0;
	int64_t i = 0;
	double d = 0;

	switch (type) {
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SFIXED32:
		if (!proto_json_signed(v, 32, &i))
			return false;
		*(int32_t *)item = (int32_t)i;
		return true;
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
		if (!read_unsigned(v, UINT32_MAX, &u))
			return false;
		*(uint32_t *)item = (uint32_t)u;
		return true;
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
		return read_unsigned(v, UINT64_MAX, item);
	case PROTOBUF_C_TYPE_FLOAT:
		if (!read_double(v, &d))
			return false;
		*(float *)item = (float)d;
		return true;
	case PROTOBUF_C_TYPE_DOUBLE:
		return read_double(v, item);
	default:
		return proto_json_signed(v, 64, item);
	}
}
