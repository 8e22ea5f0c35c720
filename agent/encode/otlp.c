/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile as OTLP: one Profile for each type of its values, in one scope, and the dictionary that they share. A file has several profiles in that scope.
 * What the resource is, is said by who sends it.
 *
 * Types are called as OpenTelemetry and Pyroscope know them: CPU time is a count of samples with the period between two, and waiting time is
 * off_cpu. Every other has a period, of its own type where pprof has none, since Pyroscope takes the name of a profile from it. Who gave us a
 * profile as pprof has told its name: that is the period's type then, or mutex and block, whose periods are of one type, were one profile.
 */
#include <errno.h>
#include <string.h>

#include "agent/encode/otlp.pb-c.h"
#include "agent/encode/otlp_dictionary.h"
#include "agent/encode/otlp_form.h"
#include "agent/encode/otlp_wire.h"
#include "agent/encode/profile.h"
#include "agent/util/macro.h"
#include "pprof/profile.pb-c.h"

/* A file's profile has no other bound. */
#define OTLP_MAX_BYTES ((size_t)512 << 20)
#define GZIP_LEVEL 1

/* Of one type of value: what it is called, and what one of its values is worth. */
struct type {
	size_t i; /* which of the values */
	uint32_t type, unit;
	bool has_period;
	uint32_t period_type, period_unit;
	int64_t period;
	int64_t divisor;
};

static bool is_called(const struct otlp_dictionary *d, const Perftools__Profiles__ValueType *t,
		      const char *type, const char *unit)
{
	return strcmp(otlp_text(d, (uint32_t)t->type), type) == 0 &&
	       strcmp(otlp_text(d, (uint32_t)t->unit), unit) == 0;
}

static bool are_multiples(const struct otlp_dictionary *d, size_t i)
{
	for (size_t s = 0; s < d->in->n_sample; s++)
		if (d->in->sample[s]->value[i] % d->in->period != 0)
			return false;
	return true;
}

/* CPU time that is counted in samples. */
static bool is_counted(const struct otlp_dictionary *d, size_t i)
{
	return is_called(d, d->in->sample_type[i], "cpu", "nanoseconds") &&
	       is_called(d, d->in->period_type, "cpu", "nanoseconds") && d->in->period > 0 &&
	       are_multiples(d, i);
}

/* The same samples, as a value of their own. */
static bool is_told_by_another(const struct otlp_dictionary *d, size_t i)
{
	if (!is_called(d, d->in->sample_type[i], "samples", "count"))
		return false;
	for (size_t k = 0; k < d->in->n_sample_type; k++)
		if (is_counted(d, k))
			return true;
	return false;
}

static struct type type_of(const struct otlp_dictionary *d, size_t i)
{
	const Perftools__Profiles__ValueType *t = d->in->sample_type[i], *p = d->in->period_type;
	bool has_period = *otlp_text(d, (uint32_t)p->type) != '\0';
	struct type type = {
		.i = i,
		.type = (uint32_t)t->type,
		.unit = (uint32_t)t->unit,
		.has_period = true,
		.period_type = *d->name ? d->name_text : (uint32_t)(has_period ? p->type : t->type),
		.period_unit = (uint32_t)(has_period ? p->unit : t->unit),
		.period = d->in->period,
		.divisor = 1,
	};

	if (is_counted(d, i)) {
		type.period_type = (uint32_t)p->type;
		type.type = d->texts[OTLP_SAMPLES];
		type.unit = d->texts[OTLP_COUNT];
		type.divisor = d->in->period;
	} else if (!has_period && is_called(d, t, "offcpu", "nanoseconds")) {
		type.type = d->texts[OTLP_OFF_CPU];
		type.has_period = false;
	}
	return type;
}

static Otlp__Profiles__ValueType value_type(struct otlp_dictionary *d, uint32_t type, uint32_t unit)
{
	Otlp__Profiles__ValueType t = OTLP__PROFILES__VALUE_TYPE__INIT;

	t.type_strindex = otlp_string(d, type);
	t.unit_strindex = otlp_string(d, unit);
	return t;
}

/* Sums of an interval: one value, no times. */
static int put_sample(struct otlp_dictionary *d, const Perftools__Profiles__Sample *in,
		      const struct type *type, struct buf *out)
{
	Otlp__Profiles__Profile profile = OTLP__PROFILES__PROFILE__INIT;
	Otlp__Profiles__Sample sample = OTLP__PROFILES__SAMPLE__INIT;
	Otlp__Profiles__Sample *item = &sample;
	int64_t value = in->value[type->i] / type->divisor;
	struct otlp_labels labels;
	uint32_t stack;
	int r = otlp_stack(d, in, &stack);

	if (r == 0)
		r = otlp_labels(d, in, &labels);
	if (r < 0)
		return r;
	sample.stack_index = (int32_t)stack;
	sample.n_attribute_indices = labels.n;
	sample.attribute_indices = labels.attributes;
	sample.link_index = (int32_t)labels.link;
	sample.n_values = 1;
	sample.values = &value;
	profile.n_samples = 1;
	profile.samples = &item;
	otlp_put(out, &profile.base);
	return 0;
}

/* All but the samples. Its time is the beginning of the interval, that of pprof the end. */
static void put_head(struct otlp_dictionary *d, const struct type *type, struct buf *out)
{
	Otlp__Profiles__Profile profile = OTLP__PROFILES__PROFILE__INIT;
	Otlp__Profiles__ValueType sample_type = value_type(d, type->type, type->unit);
	Otlp__Profiles__ValueType period_type;

	profile.sample_type = &sample_type;
	profile.time_unix_nano = (uint64_t)(d->in->time_nanos - d->in->duration_nanos);
	profile.duration_nano = (uint64_t)d->in->duration_nanos;
	if (type->has_period) {
		period_type = value_type(d, type->period_type, type->period_unit);
		profile.period_type = &period_type;
		profile.period = type->period;
	}
	otlp_put(out, &profile.base);
}

static bool has_samples(const struct otlp_dictionary *d, size_t type)
{
	for (size_t i = 0; i < d->in->n_sample; i++)
		if (d->in->sample[i]->value[type] != 0)
			return true;
	return false;
}

static int put_profile(struct otlp_dictionary *d, const struct type *type, struct buf *scope)
{
	_cleanup_buf_ struct buf out = BUF_INIT(OTLP_MAX_BYTES);
	int r = 0;

	put_head(d, type, &out);
	for (size_t i = 0; i < d->in->n_sample && r == 0; i++)
		if (d->in->sample[i]->value[type->i] != 0)
			r = put_sample(d, d->in->sample[i], type, &out);
	otlp_put_packed(scope, 2, &out);
	return r;
}

/* A type that nothing was seen of is left out, as one that says the same as another; of an empty profile the first is there. */
static bool is_left_out(const struct otlp_dictionary *d, size_t type)
{
	if (d->in->n_sample == 0)
		return type > 0;
	return !has_samples(d, type) || is_told_by_another(d, type);
}

/* Of the profile that the dictionary is at. */
static int put_types(struct otlp_dictionary *d, struct buf *scope)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < d->in->n_sample_type; i++) {
		const struct type type = type_of(d, i);

		r = is_left_out(d, i) ? 0 : put_profile(d, &type, scope);
	}
	return r;
}

/* The labels of our own profiles are those of a series, without a name, or with that of a target. */
static const char *name_of(const struct profile *p)
{
	const char *name = p->is_foreign && p->labels ? labels_get(p->labels, "__name__") : NULL;

	return name ? name : "";
}

static int put_scope(struct otlp_dictionary *d, struct profile *const *profiles, size_t n,
		     struct buf *out)
{
	_cleanup_buf_ struct buf scope = BUF_INIT(OTLP_MAX_BYTES);
	Otlp__Profiles__ScopeProfiles head = OTLP__PROFILES__SCOPE_PROFILES__INIT;
	Otlp__Profiles__InstrumentationScope who = OTLP__PROFILES__INSTRUMENTATION_SCOPE__INIT;
	int r = 0;

	who.name = "xagent";
	head.scope = &who;
	otlp_put(&scope, &head.base);
	for (size_t i = 0; r == 0 && i < n; i++) {
		r = otlp_dictionary_turn(d, profiles[i]->tables, name_of(profiles[i]));
		if (r == 0)
			r = put_types(d, &scope);
	}
	if (r == 0)
		otlp_put_packed(out, OTLP_FORM_SCOPE_FIELD, &scope);
	return r;
}

static int take(struct buf *out, struct pprof_bytes *ret_bytes)
{
	size_t n = out->len;
	char *bytes = out->failed ? NULL : buf_take(out);

	if (!bytes)
		return -ENOMEM;
	*ret_bytes = (struct pprof_bytes){ (uint8_t *)bytes, n };
	return 0;
}

/* A string that nothing refers to is in no table: so the dictionary is written last. */
static int put_form(struct profile *const *profiles, size_t n, struct buf *out, size_t *ret_n_scope)
{
	_cleanup_(otlp_dictionary_fini) struct otlp_dictionary d;
	_cleanup_buf_ struct buf tables = BUF_INIT(OTLP_MAX_BYTES);
	int r = otlp_dictionary_init(&d);

	if (r == 0)
		r = put_scope(&d, profiles, n, out);
	if (r < 0)
		return r;
	*ret_n_scope = out->len;
	otlp_dictionary_write(&d, &tables);
	otlp_put_packed(out, OTLP_FORM_DICTIONARY_FIELD, &tables);
	return out->failed ? -ENOMEM : 0;
}

static int put_form_of(const struct profile *p, struct buf *out, size_t *ret_n_scope)
{
	struct profile *const one = (struct profile *)p;

	return put_form(&one, 1, out, ret_n_scope);
}

int encode_otlp(const struct profile *p, struct pprof_bytes *ret_bytes)
{
	_cleanup_buf_ struct buf out = BUF_INIT(OTLP_MAX_BYTES);
	size_t n_scope;
	int r = put_form_of(p, &out, &n_scope);

	return r < 0 ? r : take(&out, ret_bytes);
}

/* A whole request, of a resource of which nothing is said: samples of a file tell the service. */
int profiles_encode_otlp(struct profile *const *profiles, size_t n, struct pprof_bytes *ret_bytes)
{
	_cleanup_buf_ struct buf form = BUF_INIT(OTLP_MAX_BYTES), out = BUF_INIT(OTLP_MAX_BYTES);
	size_t n_scope = 0;
	int r = put_form(profiles, n, &form, &n_scope);

	if (r < 0)
		return r;
	otlp_put_varint(&out, OTLP_FORM_RESOURCE_FIELD << 3 | 2);
	otlp_put_varint(&out, n_scope);
	(void)buf_append(&out, form.data, form.len);
	return take(&out, ret_bytes);
}

int encode_otlp_file(const struct profile *p, struct pprof_bytes *ret_bytes)
{
	struct profile *const one = (struct profile *)p;

	return profiles_encode_otlp(&one, 1, ret_bytes);
}

int encode_otlp_gzip(const struct profile *p, struct pprof_bytes *ret_bytes)
{
	_cleanup_buf_ struct buf plain = BUF_INIT(OTLP_MAX_BYTES), out = BUF_INIT(OTLP_MAX_BYTES);
	_cleanup_(pprof_bytes_fini) struct pprof_bytes packed = { 0 };
	size_t n_scope;
	int r = put_form_of(p, &plain, &n_scope);

	if (r == 0)
		r = pprof_gzip(plain.data, plain.len, GZIP_LEVEL, &packed);
	if (r < 0)
		return r;
	for (size_t i = 0; i < OTLP_FORM_HEAD_BYTES; i++)
		(void)buf_append_char(&out, (char)(n_scope >> (8 * i)));
	(void)buf_append(&out, packed.data, packed.n);
	return take(&out, ret_bytes);
}
