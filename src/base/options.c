/* options.c - one table of rows, three uses: set a field from text, check a whole struct,
 * write a field as text. */
#include "base/base.h"
#include <math.h>
#include <string.h>

const graphss_option *graphss_option_find(const graphss_option *table, const char *name)
{
    for (; table && name && table->name; table++)
        if (!strcmp(table->name, name))
            return table;
    return NULL;
}

static void *field(void *options, const graphss_option *row)
{
    return (char *)options + row->offset;
}

static const void *field_of(const void *options, const graphss_option *row)
{
    return (const char *)options + row->offset;
}

bool graphss_i_option_unsaid(const void *options, const graphss_option *row)
{
    if (!row->later)
        return false;
    switch (row->type) {
    case GRAPHSS_OPTION_CHOICE:
        return *(const int *)field_of(options, row) == 0;
    case GRAPHSS_OPTION_INT:
        return *(const int64_t *)field_of(options, row) == 0;
    case GRAPHSS_OPTION_STRING:
        return !*(const char *const *)field_of(options, row);
    default:
        return !*(const bool *)field_of(options, row);
    }
}

void graphss_i_option_unsay(void *options, const graphss_option *row)
{
    switch (row->type) {
    case GRAPHSS_OPTION_CHOICE:
        *(int *)field(options, row) = 0;
        break;
    case GRAPHSS_OPTION_INT:
        *(int64_t *)field(options, row) = 0;
        break;
    case GRAPHSS_OPTION_STRING:
        *(const char **)field(options, row) = NULL;
        break;
    default:
        *(bool *)field(options, row) = false;
    }
}

/* "want a whole number from 1 to 100" */
static graphss_status refuse(graphss_ctx *ctx, const graphss_option *row, const char *found)
{
    char low[32], high[32], list[256] = "";
    graphss_i_double_text(low, sizeof low, row->min);
    graphss_i_double_text(high, sizeof high, row->max);
    const char *noun = row->type == GRAPHSS_OPTION_INT ? "a whole number" : "a number";
    switch (row->type) {
    case GRAPHSS_OPTION_AMOUNT:
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "--%s: found '%s', want a whole number from %s to %s, or a share "
            "above 0%% and up to 100%%",
            row->name, found, low, high);
    case GRAPHSS_OPTION_BOOL:
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "--%s: found '%s', want yes or no", row->name, found);
    case GRAPHSS_OPTION_CHOICE:
        for (size_t i = 0; row->choices[i]; i++) {
            const size_t used = strlen(list);
            snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", row->choices[i]);
        }
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "--%s: found '%s', want one of %s",
            row->name, found, list);
    default:
        if (isinf(row->max))
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "--%s: found '%s', want %s of at least %s", row->name, found, noun, low);
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "--%s: found '%s', want %s from %s to %s", row->name, found, noun, low, high);
    }
}

static bool in_range(const graphss_option *row, double value)
{
    return value >= row->min && value <= row->max; /* false for NaN */
}

static bool in_choices(const graphss_option *row, int value)
{
    int n = 0;
    while (row->choices[n])
        n++;
    return value >= 0 && value < n;
}

static bool parse_bool(bool *out, const char *text)
{
    static const char *const yes[] = {"yes", "true", "on", "1"};
    static const char *const no[] = {"no", "false", "off", "0"};
    for (size_t i = 0; i < 4; i++) {
        if (!strcmp(text, yes[i]) || !strcmp(text, no[i])) {
            *out = !strcmp(text, yes[i]);
            return true;
        }
    }
    return false;
}

/* Choices that had another name, which files and scripts may still hold. */
static const struct {
    const char *option, *old, *name;
} renamed[] = {{"mode", "honest", "default"}};

static const char *name_now(const graphss_option *row, const char *text)
{
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (!strcmp(row->name, renamed[i].option) && !strcmp(text, renamed[i].old))
            return renamed[i].name;
    return text;
}

static bool parse_whole(int64_t *out, const char *text, size_t length)
{
    double real;
    if (graphss_i_parse_int(out, text, length))
        return true;
    /* 1e6 is a whole number too. */
    if (!graphss_i_parse_double(&real, text, length) || !(fabs(real) < 0x1p53) ||
        real != floor(real))
        return false;
    *out = (int64_t)real;
    return true;
}

static const double *share_of(const void *options, const graphss_option *row)
{
    return (const double *)(const void *)((const char *)options + row->share);
}

static bool good_share(double share)
{
    return share > 0 && share <= 1;
}

static graphss_status set_amount(
    graphss_ctx *ctx, void *options, const graphss_option *row, const char *text)
{
    const size_t length = strlen(text);
    int64_t count = 0;
    double share = 0;
    if (length && text[length - 1] == '%') {
        if (!graphss_i_parse_double(&share, text, length - 1) || !good_share(share /= 100))
            return refuse(ctx, row, text);
    } else if (!parse_whole(&count, text, length) || !in_range(row, (double)count)) {
        return refuse(ctx, row, text);
    }
    *(int64_t *)field(options, row) = count;
    *(double *)(void *)((char *)options + row->share) = share;
    return GRAPHSS_OK;
}

graphss_status graphss_option_set(
    graphss_ctx *ctx, void *options, const graphss_option *row, const char *text)
{
    if (GRAPHSS_I_LACKS(ctx, {"options", options}, {"option", row}, {"value", text}))
        return GRAPHSS_ERR_INVALID;
    void *at = field(options, row);
    const size_t length = strlen(text);
    switch (row->type) {
    case GRAPHSS_OPTION_BOOL:
        return parse_bool(at, text) ? GRAPHSS_OK : refuse(ctx, row, text);
    case GRAPHSS_OPTION_INT: {
        int64_t value;
        if (!parse_whole(&value, text, length) || !in_range(row, (double)value))
            return refuse(ctx, row, text);
        *(int64_t *)at = value;
        return GRAPHSS_OK;
    }
    case GRAPHSS_OPTION_REAL: {
        double value;
        if (!graphss_i_parse_double(&value, text, length) || !in_range(row, value))
            return refuse(ctx, row, text);
        *(double *)at = value;
        return GRAPHSS_OK;
    }
    case GRAPHSS_OPTION_CHOICE:
        for (int i = 0; row->choices[i]; i++) {
            if (!strcmp(row->choices[i], text) ||
                !strcmp(row->choices[i], name_now(row, text))) {
                *(int *)at = i;
                return GRAPHSS_OK;
            }
        }
        return refuse(ctx, row, text);
    case GRAPHSS_OPTION_STRING:
        *(const char **)at = text;
        return GRAPHSS_OK;
    case GRAPHSS_OPTION_AMOUNT:
        return set_amount(ctx, options, row, text);
    }
    return graphss_i_fail(ctx, GRAPHSS_ERR_INTERNAL, "option %s has no type", row->name);
}

graphss_status graphss_i_struct_take(
    graphss_ctx *ctx, void *out, const void *given, size_t size, const char *type)
{
    uint32_t found;
    if (!given)
        return GRAPHSS_OK;
    memcpy(&found, given, sizeof found);
    if (found == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "%s: struct_size is 0, want %zu: call %s_init first", type, size, type);
    if (found != size)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "%s: struct_size is %lu, want %zu: it was not initialised, or "
            "the program was built for another version of the library",
            type, (unsigned long)found, size);
    if (out)
        memcpy(out, given, size);
    return GRAPHSS_OK;
}

graphss_status graphss_options_check(
    graphss_ctx *ctx, const void *options, const graphss_option *table)
{
    if (GRAPHSS_I_LACKS(ctx, {"options", options}, {"table of options", table}))
        return GRAPHSS_ERR_INVALID;
    char found[64];
    for (const graphss_option *row = table; row->name; row++) {
        const void *at = field_of(options, row);
        bool fine = true;
        if (row->type == GRAPHSS_OPTION_INT)
            fine = in_range(row, (double)*(const int64_t *)at);
        else if (row->type == GRAPHSS_OPTION_AMOUNT)
            fine = *share_of(options, row) == 0 ? in_range(row, (double)*(const int64_t *)at)
                                                : good_share(*share_of(options, row));
        else if (row->type == GRAPHSS_OPTION_REAL)
            fine = in_range(row, *(const double *)at);
        else if (row->type == GRAPHSS_OPTION_CHOICE) {
            fine = in_choices(row, *(const int *)at);
            if (!fine) {
                snprintf(found, sizeof found, "%d", *(const int *)at);
                return refuse(ctx, row, found);
            }
        }
        if (!fine) {
            graphss_option_text(found, sizeof found, options, row);
            return refuse(ctx, row, found);
        }
    }
    return GRAPHSS_OK;
}

size_t graphss_option_text(
    char *out, size_t size, const void *options, const graphss_option *row)
{
    if (!out)
        size = 0;
    if (!options || !row)
        return (size_t)snprintf(out, size, "?");
    const void *at = field_of(options, row);
    const char *text = "";
    switch (row->type) {
    case GRAPHSS_OPTION_BOOL:
        text = *(const bool *)at ? "yes" : "no";
        break;
    case GRAPHSS_OPTION_INT:
        return (size_t)snprintf(out, size, "%lld", (long long)*(const int64_t *)at);
    case GRAPHSS_OPTION_AMOUNT: {
        char percent[32];
        if (*share_of(options, row) == 0)
            return (size_t)snprintf(out, size, "%lld", (long long)*(const int64_t *)at);
        graphss_i_double_text(percent, sizeof percent, 100 * *share_of(options, row));
        return (size_t)snprintf(out, size, "%s%%", percent);
    }
    case GRAPHSS_OPTION_REAL:
        return graphss_i_double_text(out, size, *(const double *)at);
    case GRAPHSS_OPTION_CHOICE:
        text = in_choices(row, *(const int *)at) ? row->choices[*(const int *)at] : "?";
        break;
    case GRAPHSS_OPTION_STRING:
        text = *(const char *const *)at;
        break;
    }
    return (size_t)snprintf(out, size, "%s", text ? text : "");
}

graphss_status graphss_i_no_such_name(graphss_ctx *ctx, const char *option, const char *found,
    size_t length, const char *(*name)(size_t i))
{
    char all[512] = "";
    for (size_t i = 0, used = 0; name(i) && used < sizeof all; i++)
        used +=
            (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", name(i));
    if (length == 0)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "%s: no name is set, want one of %s", option, all);
    return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "%s: found '%.*s', want one of %s", option,
        (int)(length < 60 ? length : 60), found, all);
}
