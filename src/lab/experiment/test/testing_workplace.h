/* testing_workplace.h - a folder with a recipe, run and read back. */
#ifndef GRAPHSS_TESTING_PLACE_H
#define GRAPHSS_TESTING_PLACE_H

#include "lab/experiment/records.h"
#include "testing.h"
#include <graphss_lab/reproduce.h>
#include <unistd.h>

typedef struct workplace {
    char folder[256], recipe[256], records[300];
} workplace;

static void write_text(const char *path, const char *text, const char *mode)
{
    FILE *file = fopen(path, mode);
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static workplace make_workplace(const char *name, const char *text)
{
    workplace p;
    testing_temporary(p.folder, sizeof p.folder, name);
    snprintf(p.recipe, sizeof p.recipe, "%.240s.recipe", p.folder);
    snprintf(p.records, sizeof p.records, "%s/records.jsonl", p.folder);
    remove(p.records);
    write_text(p.recipe, text, "w");
    return p;
}

static void remove_workplace(const workplace *p)
{
    remove(p->records);
    remove(p->recipe);
    rmdir(p->folder);
}

static graphss_reproduce_options options_of(const workplace *p)
{
    return (graphss_reproduce_options){.struct_size = sizeof(graphss_reproduce_options),
        .recipe = p->recipe,
        .folder = p->folder};
}

static graphss_reproduce_result reproduce(const workplace *p, size_t workers)
{
    graphss_ctx *ctx = testing_ctx(NULL, workers);
    graphss_reproduce_result done;
    const graphss_reproduce_options opt = options_of(p);
    assert_ok(ctx, graphss_reproduce_run(ctx, &done, 1, &opt));
    graphss_ctx_free(ctx);
    return done;
}

/* All records, without the fields that differ from run to run. */
static json_t *read_back(const workplace *p)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_i_records r = {0};
    assert_ok(ctx, graphss_i_records_open(ctx, &r, p->records));
    json_t *all = json_deep_copy(r.index);
    graphss_i_records_close(ctx, &r);
    graphss_ctx_free(ctx);
    const char *key;
    json_t *record;
    static const char *const times[] = {"seconds", "cpu_seconds", "seconds_per_100",
        "prepare_seconds", "train_seconds", "attack_seconds", "peak_memory"};
    json_object_foreach(all, key, record)
    {
        for (size_t i = 0; i < sizeof times / sizeof *times; i++)
            json_object_del(json_object_get(record, "metrics"), times[i]);
        json_object_del(json_object_get(record, "repeat"), "started");
        json_object_del(json_object_get(record, "repeat"), "finished");
    }
    return all;
}

#endif
