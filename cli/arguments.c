/* arguments.c - from argv to a command, its options and its arguments, by getopt_long over
 * rows of the option tables. Values are only set when the command asks (cli_apply), so
 * that it can lay them over a preset that depends on other options. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* A name getopt may meet: a row, or the "no-" form of a yes/no row. */
typedef struct known {
    const graphss_option *row;
    int group;
    const char *name;
    char *made; /* the "no-" name, ours */
    bool no;
} known;

enum { FIRST_VALUE = 1000, LONGEST_NAME = 63 };

bool cli_row_hidden(const cli_command *command, int group, const graphss_option *row)
{
    if (group < 0)
        return false;
    if (graphss_option_find(cli_global_group.table(), row->name))
        return true;
    for (int g = 0; g < group; g++)
        if (graphss_option_find(command->group[g].table(), row->name))
            return true;
    return false;
}

/* Lists the names of the global options and of command's (NULL: none). */
static known *list_known(const cli_command *command, size_t *n)
{
    size_t room = 0, used = 0;
    for (int pass = 0; pass < 2; pass++) {
        known *list = pass ? cli_alloc(room, sizeof *list) : NULL;
        for (int g = -1; g < CLI_MAX_GROUPS; g++) {
            if (g >= 0 && (!command || !command->group[g].table))
                break;
            const cli_group *group = g < 0 ? &cli_global_group : &command->group[g];
            for (const graphss_option *row = group->table(); row->name; row++) {
                if (cli_row_hidden(command, g, row))
                    continue;
                const bool both = row->type == GRAPHSS_OPTION_BOOL && g >= 0;
                if (!pass) {
                    room += both ? 2 : 1;
                    continue;
                }
                list[used++] = (known){row, g, row->name, NULL, false};
                if (both) {
                    char *name = cli_format("no-%s", row->name);
                    list[used++] = (known){row, g, name, name, true};
                }
            }
        }
        *n = used;
        if (pass)
            return list;
    }
    return NULL;
}

static void free_known(known *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(list[i].made);
    free(list);
}

/* Optimal string alignment: insert, delete, change, or swap two neighbours. */
static size_t edit_distance(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST_NAME || m > LONGEST_NAME)
        return SIZE_MAX;
    size_t d[3][LONGEST_NAME + 1];
    for (size_t j = 0; j <= m; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = d[i % 3];
        const size_t *above = d[(i + 2) % 3], *above2 = d[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                above2[j - 2] + 1 < best)
                best = above2[j - 2] + 1;
            row[j] = best;
        }
    }
    return d[n % 3][m];
}

const char *cli_nearest(
    const char *text, const char *(*next)(const void *user, size_t i), const void *user)
{
    const char *nearest = NULL;
    size_t least = strlen(text) / 3 + 2;
    for (size_t i = 0;; i++) {
        const char *name = next(user, i);
        if (!name)
            return nearest;
        const size_t distance = edit_distance(text, name);
        if (distance < least) {
            least = distance;
            nearest = name;
        }
    }
}

typedef struct known_list {
    const known *item;
    size_t n;
} known_list;

static const char *known_name(const void *user, size_t i)
{
    const known_list *list = user;
    return i < list->n ? list->item[i].name : NULL;
}

static const char *command_name(const void *user, size_t i)
{
    (void)user;
    const cli_command *command = cli_command_at(i);
    return command ? command->name : NULL;
}

graphss_status cli_unknown_command(cli *app, const char *name)
{
    const char *nearest = cli_nearest(name, command_name, NULL);
    if (nearest)
        return cli_usage(app, "unknown command '%s', did you mean '%s'?", name, nearest);
    return cli_usage(app, "unknown command '%s'", name);
}

static graphss_status unknown_option(cli *app, const char *given, const known *list, size_t n)
{
    char name[LONGEST_NAME + 1];
    const char *bare = given + strspn(given, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(bare, "="), bare);

    char several[256] = "";
    size_t matches = 0;
    for (size_t i = 0; i < n && *name; i++)
        if (strncmp(list[i].name, name, strlen(name)) == 0) {
            const size_t used = strlen(several);
            snprintf(several + used, sizeof several - used, "%s--%s", matches++ ? ", " : "",
                list[i].name);
        }
    if (matches > 1)
        return cli_usage(app, "option --%s could be any of %s", name, several);

    const known_list names = {list, n};
    const char *nearest = cli_nearest(name, known_name, &names);
    if (nearest)
        return cli_usage(app, "unknown option --%s, did you mean --%s?", name, nearest);
    return cli_usage(app, "unknown option --%s", name);
}

/* Runs getopt_long over argv. With `first` set it stops at the first argument. *used is the
 * number of words of argv it consumed. */
static graphss_status scan(cli *app, int argc, char **argv, bool first, int *used)
{
    graphss_status st = GRAPHSS_OK;
    size_t n = 0;
    known *list = list_known(app->command, &n);
    struct option *words = cli_alloc(n + 1, sizeof *words);
    char letters[2 * 64 + 4] = "";
    size_t l = 0;
    if (first)
        letters[l++] = '+';
    letters[l++] = ':';
    for (size_t i = 0; i < n; i++) {
        const graphss_option *row = list[i].row;
        const bool flag = row->type == GRAPHSS_OPTION_BOOL;
        words[i] = (struct option){
            list[i].name, flag ? no_argument : required_argument, NULL, FIRST_VALUE + (int)i};
        if (row->letter && !list[i].no && l + 3 < sizeof letters) {
            letters[l++] = row->letter;
            if (!flag)
                letters[l++] = ':';
        }
    }

    opterr = 0;
    optind = 0;
    for (;;) {
        const int c = getopt_long(argc, argv, letters, words, NULL);
        if (c == -1)
            break;
        if (c == ':') {
            st = cli_usage(app, "option %s needs a value", argv[optind - 1]);
            goto done;
        }
        if (c == '?') {
            if (optopt == 0)
                st = unknown_option(app, argv[optind - 1], list, n);
            else if (optopt >= FIRST_VALUE)
                st = cli_usage(
                    app, "option --%s takes no value", list[optopt - FIRST_VALUE].name);
            else
                st = cli_usage(app, "unknown option -%c", optopt);
            goto done;
        }
        size_t i = 0;
        if (c >= FIRST_VALUE)
            i = (size_t)(c - FIRST_VALUE);
        else
            while (list[i].row->letter != c)
                i++;
        const char *text = optarg ? optarg : list[i].no ? "no" : "yes";
        app->item[app->n_items++] = (cli_item){list[i].row, text, list[i].group};
    }
    *used = optind;
done:
    free(words);
    free_known(list, n);
    return st;
}

graphss_status cli_parse(cli *app, int argc, char **argv)
{
    size_t letters = 0; /* "-qv" is two options, so words are not enough */
    for (int i = 1; i < argc; i++)
        letters += strlen(argv[i]);
    app->item = cli_alloc(letters + 1, sizeof *app->item);
    app->argument = cli_alloc((size_t)argc + 1, sizeof *app->argument);

    int used = 0;
    graphss_status st = scan(app, argc, argv, true, &used);
    if (st || used >= argc)
        return st;

    const char *name = argv[used];
    app->command = cli_command_find(name);
    if (!app->command)
        return cli_unknown_command(app, name);
    argc -= used;
    argv += used;
    st = scan(app, argc, argv, false, &used);
    if (st)
        return st;
    for (int i = used; i < argc; i++)
        app->argument[app->n_arguments++] = argv[i];
    return GRAPHSS_OK;
}

graphss_status cli_apply(cli *app, int group, void *options)
{
    for (size_t i = 0; i < app->n_items; i++) {
        if (app->item[i].group != group)
            continue;
        const graphss_status st =
            graphss_option_set(app->ctx, options, app->item[i].row, app->item[i].text);
        if (st)
            return st;
    }
    return GRAPHSS_OK;
}

const char *cli_given(const cli *app, const char *name)
{
    const char *text = NULL;
    for (size_t i = 0; i < app->n_items; i++)
        if (app->item[i].group >= 0 && strcmp(app->item[i].row->name, name) == 0)
            text = app->item[i].text;
    return text;
}
