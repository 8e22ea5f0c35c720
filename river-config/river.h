/* SPDX-License-Identifier: Apache-2.0 */
/*
 * River: the configuration language, from text to C structs. The only public header of this
 * library.
 *
 * A load goes through these steps, each of which appends what it finds to one list of diagnostics
 * and goes on, so that a person sees all mistakes at once:
 *
 *	struct river_arena arena;
 *	struct river_diags diags;
 *
 *	river_arena_init(&arena, 64 << 20);
 *	river_diags_init(&diags, &arena);
 *	river_parse("agent.conf", text, len, &arena, &diags, &file);	text to tree
 *	river_file_require_blocks(file, &diags);
 *	river_body_references(&block->body, ...);			edges of a graph
 *	river_decode_block(block, &schema, &scope, ..., &out);		tree to C struct
 *	river_diags_write_pretty(&diags, ...);
 *
 * Memory: everything handed out lives in the arena it was made in, until river_arena_fini; nothing
 * is freed one by one and no result refers to the source text. Values may refer to values they were
 * made of, so an arena must outlive the arenas whose values use its own; river_value_copy cuts such
 * ties, and decoded structs have none (capsule pointers excepted).
 *
 * Errors: a negative result is a fault (-ENOMEM: memory is out or the arena's ceiling was reached).
 * RIVER_INVALID says that the user made a mistake and that at least one diagnostic tells which.
 * Nothing is printed, no file is opened, there is no global state; every function may run on any
 * thread as long as an arena has one user at a time.
 */
#ifndef XAGENT_RIVER_CONFIG_RIVER_H
#define XAGENT_RIVER_CONFIG_RIVER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum river_outcome {
	RIVER_OK = 0,
	RIVER_INVALID = 1, /* the user's mistake; diagnostics were appended */
};

/*
 * Levels an expression or nested blocks may have. Every walk over a tree or a value recurses, so
 * this bounds the stack: 0.5 MiB at this depth, 2 MiB in a sanitized build. A person's file has
 * fewer than ten.
 */
#define RIVER_DEPTH_MAX 512

/*
 * Diagnostics kept of one load; the rest is counted. More than a person reads, and a bound on what
 * hostile bytes can cause.
 */
#define RIVER_DIAGS_MAX 1000

struct river_arena_chunk;
struct river_arena_deferred;

struct river_arena {
	struct river_arena_chunk *head;
	struct river_arena_deferred *deferred;
	size_t used_bytes; /* of all chunks, headers included */
	size_t max_bytes;
};

void river_arena_init(struct river_arena *a, size_t max_bytes);
void river_arena_fini(struct river_arena *a);

/* Zeroed, aligned for any type; NULL when memory is out or the ceiling is reached. */
void *river_arena_alloc(struct river_arena *a, size_t n);

/* `fn` is called when the arena ends, the last one first. 0 or -ENOMEM. */
int river_arena_defer(struct river_arena *a, void (*fn)(void *data), void *data);

/* n bytes of s and a NUL. */
char *river_arena_strndup(struct river_arena *a, const char *s, size_t n);

/* Receives text in pieces; not NUL-terminated. */
typedef void (*river_write_fn)(void *ctx, const char *bytes, size_t n);

struct river_pos {
	uint32_t offset; /* bytes from the start of the text */
	uint32_t line;	 /* from 1; 0: no position */
	uint32_t column; /* bytes, from 1 */
};

/*
 * `end` is the position of the last byte that belongs to the range, not the one after; without a
 * line where only a start is known.
 */
struct river_range {
	const char *file;
	struct river_pos start;
	struct river_pos end;
};

enum river_severity {
	RIVER_SEVERITY_ERROR,
	RIVER_SEVERITY_WARNING,
};

struct river_diag {
	enum river_severity severity;
	struct river_range range;
	const char *message;
};

struct river_diags {
	struct river_arena *arena; /* borrowed */
	struct river_diag *items;
	size_t n_items;
	size_t max_items; /* allocated */
	size_t n_errors;  /* of severity error, dropped ones included */
	size_t n_dropped; /* not kept because of RIVER_DIAGS_MAX */
};

void river_diags_init(struct river_diags *d, struct river_arena *arena);

/*
 * Appends; `at` may be NULL: a diagnostic without a position. The range is copied, its file name
 * borrowed. 0 or -ENOMEM.
 */
int river_diag_add(struct river_diags *d, enum river_severity severity,
		   const struct river_range *at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
int river_diag_vadd(struct river_diags *d, enum river_severity severity,
		    const struct river_range *at, const char *fmt, va_list ap)
	__attribute__((format(printf, 4, 0)));

/* The text of a file, so that an excerpt can be shown. */
struct river_source {
	const char *file; /* as given to river_parse */
	const char *text;
	size_t len;
};

/* `file:line:col: message`; no line break at the end. */
void river_diag_write(const struct river_diag *diag, river_write_fn write, void *ctx);

/*
 * The first one and ` (and N more diagnostics)`, or `no errors`: one line, for a log or an HTTP
 * answer.
 */
void river_diags_write_summary(const struct river_diags *d, river_write_fn write, void *ctx);

/*
 * All, with excerpts and markers; ends in a line break unless there is nothing to say. `color`:
 * with escape sequences of a terminal.
 */
void river_diags_write_pretty(const struct river_diags *d, const struct river_source *sources,
			      size_t n_sources, bool color, river_write_fn write, void *ctx);

struct river_expr;

struct river_ident {
	const char *text;
	struct river_range range;
};

enum river_stmt_kind {
	RIVER_STMT_ATTRIBUTE,
	RIVER_STMT_BLOCK,
};

struct river_stmt;

struct river_body {
	const struct river_stmt **stmts;
	size_t n_stmts;
};

struct river_stmt {
	enum river_stmt_kind kind;
	struct river_range range; /* a block up to its closing brace */
	const char *name;	  /* of a block: its parts joined by dots */
	struct river_range name_range;

	/* attribute */
	const struct river_expr *value;

	/* block */
	const struct river_ident *parts;
	size_t n_parts;
	const char *label; /* NULL when there is none; "" counts as none */
	struct river_range label_range;
	struct river_range head_range; /* from the name to the opening brace */
	struct river_body body;
};

/* Text as in the source with its delimiters, without carriage returns. */
struct river_comment {
	const char *text;
	struct river_range range;
};

struct river_file {
	const char *name;
	struct river_body body;
	const struct river_comment *comments; /* in file order */
	size_t n_comments;
};

/*
 * Text to tree. *ret_file is set whenever the result is not negative, after mistakes to what could
 * be understood. `name` is copied. The text needs no NUL at its end and is not referred to
 * afterwards; a tree takes some 20 times its bytes. Texts of 1 GiB and more are refused with a
 * diagnostic.
 */
int river_parse(const char *name, const char *text, size_t len, struct river_arena *arena,
		struct river_diags *diags, const struct river_file **ret_file);

/* The same for one expression, as `inspect eval` wants it. */
int river_parse_expr(const char *name, const char *text, size_t len, struct river_arena *arena,
		     struct river_diags *diags, const struct river_expr **ret_expr);

/*
 * A configuration has only blocks at its top level; each attribute there is a diagnostic. RIVER_OK,
 * RIVER_INVALID or -ENOMEM.
 */
int river_file_require_blocks(const struct river_file *file, struct river_diags *diags);

const struct river_range *river_expr_range(const struct river_expr *e);

/* Whether the text is a name that needs no quotes: a letter, then letters and digits; no keyword. */
bool river_is_identifier(const char *s, size_t len);

/*
 * A whole file, laid out as the language's own formatter does it; every comment stays, and laid out again it is the same. RIVER_OK;
 * RIVER_INVALID: it cannot be read, diagnostics tell, nothing is written; -ENOMEM.
 */
int river_format(const char *name, const char *text, size_t len, struct river_arena *arena,
		 struct river_diags *diags, river_write_fn write, void *ctx);

/* Back to text, laid out as `fmt` does; no line break at the end. */
int river_expr_write(const struct river_expr *e, struct river_arena *arena, river_write_fn write,
		     void *ctx);

/* `a.b.c` as far as it is visible: an index or a call ends it. */
struct river_reference {
	const struct river_ident *parts; /* borrowed for the call */
	size_t n_parts;
};

/* A result other than 0 ends the walk and is returned. */
typedef int (*river_reference_fn)(void *ctx, const struct river_reference *ref);

/*
 * In source order, nested blocks included. Names of the standard library are reported too: see
 * river_stdlib_find.
 */
int river_expr_references(const struct river_expr *e, river_reference_fn fn, void *ctx);
int river_body_references(const struct river_body *body, river_reference_fn fn, void *ctx);

enum river_type {
	RIVER_TYPE_NULL,
	RIVER_TYPE_NUMBER,
	RIVER_TYPE_STRING,
	RIVER_TYPE_BOOL,
	RIVER_TYPE_ARRAY,
	RIVER_TYPE_OBJECT,
	RIVER_TYPE_FUNCTION,
	RIVER_TYPE_CAPSULE,
	RIVER_TYPE_MAX,
};

struct river_value;

/* As messages spell it: "null", "number", … */
const char *river_type_name(enum river_type type);

/*
 * Constructors: NULL when the arena is full. Bytes, keys and arrays of pointers are copied; the
 * values pointed to are borrowed.
 */
const struct river_value *river_value_null(struct river_arena *a);
const struct river_value *river_value_bool(struct river_arena *a, bool b);
const struct river_value *river_value_int(struct river_arena *a, int64_t i);
const struct river_value *river_value_uint(struct river_arena *a, uint64_t u);
const struct river_value *river_value_float(struct river_arena *a, double f);
const struct river_value *river_value_string(struct river_arena *a, const char *s, size_t len);
const struct river_value *river_value_secret(struct river_arena *a, const char *s, size_t len);

/* A text that may be a secret: what local.file exports. */
const struct river_value *river_value_optional_secret(struct river_arena *a, const char *s,
						      size_t len, bool is_secret);

/* An opaque pointer of the host under a type name (borrowed), such as a receiver of profiles. */
const struct river_value *river_value_capsule(struct river_arena *a, const char *type, void *ptr);

const struct river_value *river_value_array(struct river_arena *a,
					    const struct river_value *const *items, size_t n_items);

struct river_member {
	const char *key;
	const struct river_value *value;
};

/* Keys become sorted; of equal keys the last one stays. */
const struct river_value *river_value_object(struct river_arena *a,
					     const struct river_member *members, size_t n_members);

/* A deep copy that refers to nothing outside `a`, capsule pointers and type names excepted. */
const struct river_value *river_value_copy(struct river_arena *a, const struct river_value *v);

enum river_type river_value_type(const struct river_value *v);
bool river_value_is_null(const struct river_value *v);
bool river_value_is_secret(const struct river_value *v);

/*
 * Each needs a value of its type; others yield false, 0, "" or NULL. Strings end in a NUL that the
 * length does not count.
 */
bool river_value_get_bool(const struct river_value *v);
double river_value_get_float(const struct river_value *v);
int64_t river_value_get_int(const struct river_value *v); /* truncates, saturates */
const char *river_value_get_string(const struct river_value *v, size_t *ret_len); /* no secrets */
/* The text of a string or secret, else NULL: the only way to read a secret, for callers that send it on. Never to be shown to a person. */
const char *river_value_get_secret_text(const struct river_value *v, size_t *ret_len);
void *river_value_get_capsule(const struct river_value *v, const char *type);
size_t river_value_len(const struct river_value *v); /* of an array or object */
const struct river_value *river_value_item(const struct river_value *v, size_t i);
const char *river_value_key(const struct river_value *v, size_t i);
const struct river_value *river_value_member(const struct river_value *v, size_t i);
const struct river_value *river_value_find(const struct river_value *v, const char *key);

struct river_string_map;

/*
 * Objects that the host keeps in a form of its own: targets go from block to block by the ten
 * thousand, and hardly ever does an expression look into one. To the language they are objects like
 * any others; members are made when somebody asks for them.
 */
struct river_foreign {
	/* The members: an object in `arena`, whose values may refer to the item. NULL: no memory. */
	const struct river_value *(*open)(struct river_arena *arena, const void *item);
	/*
	 * Each of the items lives as long as the arena, see river_arena_defer. `items` lie in the
	 * arena. 0 or -ENOMEM.
	 */
	int (*keep)(struct river_arena *arena, const void *const *items, size_t n);
	/*
	 * From an object that an expression spells out. It lives as long as the arena; NULL: what
	 * the map holds cannot be one, which the row's validate tells. 0 or -ENOMEM.
	 */
	int (*make)(struct river_arena *arena, const struct river_string_map *map,
		    const void **ret_item);
	bool (*equal)(const void *a, const void *b);
};

/* An array of such objects; keeps the items. NULL: no memory. */
const struct river_value *river_value_foreigns(struct river_arena *a,
					       const struct river_foreign *kind,
					       const void *const *items, size_t n_items);
/* The item of an object of this kind, else NULL. */
const void *river_value_get_foreign(const struct river_value *v, const struct river_foreign *kind);

/*
 * As the operator `==` has it: numbers by value, arrays and objects deep, host capsules by type and
 * pointer, functions never.
 */
bool river_value_equal(const struct river_value *a, const struct river_value *b);

enum river_layout {
	RIVER_LAYOUT_LINE,  /* everything on one line */
	RIVER_LAYOUT_LINES, /* a line for every key of an object */
};

/* In the language's own syntax; secrets as "(secret)". */
int river_value_write(const struct river_value *v, enum river_layout layout,
		      struct river_arena *arena, river_write_fn write, void *ctx);

/* The least settled features that may be used, as the flag --stability.level says. */
enum river_stability {
	RIVER_STABILITY_GENERALLY_AVAILABLE,
	RIVER_STABILITY_PUBLIC_PREVIEW,
	RIVER_STABILITY_EXPERIMENTAL,
	RIVER_STABILITY_MAX,
};

/* As the flag spells it; "" for none. */
const char *river_stability_name(enum river_stability stability);

/* What names mean. Zeroed, it knows the standard library alone. */
struct river_scope {
	/*
	 * The value of the first name of a chain, or NULL when there is none: then the standard
	 * library is asked.
	 */
	const struct river_value *(*lookup)(void *ctx, struct river_arena *arena, const char *name);
	void *ctx;

	/*
	 * For `sys.env`; NULL result: not set. Without it, getenv(3), which no other thread may
	 * change meanwhile.
	 */
	const char *(*env)(void *ctx, const char *name);

	const char *version;  /* constants.version; NULL: "" */
	const char *hostname; /* constants.hostname; NULL: the kernel's */

	enum river_stability stability; /* experimental functions ask for it */
};

/* RIVER_OK, RIVER_INVALID (one diagnostic, or more for a broken tree) or -ENOMEM. */
int river_eval(const struct river_expr *e, const struct river_scope *scope,
	       struct river_arena *arena, struct river_diags *diags,
	       const struct river_value **ret_value);

enum river_stdlib_status {
	RIVER_STDLIB_NONE,
	RIVER_STDLIB_CURRENT,
	RIVER_STDLIB_DEPRECATED, /* works; a warning is due */
};

/* Looks up a chain such as {"sys", "env"}; a first name alone ("sys") counts as known. */
enum river_stdlib_status river_stdlib_find(const struct river_reference *ref);

/* What a field of the caller's struct is, and thereby what its attribute may be. */
enum river_field_kind {
	RIVER_KIND_STRING,	    /* const char * */
	RIVER_KIND_BOOL,	    /* bool */
	RIVER_KIND_INT,		    /* int64_t; fractions are cut off */
	RIVER_KIND_UINT,	    /* uint64_t; negative numbers wrap: validate */
	RIVER_KIND_FLOAT,	    /* double */
	RIVER_KIND_DURATION,	    /* int64_t, nanoseconds */
	RIVER_KIND_SECRET,	    /* const char *; takes strings and secrets */
	RIVER_KIND_OPTIONAL_SECRET, /* struct river_secret; takes strings and both kinds of secrets */
	RIVER_KIND_STRING_LIST,	    /* struct river_strings */
	RIVER_KIND_STRING_MAP,	    /* struct river_string_map */
	RIVER_KIND_STRING_MAP_LIST, /* struct river_string_maps */
	RIVER_KIND_SECRET_LIST_MAP, /* struct river_list_map; texts are strings or secrets */
	RIVER_KIND_CAPSULE,	    /* void *; NULL for null */
	RIVER_KIND_CAPSULE_LIST,    /* struct river_capsules; NULL for an entry that is null */
	RIVER_KIND_FOREIGN_LIST,    /* struct river_foreigns */
	RIVER_KIND_OBJECT,	    /* an embedded struct, given as an object by an attribute */
	RIVER_KIND_VALUE,	    /* const struct river_value * of any type */
	RIVER_KIND_BLOCK,	    /* an embedded struct */
	RIVER_KIND_BLOCK_PTR,	    /* a pointer to a struct; NULL when the block is absent */
	RIVER_KIND_BLOCKS,	    /* struct river_blocks; may be given many times */
	RIVER_KIND_LABEL,	    /* const char *: the label of the block itself */
	RIVER_KIND_MAX,
};

struct river_secret {
	const char *text;
	bool is_secret;
};

struct river_strings {
	const char **items;
	size_t n_items;
};

/* Sorted by key. */
struct river_string_map {
	const char **keys;
	const char **values;
	size_t n_items;
};

/* An attribute that is given, be it empty or null, has `items` that are not NULL. */
struct river_string_maps {
	struct river_string_map *items;
	size_t n_items;
};

/* As of river_string_maps: `items` are not NULL when the attribute is given. */
struct river_foreigns {
	const void **items;
	size_t n_items;
};

/* Sorted by key; `lists` are as many as `keys`. */
struct river_list_map {
	const char **keys;
	struct river_strings *lists;
	size_t n_items;
};

struct river_capsules {
	void **items;
	size_t n_items;
};

/* `items` is an array of the struct of the row's schema. */
struct river_blocks {
	void *items;
	size_t n_items;
};

enum river_field_flags {
	RIVER_REQUIRED = 1 << 0,
	RIVER_DEPRECATED = 1 << 1, /* accepted with a warning; `note` may name the replacement */
	RIVER_IGNORED = 1 << 2, /* checked, then forgotten: no field of the struct belongs to it */
	RIVER_OF_VALUE =
		1 << 3, /* what validate finds is said of the expression, as by a conversion */
};

struct river_schema;

struct river_field {
	enum river_field_kind kind;
	const char *name;
	size_t offset;
	unsigned int flags;
	const char *def;		     /* default, converted like a string; NULL: zero */
	const char *capsule_type;	     /* CAPSULE, CAPSULE_LIST */
	const struct river_foreign *foreign; /* FOREIGN_LIST */
	const struct river_schema *schema;   /* OBJECT, BLOCK, BLOCK_PTR, BLOCKS */
	size_t length;	  /* lists, BLOCKS: so many and no other number; 0: any */
	const char *note; /* DEPRECATED */
	/*
	 * STRING: looks at the text that an attribute gives (null is none) and returns what is
	 * wrong with it, as validate does. An error of the value, as if it could not be converted.
	 */
	const char *(*check_text)(const char *text, struct river_arena *arena);
	/*
	 * Looks at the decoded field (not at the struct) and returns what is wrong with it, in the
	 * arena or static; NULL: nothing.
	 */
	const char *(*validate)(const void *field, struct river_arena *arena);
};

/*
 * Decoding a body: the struct is zeroed, defaults of the rows are set, then init is called;
 * statements are decoded in file order; if one is wrong the next ones are still looked at. Then
 * missing required rows are reported and, if the body had no error at all, validate is asked.
 */
struct river_schema {
	const char *name; /* for readers of the table */
	size_t size;	  /* of the caller's struct */
	const struct river_field *fields;
	size_t n_fields;
	void (*init)(void *self);
	const char *(*validate)(const void *self, struct river_arena *arena);
};

/*
 * Rows are written with these macros; they check that the member has the right type.
 *
 *	struct endpoint { const char *url; int64_t timeout_ns; struct river_string_map headers; };
 *
 *	static const struct river_field endpoint_fields[] = {
 *		RIVER_FIELD_STRING(struct endpoint, url, "url", .flags = RIVER_REQUIRED),
 *		RIVER_FIELD_DURATION(struct endpoint, timeout_ns, "remote_timeout", .def = "10s"),
 *		RIVER_FIELD_STRING_MAP(struct endpoint, headers, "headers"),
 *		RIVER_FIELD_IGNORED(RIVER_KIND_INT, "cache_size", RIVER_DEPRECATED,
 *				    .note = "it has no effect"),
 *	};
 *	static const struct river_schema endpoint_schema =
 *		RIVER_SCHEMA(struct endpoint, "endpoint", endpoint_fields);
 *
 *	struct writer { struct river_blocks endpoints; };
 *
 *	static const struct river_field writer_fields[] = {
 *		RIVER_FIELD_BLOCKS(struct writer, endpoints, "endpoint", &endpoint_schema),
 *	};
 *	static const struct river_schema writer_schema =
 *		RIVER_SCHEMA(struct writer, "pyroscope.write", writer_fields,
 *			     .validate = writer_validate);
 */
#define RIVER_SCHEMA(type, schema_name, rows, ...)                             \
	{                                                                      \
		.name = (schema_name), .size = sizeof(type), .fields = (rows), \
		.n_fields = sizeof(rows) / sizeof((rows)[0]), ##__VA_ARGS__    \
	}

/* Offset of a member after a compile-time look at its type. */
#define RIVER_OFFSET(type, member, member_type)                                        \
	(offsetof(type, member) +                                                      \
	 0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((type *)0)->member), \
						      member_type)                     \
				 ? 1                                                   \
				 : -1]))

#define RIVER_FIELD(type, member, member_type, field_kind, field_name, ...)      \
	{                                                                        \
		.kind = (field_kind), .name = (field_name),                      \
		.offset = RIVER_OFFSET(type, member, member_type), ##__VA_ARGS__ \
	}

#define RIVER_FIELD_STRING(type, member, name, ...) \
	RIVER_FIELD(type, member, const char *, RIVER_KIND_STRING, name, ##__VA_ARGS__)
#define RIVER_FIELD_BOOL(type, member, name, ...) \
	RIVER_FIELD(type, member, bool, RIVER_KIND_BOOL, name, ##__VA_ARGS__)
#define RIVER_FIELD_INT(type, member, name, ...) \
	RIVER_FIELD(type, member, int64_t, RIVER_KIND_INT, name, ##__VA_ARGS__)
#define RIVER_FIELD_UINT(type, member, name, ...) \
	RIVER_FIELD(type, member, uint64_t, RIVER_KIND_UINT, name, ##__VA_ARGS__)
#define RIVER_FIELD_FLOAT(type, member, name, ...) \
	RIVER_FIELD(type, member, double, RIVER_KIND_FLOAT, name, ##__VA_ARGS__)
#define RIVER_FIELD_DURATION(type, member, name, ...) \
	RIVER_FIELD(type, member, int64_t, RIVER_KIND_DURATION, name, ##__VA_ARGS__)
#define RIVER_FIELD_SECRET(type, member, name, ...) \
	RIVER_FIELD(type, member, const char *, RIVER_KIND_SECRET, name, ##__VA_ARGS__)
#define RIVER_FIELD_OPTIONAL_SECRET(type, member, name, ...)                             \
	RIVER_FIELD(type, member, struct river_secret, RIVER_KIND_OPTIONAL_SECRET, name, \
		    ##__VA_ARGS__)
#define RIVER_FIELD_STRING_LIST(type, member, name, ...) \
	RIVER_FIELD(type, member, struct river_strings, RIVER_KIND_STRING_LIST, name, ##__VA_ARGS__)
#define RIVER_FIELD_STRING_MAP(type, member, name, ...)                                 \
	RIVER_FIELD(type, member, struct river_string_map, RIVER_KIND_STRING_MAP, name, \
		    ##__VA_ARGS__)
#define RIVER_FIELD_STRING_MAP_LIST(type, member, name, ...)                                  \
	RIVER_FIELD(type, member, struct river_string_maps, RIVER_KIND_STRING_MAP_LIST, name, \
		    ##__VA_ARGS__)
#define RIVER_FIELD_FOREIGN_LIST(type, member, name, foreign_kind, ...)                 \
	RIVER_FIELD(type, member, struct river_foreigns, RIVER_KIND_FOREIGN_LIST, name, \
		    .foreign = (foreign_kind), ##__VA_ARGS__)
#define RIVER_FIELD_SECRET_LIST_MAP(type, member, name, ...)                               \
	RIVER_FIELD(type, member, struct river_list_map, RIVER_KIND_SECRET_LIST_MAP, name, \
		    ##__VA_ARGS__)
#define RIVER_FIELD_CAPSULE(type, member, name, capsule, ...)                                  \
	RIVER_FIELD(type, member, void *, RIVER_KIND_CAPSULE, name, .capsule_type = (capsule), \
		    ##__VA_ARGS__)
#define RIVER_FIELD_CAPSULE_LIST(type, member, name, capsule, ...)                      \
	RIVER_FIELD(type, member, struct river_capsules, RIVER_KIND_CAPSULE_LIST, name, \
		    .capsule_type = (capsule), ##__VA_ARGS__)
#define RIVER_FIELD_VALUE(type, member, name, ...) \
	RIVER_FIELD(type, member, const struct river_value *, RIVER_KIND_VALUE, name, ##__VA_ARGS__)
#define RIVER_FIELD_LABEL(type, member) \
	RIVER_FIELD(type, member, const char *, RIVER_KIND_LABEL, "")

/*
 * The member of OBJECT and BLOCK is of the struct that the schema describes, that of BLOCK_PTR a
 * pointer to it. Of an object no row is required, and it has no rows of blocks.
 */
#define RIVER_FIELD_OBJECT(type, member, field_name, object_schema, ...)                           \
	{                                                                                          \
		.kind = RIVER_KIND_OBJECT, .name = (field_name), .offset = offsetof(type, member), \
		.schema = (object_schema), ##__VA_ARGS__                                           \
	}
#define RIVER_FIELD_BLOCK(type, member, field_name, block_schema, ...)                            \
	{                                                                                         \
		.kind = RIVER_KIND_BLOCK, .name = (field_name), .offset = offsetof(type, member), \
		.schema = (block_schema), ##__VA_ARGS__                                           \
	}
#define RIVER_FIELD_BLOCK_PTR(type, member, field_name, block_schema, ...)                \
	{                                                                                 \
		.kind = RIVER_KIND_BLOCK_PTR, .name = (field_name),                       \
		.offset = offsetof(type, member), .schema = (block_schema), ##__VA_ARGS__ \
	}
#define RIVER_FIELD_BLOCKS(type, member, name, block_schema, ...)               \
	RIVER_FIELD(type, member, struct river_blocks, RIVER_KIND_BLOCKS, name, \
		    .schema = (block_schema), ##__VA_ARGS__)

/* An argument that is understood and has no effect; `more` are further flags or 0. */
#define RIVER_FIELD_IGNORED(field_kind, field_name, more, ...)                               \
	{                                                                                    \
		.kind = (field_kind), .name = (field_name), .flags = RIVER_IGNORED | (more), \
		##__VA_ARGS__                                                                \
	}

/*
 * Fill `ret_out` (schema->size bytes), whatever the result: after mistakes it holds defaults where
 * nothing better is known. Labels of nested blocks are checked against the schema, that of `block`
 * itself is left to the caller. `range` is where missing arguments and what validate finds are
 * reported. RIVER_OK, RIVER_INVALID or -ENOMEM; -EINVAL for a default of the schema that cannot be
 * converted.
 */
int river_decode_block(const struct river_stmt *block, const struct river_schema *schema,
		       const struct river_scope *scope, struct river_arena *arena,
		       struct river_diags *diags, void *ret_out);
int river_decode_body(const struct river_body *body, const struct river_range *range,
		      const struct river_schema *schema, const struct river_scope *scope,
		      struct river_arena *arena, struct river_diags *diags, void *ret_out);

/*
 * A body of any attributes and no blocks, as a custom component has it: an object of their values.
 * RIVER_OK, RIVER_INVALID or -ENOMEM; of several mistakes each is a diagnostic.
 */
int river_eval_attributes(const struct river_body *body, const struct river_scope *scope,
			  struct river_arena *arena, struct river_diags *diags,
			  const struct river_value **ret_object);

/* The defaults alone, as for a block that is absent. */
int river_decode_defaults(const struct river_schema *schema, struct river_arena *arena,
			  void *ret_out);

#endif
