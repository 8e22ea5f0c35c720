/* SPDX-License-Identifier: Apache-2.0 */
/* Files of speedscope. */
#include "agent/receive/speedscope_read.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "agent/util/clock.h"
#include "agent/util/macro.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct unit {
	const char *name;
	double ns; /* of one; 0: it is no time */
};

static const struct unit units[] = {
	{ "nanoseconds", 1 }, { "microseconds", 1e3 }, { "milliseconds", 1e6 },
	{ "seconds", 1e9 },   { "none", 0 },	       { "bytes", 0 },
};

struct file {
	const struct speedscope_reader *reader;
	json_t *frames, *profiles;
};

/* A profile of ours at work. */
struct work {
	const struct file *file;
	const struct unit *unit;
	struct stack_profile *profile;
	double scale; /* of a weight */
	struct str stack[SPEEDSCOPE_MAX_DEPTH];
	size_t open[SPEEDSCOPE_MAX_DEPTH]; /* frames, of an evented one */
	size_t n;
};

static int complain(const struct file *f, const char *text)
{
	(void)buf_append_str(f->reader->why, text);
	return -EBADMSG;
}

static struct str text_of(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);

	return v && json_is_string(v) ? (struct str){ json_string_value(v), json_string_length(v) }
				      : (struct str){ "", 0 };
}

static double number_of(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);

	return v && json_is_number(v) ? json_number_value(v) : 0;
}

static const struct unit *unit_of(const json_t *profile)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (str_eq(text_of(profile, "unit"), str_from(units[i].name)))
			return &units[i];
	return NULL;
}

/* ---- one profile of the file ---- */

static int add(struct work *w, double weight)
{
	double value = weight * w->scale;

	if (!(value >= 0) || value >= 9e18)
		return complain(w->file, "a weight is below zero or too large");
	return stack_profile_add(w->profile, w->stack, w->n, (uint64_t)llround(value));
}

static int push_frame(struct work *w, const json_t *number)
{
	const json_t *frame;
	double at = json_is_number(number) ? json_number_value(number) : -1;

	if (!(at >= 0) || at >= (double)json_array_size(w->file->frames))
		return complain(w->file, "there is no such frame");
	if (w->n == SPEEDSCOPE_MAX_DEPTH)
		return complain(w->file, "a stack is too deep");
	frame = json_array_get(w->file->frames, (size_t)at);
	w->open[w->n] = (size_t)at;
	w->stack[w->n++] = text_of(frame, "name");
	return 0;
}

static int read_sample(struct work *w, const json_t *sample, const json_t *weight)
{
	size_t n = json_array_size(sample);
	int r = 0;

	w->n = 0;
	if (!json_is_array(sample) || !json_is_number(weight))
		return complain(w->file, "a sample or its weight is missing");
	for (size_t i = 0; r == 0 && i < n; i++)
		r = push_frame(w, json_array_get(sample, i));
	return r < 0 ? r : add(w, json_number_value(weight));
}

static int read_sampled(struct work *w, const json_t *profile)
{
	const json_t *samples = json_object_get(profile, "samples");
	const json_t *weights = json_object_get(profile, "weights");
	size_t n = json_array_size(samples);
	int r = 0;

	if (n != json_array_size(weights))
		return complain(w->file, "samples and weights are not of equal number");
	for (size_t i = 0; r == 0 && i < n; i++)
		r = read_sample(w, json_array_get(samples, i), json_array_get(weights, i));
	return r;
}

static int read_event(struct work *w, const json_t *event, double *last)
{
	double at = number_of(event, "at");
	struct str type = text_of(event, "type");
	const json_t *frame = json_object_get(event, "frame");
	int r;

	if (!(at >= *last))
		return complain(w->file, "events are out of order");
	r = w->n > 0 ? add(w, at - *last) : 0;
	*last = at;
	if (r < 0)
		return r;
	if (str_eq(type, STR_LIT("O")))
		return push_frame(w, frame);
	if (!str_eq(type, STR_LIT("C")))
		return complain(w->file, "an event is neither O nor C");
	if (w->n == 0 || !json_is_number(frame) ||
	    json_number_value(frame) != (double)w->open[w->n - 1])
		return complain(w->file, "a frame is closed that is not open");
	w->n--;
	return 0;
}

static int read_evented(struct work *w, const json_t *profile)
{
	const json_t *events = json_object_get(profile, "events");
	double last = number_of(profile, "startValue");
	int r = 0;

	w->n = 0;
	for (size_t i = 0; r == 0 && i < json_array_size(events); i++)
		r = read_event(w, json_array_get(events, i), &last);
	return r;
}

static int read_one(struct work *w, const json_t *profile)
{
	struct str type = text_of(profile, "type");

	if (str_eq(type, STR_LIT("sampled")))
		return read_sampled(w, profile);
	if (str_eq(type, STR_LIT("evented")))
		return read_evented(w, profile);
	return complain(w->file, "a profile is neither sampled nor evented");
}

/* ---- those that are one ---- */

static bool are_one(const json_t *a, const json_t *b)
{
	static const char *const keys[] = { "name", "type", "unit" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!str_eq(text_of(a, keys[i]), text_of(b, keys[i])))
			return false;
	return number_of(a, "startValue") == number_of(b, "startValue");
}

static bool came_before(const struct file *f, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (are_one(json_array_get(f->profiles, i), json_array_get(f->profiles, at)))
			return true;
	return false;
}

/* Of several the unit tells; of one its name does, but bytes are no time of the CPU. */
static int choose_type(const struct file *f, const struct unit *unit, bool several,
		       struct profile_type *ret)
{
	size_t n;
	bool bytes = strcmp(unit->name, "bytes") == 0;

	if (several || (bytes && !strchr(f->reader->app, '.')))
		return profile_type_find(strcmp(unit->name, "none") == 0 ? "cpu" : unit->name, ret)
			       ? 0
			       : -EBADMSG;
	if (profile_type_of_app(f->reader->app, ret, &n))
		return 0;
	(void)buf_printf(f->reader->why, "unknown profile type: %s",
			 strrchr(f->reader->app, '.') + 1);
	return -EBADMSG;
}

/* A weight of time is in nanoseconds at once; others are what they are, or ticks of the rate. */
static int new_profile(struct work *w, const struct profile_type *type)
{
	const struct ingest_meta *m = w->file->reader->meta;
	struct stack_profile_options o = {
		.type = *type,
		.sample_rate = m->sample_rate,
		.time_ns = m->from_ns,
		.duration_ns = m->until_ns > m->from_ns ? m->until_ns - m->from_ns : 0,
		.budget = w->file->reader->budget,
	};

	w->scale = 1;
	if (w->unit->ns > 0 && type->timed) {
		o.sample_rate = NS_PER_S;
		w->scale = w->unit->ns;
	} else if (strcmp(w->unit->name, "bytes") == 0) {
		o.sample_rate = 0;
	}
	return stack_profile_new(&o, &w->profile);
}

static int fill(struct work *w, size_t first)
{
	const struct file *f = w->file;
	int r = 0;

	for (size_t i = first; r == 0 && i < json_array_size(f->profiles); i++)
		if (are_one(json_array_get(f->profiles, first), json_array_get(f->profiles, i)))
			r = read_one(w, json_array_get(f->profiles, i));
	return r;
}

static int make_one(struct work *w, size_t at, bool several)
{
	const json_t *profile = json_array_get(w->file->profiles, at);
	struct speedscope_profile out = { .name = text_of(profile, "name"),
					  .unit = text_of(profile, "unit"),
					  .is_of_several = several };
	int r;

	w->unit = unit_of(profile);
	if (!w->unit)
		return complain(w->file, "a profile has no unit that is known");
	r = choose_type(w->file, w->unit, several, &out.type);
	r = r < 0 ? r : new_profile(w, &out.type);
	if (r < 0)
		return r;
	r = fill(w, at);
	if (r < 0) {
		stack_profile_free(w->profile);
		return r;
	}
	out.profile = w->profile;
	return w->file->reader->take(w->file->reader->data, &out);
}

static int make_all(const struct file *f)
{
	size_t n = json_array_size(f->profiles), n_distinct = 0;
	struct work *w = calloc(1, sizeof(*w));
	int r = w ? 0 : -ENOMEM;

	if (n > SPEEDSCOPE_MAX_PROFILES)
		r = complain(f, "it has too many profiles");
	for (size_t i = 0; r == 0 && i < n; i++)
		n_distinct += !came_before(f, i);
	for (size_t i = 0; r == 0 && i < n; i++) {
		if (came_before(f, i))
			continue;
		w->file = f;
		r = make_one(w, i, n_distinct > 1);
	}
	free(w);
	return r;
}

/* ---- the file ---- */

/* At least as many as there are. */
static size_t count_values(struct str text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == ',' || text.p[i] == ':' || text.p[i] == '[' || text.p[i] == '{';
	return n;
}

static int read_file(const struct speedscope_reader *reader, json_t *root)
{
	struct file f = { .reader = reader };

	if (!str_eq(text_of(root, "$schema"), STR_LIT(SCHEMA)))
		return complain(&f, "Unknown schema: it is not a file of speedscope");
	f.frames = json_object_get(json_object_get(root, "shared"), "frames");
	f.profiles = json_object_get(root, "profiles");
	return make_all(&f);
}

int speedscope_read(const struct speedscope_reader *reader, struct str text)
{
	json_error_t error;
	json_t *root;
	int r;

	if (count_values(text) > SPEEDSCOPE_MAX_VALUES)
		return -ENOBUFS;
	if (!read_budget_take_elements(reader->budget, count_values(text)))
		return -ECANCELED;
	root = json_loadb(text.p ? text.p : "", text.n, 0, &error);
	if (!root) {
		(void)buf_printf(reader->why, "not JSON: %s", error.text);
		return -EBADMSG;
	}
	r = read_file(reader, root);
	json_decref(root);
	return r;
}
