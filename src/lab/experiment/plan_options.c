/* plan_options.c - the options of jobs and cells: presets of the mode, lines of the recipe for
 * any dataset, lines for this one, and the point of a sweep, the later over the earlier. */
#include "attack/attack_method.h"
#include "lab/baselines/baselines.h"
#include "lab/experiment/plan.h"
#include "lab/experiment/records.h"
#include "recover/defence.h"
#include <string.h>

graphss_status graphss_i_assign(graphss_ctx *ctx, graphss_i_job_options *job,
    graphss_recover_options *recover, const char *key, size_t n_key, const char *value,
    bool lasts, bool *known)
{
    char name[64];
    const char *dot = memchr(key, '.', n_key);
    *known = false;
    if (!dot || n_key - (size_t)(dot - key) - 1 >= sizeof name)
        return GRAPHSS_OK;
    const size_t n_group = (size_t)(dot - key), n_name = n_key - n_group - 1;
    memcpy(name, dot + 1, n_name);
    name[n_name] = '\0';
    const struct {
        const char *group;
        const graphss_option *table;
        void *options;
    } groups[] = {
        {"split", graphss_split_options_table(), job ? &job->protocol.split : NULL},
        {"train", graphss_train_options_table(), job ? &job->protocol.train : NULL},
        {"snapshots", graphss_snapshot_options_table(), job ? &job->protocol.plan : NULL},
        {"attack", graphss_attack_options_table(), job ? &job->protocol.attack : NULL},
        {"alert", graphss_alert_options_table(), job ? &job->alert : NULL},
        {"recover", graphss_lab_options_table(), recover},
    };
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        if (strlen(groups[g].group) != n_group || memcmp(groups[g].group, key, n_group) != 0)
            continue;
        const graphss_option *row = graphss_option_find(groups[g].table, name);
        if (!row || (row->type == GRAPHSS_OPTION_STRING && !lasts))
            return GRAPHSS_OK;
        *known = true;
        if (groups[g].options && groups[g].options == (void *)recover)
            row = graphss_option_find(
                graphss_recover_method_options(recover->method, recover->mode), name);
        if (!groups[g].options || !row)
            return GRAPHSS_OK;
        return graphss_option_set(ctx, groups[g].options, row, value);
    }
    return GRAPHSS_OK;
}

static const char *const says[] = {"dataset", "who"};

/* True if the word is "key=..." of the point itself. */
static bool is_said(const char *word, size_t n_key)
{
    for (size_t i = 0; i < sizeof says / sizeof *says; i++)
        if (strlen(says[i]) == n_key && !memcmp(word, says[i], n_key))
            return true;
    return false;
}

size_t graphss_i_point_says(
    const graphss_i_recipe_line *point, const char *key, const char **value)
{
    const size_t n_key = strlen(key);
    const char *at = point ? point->value : "";
    for (size_t n; (n = graphss_i_word(&at)) > 0; at += n)
        if (n > n_key + 1 && at[n_key] == '=' && !memcmp(at, key, n_key)) {
            *value = at + n_key + 1;
            return n - n_key - 1;
        }
    return 0;
}

/* The assignments of a point, "a.b=1 c.d=2". */
static graphss_status assign_point(graphss_ctx *ctx, graphss_i_job_options *job,
    graphss_recover_options *recover, const graphss_i_recipe *r,
    const graphss_i_recipe_line *p)
{
    const char *at = p->value;
    for (size_t n; (n = graphss_i_word(&at)) > 0; at += n) {
        char value[64];
        bool known = false;
        const char *equals = memchr(at, '=', n);
        const size_t n_key = equals ? (size_t)(equals - at) : n;
        if (equals && is_said(at, n_key))
            continue;
        if (equals && n - n_key - 1 < sizeof value) {
            memcpy(value, equals + 1, n - n_key - 1);
            value[n - n_key - 1] = '\0';
            /* the one text of a point: a name that is a constant elsewhere */
            const char *attack = n_key == 13 && !memcmp(at, "attack.method", n_key)
                                     ? graphss_i_attack_find(value)
                                     : NULL;
            const graphss_status st = graphss_i_assign(
                ctx, job, recover, at, n_key, attack ? attack : value, attack != NULL, &known);
            if (st)
                return graphss_i_fail_in(ctx, st, r->name);
        }
        if (!known)
            return graphss_i_recipe_refuse(
                ctx, r, p->number, "want GROUP.OPTION=VALUE of an option that exists");
    }
    return GRAPHSS_OK;
}

graphss_status graphss_i_point_check(graphss_ctx *ctx, const graphss_i_recipe *r,
    const graphss_i_recipe_line *point, bool *of_methods)
{
    const char *at = point->value;
    *of_methods = true;
    for (size_t n; (n = graphss_i_word(&at)) > 0; at += n)
        *of_methods = *of_methods && n > 8 && !memcmp(at, "recover.", 8);
    return assign_point(ctx, NULL, NULL, r, point);
}

static graphss_status assign_all(graphss_ctx *ctx, graphss_i_job_options *job_options,
    graphss_recover_options *recover, const graphss_i_job *job,
    const graphss_i_recipe_line *point)
{
    const graphss_i_recipe *r = job->recipe;
    graphss_status st = GRAPHSS_OK;
    for (int special = 0; special < 2 && !st; special++) {
        for (size_t i = 0; i < r->n_lines && !st; i++) {
            const graphss_i_recipe_line *line = &r->line[i];
            bool known;
            if (!strchr(line->key, '.') || (line->at != NULL) != (special != 0) ||
                (line->at && !graphss_i_same_dataset(line->at, job->dataset)))
                continue;
            st = graphss_i_assign(ctx, job_options, recover, line->key, strlen(line->key),
                line->value, true, &known);
            if (st)
                st = graphss_i_fail_in(ctx, st, r->name);
        }
    }
    if (!st && point)
        st = assign_point(ctx, job_options, recover, r, point);
    return st;
}

graphss_status graphss_i_job_options_fill(
    graphss_ctx *ctx, graphss_i_job_options *out, const graphss_i_job *job)
{
    const graphss_mode mode =
        job->mode == GRAPHSS_MODE_PAPER ? GRAPHSS_MODE_PAPER : GRAPHSS_MODE_DEFAULT;
    graphss_protocol_options_init(&out->protocol, job->model ? job->model : "gcn", mode);
    graphss_alert_options_init(&out->alert);
    out->protocol.plan.setting = job->setting;
    out->protocol.predictor = job->predictor;
    return assign_all(ctx, out, NULL, job, job->point);
}

graphss_status graphss_i_cell_options_fill(graphss_ctx *ctx, graphss_recover_options *out,
    const graphss_i_job *job, const graphss_i_cell *cell)
{
    graphss_i_job_options options;
    const graphss_status st = graphss_i_job_options_fill(ctx, &options, job);
    if (st)
        return st;
    *out = graphss_i_recover_preset(graphss_lab_method_find(cell->method), job->mode,
        &options.protocol.train, job->dataset);
    out->train = !strcmp(cell->train, "evasion")   ? GRAPHSS_RECOVER_EVASION
                 : !strcmp(cell->train, "retrain") ? GRAPHSS_RECOVER_RETRAIN
                                                   : GRAPHSS_RECOVER_AUTO;
    return assign_all(ctx, NULL, out, job, cell->point);
}

static bool is_alert(const graphss_i_cell *cell)
{
    return cell->method && !strcmp(cell->method, "alert");
}

graphss_status graphss_i_cell_options_json(
    graphss_ctx *ctx, json_t **out, const graphss_i_job *job, const graphss_i_cell *cell)
{
    graphss_i_job_options o;
    graphss_status st = graphss_i_job_options_fill(ctx, &o, job);
    if (st)
        return st;
    json_t *all = json_object();
    bool bad = !all || json_object_set_new(all, "split",
                           graphss_i_json_options(
                               &o.protocol.split, graphss_split_options_table(), NULL)) != 0;
    const bool trial = cell->method != NULL;
    if (trial) {
        bad |= json_object_set_new(all, "train",
                   graphss_i_json_options(
                       &o.protocol.train, graphss_train_options_table(), NULL)) != 0;
        bad |= json_object_set_new(all, "snapshots",
                   graphss_i_json_options(
                       &o.protocol.plan, graphss_snapshot_options_table(), NULL)) != 0;
        bad |= json_object_set_new(all, "attack",
                   graphss_i_json_options(
                       &o.protocol.attack, graphss_attack_options_table(), NULL)) != 0;
    }
    if (is_alert(cell)) {
        bad |= json_object_set_new(all, "alert",
                   graphss_i_json_options(&o.alert, graphss_alert_options_table(), NULL)) != 0;
    } else if (trial) {
        graphss_recover_options recover;
        st = graphss_i_cell_options_fill(ctx, &recover, job, cell);
        if (!st)
            bad |= json_object_set_new(all, "recover",
                       graphss_i_json_options(&recover,
                           graphss_recover_method_options(recover.method, recover.mode),
                           graphss_recover_method_name(recover.method))) != 0;
    }
    if (!st && bad)
        st = graphss_i_nomem(ctx, 0);
    if (st)
        json_decref(all);
    else
        *out = all;
    return st;
}

/* ---- a cell by name ---- */

static json_t *value_of(const graphss_i_recipe_line *point)
{
    const char *text = point->key + strlen("point ");
    int64_t whole;
    double real;
    const size_t n = strlen(text);
    if (graphss_i_parse_int(&whole, text, n))
        return json_integer(whole);
    if (graphss_i_parse_double(&real, text, n))
        return json_real(real);
    return json_string(text);
}

json_t *graphss_i_cell_identity(const graphss_i_job *job, const graphss_i_cell *cell)
{
    json_t *id = json_object();
    bool bad = !id || json_object_set_new(id, "format", json_integer(1)) != 0 ||
               json_object_set_new(id, "what", json_string(job->what)) != 0;
    if (!bad && job->mode >= 0)
        bad = json_object_set_new(id, "mode", json_string(graphss_i_record_mode(job->mode))) !=
              0;
    if (!bad && cell->method)
        bad = json_object_set_new(id, "setting",
                  json_string(graphss_setting_text((graphss_setting)job->setting))) != 0;
    if (!bad)
        bad = json_object_set_new(id, "dataset", graphss_i_json_text(job->dataset)) != 0;
    if (!bad && cell->method)
        bad = json_object_set_new(id, "model", json_string(job->any ? "any" : job->model)) !=
                  0 ||
              (job->predictor && !job->any &&
                  json_object_set_new(
                      id, "predictor", graphss_i_json_text(job->predictor_name)) != 0) ||
              json_object_set_new(id, "method", json_string(cell->method)) != 0 ||
              json_object_set_new(id, "train", json_string(cell->train)) != 0;
    if (!bad)
        bad = json_object_set_new(id, "seed", json_integer(job->seed)) != 0;
    if (!bad && cell->method)
        bad = json_object_set_new(id, "set", json_integer(cell->set)) != 0;
    if (!bad && cell->point) {
        const char *name = graphss_i_recipe_get(job->recipe, "parameter", NULL);
        const char *who;
        const size_t n = graphss_i_point_says(cell->point, "who", &who);
        bad = json_object_set_new(id, "parameter", graphss_i_json_text(name)) != 0 ||
              json_object_set_new(id, "value", value_of(cell->point)) != 0 ||
              (n && json_object_set_new(id, "who", json_stringn(who, n)) != 0);
    }
    if (!bad && !strcmp(job->what, "runtime"))
        bad = json_object_set_new(
                  id, "task", json_string(is_alert(cell) ? "alert" : "defence")) != 0;
    if (bad) {
        json_decref(id);
        id = NULL;
    }
    return id;
}

size_t graphss_i_cell_text(
    char *out, size_t size, const graphss_i_job *job, const graphss_i_cell *cell)
{
    char point[96] = "";
    if (!cell->method)
        return (size_t)snprintf(out, size, "%s %s", job->what, job->dataset);
    if (cell->point)
        snprintf(point, sizeof point, " %s", cell->point->key + strlen("point "));
    return (size_t)snprintf(out, size, "%s %s %s %s %s seed %lld set %lld%s: %s%s%s",
        job->what, graphss_i_record_mode(job->mode), job->dataset,
        job->any ? "any" : job->model, graphss_setting_text((graphss_setting)job->setting),
        (long long)job->seed, (long long)cell->set, point, cell->method,
        strcmp(cell->train, "none") ? " " : "",
        strcmp(cell->train, "none") ? cell->train : "");
}
