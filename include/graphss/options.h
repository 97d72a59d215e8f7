/* graphss/options.h - one table per options struct.
 *
 *     graphss_split_options opt;
 *     graphss_split_options_init(&opt);
 *     graphss_option_set(ctx, &opt,
 *                        graphss_option_find(graphss_split_options_table(), "noise"), "0.2");
 *
 * A table row names a field, its type, its range and its help. The same table parses
 * command lines, prints --help, writes JSON and fills reports, so an option is described
 * once. Defaults are not in the table: they are what the struct's _init() sets. Error texts
 * write the field weight_decay as "--weight-decay", as the program does. */
#ifndef GRAPHSS_OPTIONS_H
#define GRAPHSS_OPTIONS_H

#include <graphss/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum graphss_option_type {
    GRAPHSS_OPTION_BOOL,   /* bool */
    GRAPHSS_OPTION_INT,    /* int64_t */
    GRAPHSS_OPTION_REAL,   /* double */
    GRAPHSS_OPTION_CHOICE, /* an enum, whose values are indices into choices */
    GRAPHSS_OPTION_STRING, /* const char *, borrowed from the text that set it */
    GRAPHSS_OPTION_AMOUNT  /* an int64_t, or a double in (0, 1] at `share` for "50%"; the one
                            * that was not given is 0 */
} graphss_option_type;

typedef struct graphss_option {
    const char *name; /* long name without dashes: "weight-decay"; NULL ends the table */
    graphss_option_type type;
    size_t offset; /* of the field in its struct */
    double min, max;
    const char *const *choices; /* CHOICE: names, ended by NULL */
    const char *value;          /* what --help calls the value: "N", "RATE", "FILE" */
    const char *help;           /* one line, no full stop */
    char letter;                /* short name, or 0 */
    /* BOOL, INT, CHOICE, STRING: the option is younger than some files and records, which lack
     * it. It is written only if it is true, not 0, not the first choice, or not NULL, so that
     * absent means off */
    bool later;
    size_t share; /* AMOUNT: offset of its second field */
} graphss_option;

/* The row of a name, or NULL. */
GRAPHSS_API const graphss_option *graphss_option_find(
    const graphss_option *table, const char *name);
/* Parses text into the row's field. INVALID names the option, the text and the range. */
GRAPHSS_MUST_CHECK graphss_status graphss_option_set(
    graphss_ctx *ctx, void *options, const graphss_option *row, const char *text);
/* Checks every field of a filled struct against its range. */
GRAPHSS_MUST_CHECK graphss_status graphss_options_check(
    graphss_ctx *ctx, const void *options, const graphss_option *table);
/* Writes the field's value as text that graphss_option_set reads back, "?" for a choice that
 * does not exist; returns its length as snprintf does. */
GRAPHSS_API size_t graphss_option_text(
    char *out, size_t size, const void *options, const graphss_option *row);

#ifdef __cplusplus
}
#endif
#endif
