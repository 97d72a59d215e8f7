/* names.c - options whose values are names from a list of the library, for --help, the man
 * page, completion, and suggestions when a name is mistyped. */
#include <string.h>

#include "cli.h"

const char *cli_value_at(const cli_group *group, const graphss_option *row, size_t i)
{
    if (row->type == GRAPHSS_OPTION_CHOICE)
        return row->choices[i];
    if (strcmp(row->name, "model") == 0)
        return graphss_model_name(i);
    if (strcmp(row->name, "method") != 0)
        return NULL;
    if (group->table == graphss_attack_options_table)
        return graphss_attack_name(i);
    return cli_method_name(i);
}

const char *cli_method_name(size_t i)
{
    return graphss_recover_method_name(graphss_lab_method_at(i));
}

typedef struct name_list {
    const char *(*at)(size_t i);
} name_list;

static const char *next_name(const void *user, size_t i)
{
    return ((const name_list *)user)->at(i);
}

graphss_status cli_check_use(cli *app, int group, const char *chosen,
    bool (*uses)(const char *name, const char *option), const char *(*name)(size_t i))
{
    for (size_t i = 0; i < app->n_items; i++) {
        const char *option = app->item[i].row->name;
        char all[512] = "";
        if (app->item[i].group != group || uses(chosen, option))
            continue;
        for (size_t j = 0, used = 0; name(j) && used < sizeof all; j++)
            if (uses(name(j), option))
                used += (size_t)snprintf(
                    all + used, sizeof all - used, "%s%s", used ? ", " : "", name(j));
        return cli_usage(app, "--%s has no meaning for %s, only for %s", option, chosen, all);
    }
    return GRAPHSS_OK;
}

graphss_status cli_check_name(
    cli *app, const char *option, const char *found, const char *(*name)(size_t i))
{
    char all[512] = "";
    for (size_t i = 0, used = 0; name(i) && used < sizeof all; i++) {
        if (strcmp(name(i), found) == 0)
            return GRAPHSS_OK;
        used +=
            (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", name(i));
    }
    const name_list list = {name};
    const char *nearest = cli_nearest(found, next_name, &list);
    return cli_usage(app, "--%s: found '%s', want one of %s%s%s%s", option, found, all,
        nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}
