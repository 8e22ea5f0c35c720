/* SPDX-License-Identifier: Apache-2.0 */
/* A flame graph as a still picture. */
#include "agent/draw/flame_svg.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "agent/draw/flame_walk.h"
#include "agent/draw/svg_colour.h"
#include "agent/draw/xml_text.h"
#include "agent/util/macro.h"

/* In pixels of a picture that nobody has scaled. 1200 is what a screen of a laptop shows beside the frame of a window. */
#define WIDTH 1200
#define MARGIN 12
#define BARS_WIDTH (WIDTH - 2 * MARGIN)
#define TITLE_Y 30
#define ORIGIN_Y 50
#define BARS_Y 66
#define ROW 18
#define BAR_HEIGHT 17
#define TEXT_DOWN 12.5 /* from the bar's upper edge to the feet of its letters */
#define TEXT_SIZE 11
#define TEXT_INDENT 4
#define SQUARE 11
#define LEGEND_GAP 24
#define LETTER_WIDTH 6.6 /* of 12 pixels in common fonts, rather too much */
#define NOTE_DOWN 20
#define FOOT 34
/* Of a font with equal widths, a little more than the 0.602 em of the common ones. */
#define COLUMN_WIDTH (0.61 * TEXT_SIZE)
#define MIN_COLUMNS 3
/* Above are the root, and processes. */
#define FUNCTIONS_FROM 2
/* Bars that wide have a gap behind them, so that equal neighbours can be told apart. */
#define GAP_FROM 3.0
#define GAP 0.7

/* Four bars to a pixel: below it there is nothing to see, nor to point at. */
#define LEAST_PIXELS 0.25
/* A browser draws so many without delay; where there would be more, the least width grows. */
#define MAX_BARS 20000
#define LEAST_GROWS 1.25
/* Rasterizers (cairo) end at 32767 pixels. */
#define MAX_LEVELS 1800
/* C++ has names of thousands of characters; a tooltip that long covers what it explains. */
#define TOOLTIP_COLUMNS 500
#define HEAD_COLUMNS 200
/* Letters of common fonts are 0.6 of their size or less on average. */
#define LINE_WIDTH (BARS_WIDTH * 10 / 6)

struct picture {
	const struct flame_tree *tree;
	const struct flame_facts *facts;
	struct buf *out;
	int64_t all;	     /* samples */
	double least_pixels; /* bars below it are left out */
	size_t n_bars;
	uint32_t n_levels;
	bool has_kind[FLAME_KIND_MAX];
};

static double pixels(const struct picture *p, int64_t samples)
{
	return (double)samples * BARS_WIDTH / (double)p->all;
}

static bool is_shown(const struct picture *p, const struct flame_walk *w)
{
	return w->depth < MAX_LEVELS &&
	       pixels(p, flame_walk_node(w)->total[CALL_LEFT]) >= p->least_pixels;
}

static enum flame_kind kind_of(const struct picture *p, const struct flame_walk *w)
{
	return flame_tree_kind(p->tree, flame_walk_node(w)->name);
}

static void count_bar(struct picture *p, const struct flame_walk *w)
{
	p->n_bars++;
	p->n_levels = MAX_OF(p->n_levels, w->depth + 1);
	if (w->depth >= FUNCTIONS_FROM)
		p->has_kind[kind_of(p, w)] = true;
}

static void count_bars(struct picture *p)
{
	struct flame_walk w = FLAME_WALK_INIT(p->tree->calls);
	bool shown;

	p->n_bars = 0;
	p->n_levels = 0;
	memset(p->has_kind, 0, sizeof(p->has_kind));
	do {
		shown = is_shown(p, &w);
		if (shown)
			count_bar(p, &w);
	} while (flame_walk_next(&w, shown));
}

static void measure(struct picture *p)
{
	p->all = call_tree_node(p->tree->calls, CALL_ROOT)->total[CALL_LEFT];
	if (p->all <= 0)
		return;
	p->least_pixels = LEAST_PIXELS;
	for (count_bars(p); p->n_bars > MAX_BARS; count_bars(p))
		p->least_pixels *= LEAST_GROWS;
}

static void put_head(struct picture *p, const char *title, const char *origin)
{
	uint32_t height = BARS_Y + MAX_OF(p->n_levels, 1U) * ROW + FOOT;

	(void)buf_printf(p->out,
			 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%" PRIu32
			 "\" viewBox=\"0 0 %d %" PRIu32 "\" role=\"img\">\n<title>",
			 WIDTH, height, WIDTH, height);
	(void)xml_text(p->out, title, HEAD_COLUMNS);
	(void)buf_append_str(p->out, "</title>\n<desc>Flame graph: ");
	(void)xml_text(p->out, origin, HEAD_COLUMNS);
	(void)buf_append_str(p->out, ". Made by xagent.</desc>\n");
}

/* Colours are attributes too: not every viewer reads styles. */
static void put_style(struct picture *p)
{
	(void)buf_append_str(
		p->out,
		"<style>\n"
		".bars g:hover rect { stroke: #1f5fd0; stroke-width: 1.2; }\n"
		"@media (prefers-color-scheme: dark) {\n"
		".ground { fill: #161b22; } .title { fill: #e4e9f0; } .note { fill: #9aa6b5; }\n"
		".bars rect, .key { opacity: .88; } .bars g:hover rect { stroke: #fff; }\n"
		"}\n"
		"</style>\n"
		"<rect class=\"ground\" width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
}

static void put_line(struct picture *p, const char *class, double x, double y, unsigned int size,
		     const char *text)
{
	(void)buf_printf(p->out,
			 "<text class=\"%s\" x=\"%.0f\" y=\"%.0f\" font-size=\"%u\" fill=\"%s\" "
			 "font-family=\"system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif\">",
			 class, x, y, size, *class == 't' ? "#1b222c" : "#55606e");
	(void)xml_text(p->out, text, LINE_WIDTH / size);
	(void)buf_append_str(p->out, "</text>\n");
}

static double legend_width(enum flame_kind kind)
{
	return SQUARE + LEGEND_GAP + LETTER_WIDTH * (double)strlen(svg_colour_label(kind));
}

static void put_legend_of(struct picture *p, enum flame_kind kind, double x)
{
	(void)buf_printf(p->out,
			 "<rect class=\"key\" x=\"%.0f\" y=\"%d\" width=\"%d\" height=\"%d\" "
			 "rx=\"2\" fill=\"#%06" PRIx32 "\"/>\n",
			 x, ORIGIN_Y - SQUARE + 1, SQUARE, SQUARE, svg_colour_of_kind(kind));
	put_line(p, "note", x + SQUARE + 6, ORIGIN_Y, 12, svg_colour_label(kind));
}

/* Of the kinds that are in it, up to the right margin. */
static void put_legend(struct picture *p)
{
	double x = WIDTH - MARGIN + LEGEND_GAP / 2.0;

	for (unsigned int kind = 0; kind < FLAME_KIND_MAX; kind++)
		x -= p->has_kind[kind] ? legend_width(kind) : 0;
	for (unsigned int kind = 0; kind < FLAME_KIND_MAX; kind++) {
		if (!p->has_kind[kind])
			continue;
		put_legend_of(p, kind, x);
		x += legend_width(kind);
	}
}

static void put_caption(struct picture *p)
{
	_cleanup_buf_ struct buf title = BUF_INIT(8192);
	_cleanup_buf_ struct buf origin = BUF_INIT(8192);

	flame_facts_title(p->facts, &title);
	flame_facts_origin(p->facts, &origin);
	put_head(p, buf_str(&title), buf_str(&origin));
	put_style(p);
	put_line(p, "title", MARGIN, TITLE_Y, 18, buf_str(&title));
	put_line(p, "note", MARGIN, ORIGIN_Y, 12, buf_str(&origin));
	put_legend(p);
}

static void put_time(struct picture *p, int64_t samples)
{
	double s = (double)samples / p->facts->hz;

	if (s < 1)
		(void)buf_printf(p->out, ", %.3g ms", s * 1e3);
	else
		(void)buf_printf(p->out, ", %.2f s", s);
}

/* "spin: 97 samples, 1.00 s, 48.5 %; itself 90" */
static void put_tooltip(struct picture *p, const char *name, const struct call_node *n)
{
	int64_t total = n->total[CALL_LEFT];
	int64_t self = n->self[CALL_LEFT];

	(void)buf_append_str(p->out, "<g><title>");
	(void)xml_text(p->out, name, TOOLTIP_COLUMNS);
	(void)buf_printf(p->out, ": %" PRId64 " %s", total,
			 event_text_unit(&p->facts->event, (uint64_t)total));
	if (p->facts->event.event == EVENT_CPU)
		put_time(p, total);
	(void)buf_printf(p->out, ", %.3g %%", 100.0 * (double)total / (double)p->all);
	if (self > 0 && self < total)
		(void)buf_printf(p->out, "; itself %" PRId64, self);
	(void)buf_append_str(p->out, "</title>");
}

static uint32_t colour(const struct picture *p, const struct flame_walk *w)
{
	if (w->depth < FUNCTIONS_FROM)
		return w->depth == 0 ? SVG_COLOUR_ALL : SVG_COLOUR_PROCESS;
	return svg_colour(kind_of(p, w), flame_walk_name(w));
}

/* Of Go's names the directories go first: "querier.(*Querier).Select" of "github.com/grafana/pyroscope/pkg/querier.(*Querier).Select". */
static const char *without_directories(const char *name)
{
	const char *slash = memrchr(name, '/', strcspn(name, "([<"));

	return slash ? slash + 1 : name;
}

static void put_name(struct picture *p, double x, double y, double width, const char *name)
{
	double columns = (width - 2 * TEXT_INDENT) / COLUMN_WIDTH;

	if (columns < MIN_COLUMNS)
		return;
	(void)buf_printf(p->out, "<text x=\"%.2f\" y=\"%.1f\">", x + TEXT_INDENT, y + TEXT_DOWN);
	if (!xml_text_fits(name, (size_t)columns))
		name = without_directories(name);
	(void)xml_text(p->out, name, (size_t)columns);
	(void)buf_append_str(p->out, "</text>");
}

static void put_bar(struct picture *p, const struct flame_walk *w)
{
	const struct call_node *n = flame_walk_node(w);
	double x = MARGIN + pixels(p, w->begin);
	double y = BARS_Y + (double)w->depth * ROW;
	double width = pixels(p, n->total[CALL_LEFT]);
	const char *name = flame_walk_name(w);

	put_tooltip(p, name, n);
	(void)buf_printf(p->out,
			 "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\"%s "
			 "fill=\"#%06" PRIx32 "\"/>",
			 x, y, width - (width >= GAP_FROM ? GAP : 0), BAR_HEIGHT,
			 width >= GAP_FROM ? " rx=\"2\"" : "", colour(p, w));
	put_name(p, x, y, width, name);
	(void)buf_append_str(p->out, "</g>\n");
}

static void put_bars(struct picture *p)
{
	struct flame_walk w = FLAME_WALK_INIT(p->tree->calls);
	bool shown;

	(void)buf_printf(p->out,
			 "<g class=\"bars\" font-size=\"%d\" fill=\"#1b222c\" font-family=\""
			 "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\">\n",
			 TEXT_SIZE);
	do {
		shown = is_shown(p, &w);
		if (shown)
			put_bar(p, &w);
	} while (flame_walk_next(&w, shown));
	(void)buf_append_str(p->out, "</g>\n");
}

static void put_foot(struct picture *p)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1024);
	size_t n_left_out = call_tree_n_nodes(p->tree->calls) - p->n_bars;
	double y = BARS_Y + (double)p->n_levels * ROW;

	(void)buf_printf(&text,
			 "A bar is a function, as wide as its share of the %s; below it is what it "
			 "calls.",
			 event_text_unit(&p->facts->event, 0));
	if (n_left_out > 0)
		(void)buf_printf(&text, " Left out: %zu bar%s narrower than %.2g pixels%s.",
				 n_left_out, n_left_out == 1 ? "" : "s", p->least_pixels,
				 p->n_levels == MAX_LEVELS ? " or too deep" : "");
	put_line(p, "note", MARGIN, y + NOTE_DOWN, 12, buf_str(&text));
}

int flame_svg(const struct flame_tree *tree, const struct flame_facts *facts, struct buf *out)
{
	struct picture p = { .tree = tree, .facts = facts, .out = out };

	measure(&p);
	put_caption(&p);
	if (p.all > 0) {
		put_bars(&p);
		put_foot(&p);
	} else {
		put_line(&p, "title", MARGIN, BARS_Y + ROW, 14,
			 "No samples: nothing of what was profiled used a CPU.");
	}
	(void)buf_append_str(out, "</svg>\n");
	return out->failed ? -ENOBUFS : 0;
}
