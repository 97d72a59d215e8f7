/* defence.c - attacks, alerts, recovery. */
#include "core.h"
#include <stdlib.h>
#include <string.h>

static PyObject *doubles(double **list, size_t rows, size_t cols)
{
    PyObject *made =
        core_array(*list, (Py_ssize_t)rows, (Py_ssize_t)cols, "d", NULL); /* or None */
    *list = NULL;
    return made;
}

static PyObject *numbers(int32_t **list, size_t n)
{
    static int32_t none;
    PyObject *made = *list ? core_array(*list, (Py_ssize_t)n, 0, "i", NULL)
                           : core_array(&none, 0, 0, "i", Py_None);
    *list = NULL;
    return made;
}

/* ---- the input of alert and recover ---- */

typedef struct scene {
    core_model *model;
    graphss_observation past;
    graphss_defence_input in;
    core_split split;
} scene;

static int scene_get(scene *s, PyObject *model, PyObject *graph, PyObject *features,
    PyObject *past_graph, PyObject *past_features, PyObject *split, unsigned long long seed)
{
    memset(s, 0, sizeof *s);
    graphss_defence_input_init(&s->in);
    s->model = core_as_model(model);
    if (!s->model || core_snapshot(&s->in.current, graph, features) ||
        core_snapshot(&s->past, past_graph, past_features) || core_split_get(&s->split, split))
        return -1;
    if (!s->in.current.graph) {
        PyErr_SetString(PyExc_TypeError, "graph: want a graph of graphss._core");
        core_split_release(&s->split);
        return -1;
    }
    s->in.model = s->model->model;
    s->in.seed = seed;
    s->in.previous = s->past.graph ? &s->past : NULL;
    s->in.split = s->split.given ? &s->split.split : NULL;
    return 0;
}

/* learn(model, graph, features, seed, threads, progress) */
static PyObject *learn(PyObject *self, PyObject *args)
{
    PyObject *model, *graph, *features, *progress;
    unsigned long long seed;
    Py_ssize_t threads;
    graphss_observation seen;
    core_call call;
    (void)self;
    if (!PyArg_ParseTuple(
            args, "OOOKnO", &model, &graph, &features, &seed, &threads, &progress))
        return NULL;
    core_model *m = core_as_model(model);
    if (!m || core_snapshot(&seen, graph, features))
        return NULL;
    if (!seen.graph) {
        PyErr_SetString(PyExc_TypeError, "graph: want a graph of graphss._core");
        return NULL;
    }
    if (core_call_open(&call, threads, progress))
        return NULL;
    core_call_begin(&call, m, 1);
    const graphss_status st = graphss_alert_train(call.ctx, m->model, &seen, seed);
    core_call_end(&call);
    return core_call_close(&call, st, Py_NewRef(Py_None));
}

/* [(links added, links removed, features added, features removed, now, before, by features,
 * by links, and the four probabilities), ...] for each flagged node; classes by number */
static PyObject *reasons_list(const graphss_alert_result *a)
{
    PyObject *list = PyList_New((Py_ssize_t)a->n_flagged);
    for (size_t i = 0; i < a->n_flagged && list; i++) {
        const graphss_alert_reason *x = &a->reason[i];
        PyObject *one = Py_BuildValue("nnnniiiidddd", (Py_ssize_t)x->edges_added,
            (Py_ssize_t)x->edges_removed, (Py_ssize_t)x->features_added,
            (Py_ssize_t)x->features_removed, (int)x->now, (int)x->before, (int)x->features,
            (int)x->edges, x->p_now, x->p_before, x->p_features, x->p_edges);
        if (one)
            PyList_SetItem(list, (Py_ssize_t)i, one);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *alert_dict(graphss_alert_result *a)
{
    const graphss_alert_changes *c = &a->changes;
    const size_t n = a->n_nodes;
    return Py_BuildValue(
        "{s:N,s:O,s:d,s:d,s:d,s:s,s:d,s:d,s:n,s:n,s:N,s:N,s:N,s:N,s:{s:n,s:n,s:n,s:n,s:n},s:"
        "d}",
        "reasons", reasons_list(a), "alert", a->alert ? Py_True : Py_False, "p_value",
        a->p_value, "score", a->score, "threshold", a->threshold, "kind",
        graphss_perturbation_text(a->kind), "share", a->share, "contaminated", a->contaminated,
        "n_calibration", (Py_ssize_t)a->n_calibration, "n_group", (Py_ssize_t)a->n_group,
        "node_score", doubles(&a->node_score, n, 0), "node_p_value",
        doubles(&a->node_p_value, n, 0), "perturbed", doubles(&a->perturbed, n, 0), "flagged",
        numbers(&a->flagged, a->n_flagged), "changes", "nodes_known",
        (Py_ssize_t)c->nodes_known, "links_changed", (Py_ssize_t)c->edges_changed,
        "features_changed", (Py_ssize_t)c->features_changed, "nodes_new",
        (Py_ssize_t)c->nodes_new, "nodes_gone", (Py_ssize_t)c->nodes_gone, "seconds",
        a->seconds);
}

/* alert(model, graph, features, past graph, past features, split, group, options, seed,
 *       threads, progress) -> dict */
static PyObject *alert(PyObject *self, PyObject *args)
{
    PyObject *model, *graph, *features, *past_graph, *past_features, *split, *group_of, *dict,
        *progress, *result = NULL;
    unsigned long long seed;
    Py_ssize_t threads;
    core_buffer group = {0};
    core_call call;
    scene s;
    graphss_alert_result found = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOOOOOOKnO", &model, &graph, &features, &past_graph,
            &past_features, &split, &group_of, &dict, &seed, &threads, &progress) ||
        scene_get(&s, model, graph, features, past_graph, past_features, split, seed))
        return NULL;
    if (core_buffer_get(&group, group_of, "i4", 1, 1, "group") == 0 &&
        core_call_open(&call, threads, progress) == 0) {
        graphss_alert_options opt;
        graphss_alert_options_init(&opt);
        graphss_status st = core_options_set(&call, &opt, graphss_alert_options_table(), dict);
        core_call_begin(&call, s.model, 0);
        if (!st)
            st = graphss_alert_run(call.ctx, &found, &s.in, group.view.obj ? group.data : NULL,
                group.count, &opt);
        core_call_end(&call);
        result = st ? NULL : alert_dict(&found);
        graphss_alert_result_destroy(core_home(), &found);
        result = core_call_close(&call, st, result);
    }
    core_buffer_release(&group);
    core_split_release(&s.split);
    return result;
}

/* The verdicts on many groups, scored once: a list of dicts. */
static graphss_status judge_each(core_call *call, PyObject **out,
    const graphss_alert_scores *seen, PyObject *groups, unsigned long long seed, int rule,
    const graphss_alert_options *opt)
{
    const size_t n = (size_t)PyList_Size(groups);
    graphss_alert_verdict *v = PyMem_Calloc(n + 1, sizeof *v);
    double *p = PyMem_Calloc(n + 1, sizeof *p);
    graphss_status st = v && p ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    PyObject *list = NULL;
    for (size_t i = 0; i < n && !st; i++) {
        core_buffer group;
        if (core_buffer_get(
                &group, PyList_GetItem(groups, (Py_ssize_t)i), "i4", 1, 0, "group")) {
            core_call_keep_exception(call);
            st = GRAPHSS_ERR_INVALID;
            break;
        }
        st = graphss_alert_test_group(
            call->ctx, &v[i], seen, group.data, group.count, seed + i + 1, opt);
        core_buffer_release(&group);
        p[i] = v[i].p_value;
    }
    if (!st)
        st = graphss_alert_correct(call->ctx, p, n, (graphss_alert_correction)rule);
    list = st ? NULL : PyList_New(0);
    for (size_t i = 0; i < n && list; i++) {
        PyObject *one = Py_BuildValue("{s:O,s:d,s:d,s:d,s:n,s:n}", "alert",
            v[i].n_group && p[i] <= opt->false_alarm_rate ? Py_True : Py_False, "p_value",
            p[i], "score", v[i].score, "threshold", v[i].threshold, "n_group",
            (Py_ssize_t)v[i].n_group, "n_calibration", (Py_ssize_t)v[i].n_calibration);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    PyMem_Free(v);
    PyMem_Free(p);
    *out = list;
    return st;
}

/* judge(model, graph, features, past graph, past features, split, [group, ...], rule, options,
 *       seed, threads, progress) -> list of verdicts: scored once, many groups. rule 0: each
 * by itself, 1: family-wise, 2: false discovery rate */
static PyObject *judge(PyObject *self, PyObject *args)
{
    PyObject *model, *graph, *features, *past_graph, *past_features, *split, *groups, *dict,
        *progress, *list = NULL;
    unsigned long long seed;
    Py_ssize_t threads;
    int rule;
    core_call call;
    scene s;
    graphss_alert_scores seen = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOOOOO!iOKnO", &model, &graph, &features, &past_graph,
            &past_features, &split, &PyList_Type, &groups, &rule, &dict, &seed, &threads,
            &progress))
        return NULL;
    if (rule < GRAPHSS_ALERT_EACH || rule > GRAPHSS_ALERT_FDR)
        return PyErr_Format(PyExc_ValueError, "rule: found %d, want 0, 1 or 2", rule);
    if (scene_get(&s, model, graph, features, past_graph, past_features, split, seed))
        return NULL;
    if (core_call_open(&call, threads, progress) == 0) {
        graphss_alert_options opt;
        graphss_alert_options_init(&opt);
        graphss_status st = core_options_set(&call, &opt, graphss_alert_options_table(), dict);
        core_call_begin(&call, s.model, 0);
        if (!st)
            st = graphss_alert_score(call.ctx, &seen, &s.in, &opt);
        core_call_end(&call);
        if (!st)
            st = judge_each(&call, &list, &seen, groups, seed, rule, &opt);
        graphss_alert_scores_destroy(core_home(), &seen);
        list = core_call_close(&call, st, list);
    }
    core_split_release(&s.split);
    return list;
}

/* ---- recover ---- */

static PyObject *flips_list(const graphss_flips *flips)
{
    PyObject *list = PyList_New((Py_ssize_t)flips->count);
    for (size_t i = 0; i < flips->count && list; i++) {
        const graphss_flip *x = &flips->item[i];
        PyObject *one = Py_BuildValue("isiiff", (int)x->victim,
            x->kind == GRAPHSS_FLIP_EDGE ? "link" : "feature", (int)x->node, (int)x->target,
            x->old_value, x->new_value);
        if (one)
            PyList_SetItem(list, (Py_ssize_t)i, one);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *recovery_dict(graphss_recover_result *r, const graphss_flips *flips)
{
    graphss_predictions *p = &r->predictions;
    return Py_BuildValue("{s:N,s:N,s:N,s:s,s:s,s:s,s:z,s:d,s:n,s:n,s:n,s:d,s:N}", "label",
        numbers(&p->label, p->n_nodes), "posterior",
        doubles(&p->posterior, p->n_nodes, p->n_classes), "perturbed",
        doubles(&p->perturbed, p->n_nodes, 0), "method", r->method, "train",
        r->train ? r->train : "", "how", r->how ? r->how : "", "kind",
        graphss_perturbation_text(r->kind), "share", r->share, "changed",
        (Py_ssize_t)r->changed, "abstained", (Py_ssize_t)r->abstained, "new_nodes",
        (Py_ssize_t)r->new_nodes, "seconds", r->seconds, "flips", flips_list(flips));
}

/* recover(model, graph, features, past graph, past features, split, trusted, method, paper,
 *         options, least, seed, threads, progress) -> dict; least: chance from which changes
 * are taken back in the list of flips, above 1: no list */
static PyObject *recover(PyObject *self, PyObject *args)
{
    PyObject *model, *graph, *features, *past_graph, *past_features, *split, *trusted_of,
        *dict, *progress, *result = NULL;
    unsigned long long seed;
    Py_ssize_t threads;
    const char *name;
    core_buffer trusted = {0};
    int paper;
    double least;
    core_call call;
    scene s;
    graphss_recover_result found = {0};
    graphss_flips flips = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOOOOOspOdKnO", &model, &graph, &features, &past_graph,
            &past_features, &split, &trusted_of, &name, &paper, &dict, &least, &seed, &threads,
            &progress) ||
        scene_get(&s, model, graph, features, past_graph, past_features, split, seed))
        return NULL;
    const graphss_recover_method *method = graphss_lab_method_find(name);
    if (!method) {
        PyErr_Format(
            PyExc_ValueError, "method: found '%s', want one of graphss.methods()", name);
    } else if (core_buffer_get(&trusted, trusted_of, "i4", 1, 1, "trusted") == 0 &&
               core_call_open(&call, threads, progress) == 0) {
        const graphss_mode mode = paper ? GRAPHSS_MODE_PAPER : GRAPHSS_MODE_DEFAULT;
        graphss_recover_options opt;
        graphss_recover_options_init(&opt, method, mode, s.model->model);
        graphss_status st =
            core_options_set(&call, &opt, graphss_recover_method_options(method, mode), dict);
        opt.trusted = trusted.view.obj ? trusted.data : NULL;
        opt.n_trusted = trusted.count;
        core_call_begin(&call, s.model, 0);
        if (!st)
            st = graphss_recover_run(call.ctx, &found, &s.in, &opt);
        if (!st && least <= 1 && (found.foreign || graphss_recover_method_finds(method, mode)))
            st = graphss_recover_flips(call.ctx, &flips, &s.in, &found, least);
        core_call_end(&call);
        result = st ? NULL : recovery_dict(&found, &flips);
        graphss_flips_destroy(core_home(), &flips);
        graphss_recover_result_destroy(core_home(), &found);
        result = core_call_close(&call, st, result);
    }
    core_buffer_release(&trusted);
    core_split_release(&s.split);
    return result;
}

/* ---- attack ---- */

/* The surrogate a method wants: the model's own weights, or trained on the split. */
static graphss_status find_surrogate(core_call *call, float **w,
    const graphss_attack_input *in, const core_split *split, const char *method)
{
    if (!graphss_attack_needs_surrogate(method))
        return GRAPHSS_OK;
    if (split->given)
        return graphss_surrogate_train(call->ctx, w,
            &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                .graph = in->graph,
                .features = in->features,
                .n_classes = in->n_classes,
                .split = &split->split,
                .seed = in->seed});
    return graphss_surrogate_from_model(call->ctx, w, in->model, GRAPHSS_MODE_DEFAULT);
}

/* attack(model, graph, features, labels, split, victims, options, seed, threads, progress)
 *   -> (Graph, Features, flips) */
static PyObject *attack(PyObject *self, PyObject *args)
{
    PyObject *model, *graph, *features, *labels, *split_of, *victims, *dict, *progress,
        *result = NULL;
    unsigned long long seed;
    Py_ssize_t threads;
    core_buffer label = {0}, victim = {0};
    core_split split = {0};
    core_call call;
    graphss_flips flips = {0};
    graphss_graph made = {0};
    graphss_features changed = {0};
    float *w = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOOOOOKnO", &model, &graph, &features, &labels, &split_of,
            &victims, &dict, &seed, &threads, &progress))
        return NULL;
    core_model *m = core_as_model(model);
    core_graph *g = m ? core_as_graph(graph, "graph") : NULL;
    core_features *f = g ? core_as_features(features, "features") : NULL;
    if (!f || core_buffer_get(&label, labels, "i4", 1, 0, "labels") ||
        core_buffer_get(&victim, victims, "i4", 1, 0, "victims") ||
        core_split_get(&split, split_of))
        goto done;
    if (label.count != g->graph.n_nodes) {
        PyErr_Format(PyExc_ValueError, "%zu labels, want one for each of %zu nodes",
            label.count, g->graph.n_nodes);
        goto done;
    }
    if (core_call_open(&call, threads, progress))
        goto done;
    graphss_attack_input in = {.struct_size = sizeof in,
        .graph = &g->graph,
        .features = &f->features,
        .label = label.data,
        .n_classes = graphss_model_classes(m->model),
        .model = m->model,
        .victim = victim.data,
        .n_victims = victim.count,
        .seed = seed};
    graphss_attack_options opt;
    graphss_attack_options_init(&opt);
    graphss_status st = core_options_set(&call, &opt, graphss_attack_options_table(), dict);
    core_call_begin(&call, m, 0);
    if (!st)
        st = find_surrogate(&call, &w, &in, &split, opt.method);
    in.surrogate = w;
    if (!st)
        st = graphss_attack_run(call.ctx, &flips, NULL, &in, &opt);
    if (!st)
        st = graphss_flips_apply_parts(
            call.ctx, &made, &changed, &g->graph, &f->features, &flips, NULL);
    core_call_end(&call);
    if (!st) {
        PyObject *a = core_new_graph(&made), *b = core_new_features(&changed);
        PyObject *list = flips_list(&flips);
        result = a && b && list ? PyTuple_Pack(3, a, b, list) : NULL;
        Py_XDECREF(a);
        Py_XDECREF(b);
        Py_XDECREF(list);
    }
    graphss_release(core_home(), w);
    graphss_flips_destroy(core_home(), &flips);
    result = core_call_close(&call, st, result);
done:
    core_split_release(&split);
    core_buffer_release(&label);
    core_buffer_release(&victim);
    return result;
}

/* apply(graph, features, [(victim, kind, node, target, old, new), ...], undo)
 *   -> (Graph, Features) */
static PyObject *apply(PyObject *self, PyObject *args)
{
    PyObject *graph, *features, *list, *result = NULL;
    int undo;
    core_call call;
    graphss_flips flips = {0};
    graphss_graph made = {0};
    graphss_features changed = {0};
    graphss_status st = GRAPHSS_OK;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOO!p", &graph, &features, &PyList_Type, &list, &undo))
        return NULL;
    core_graph *g = core_as_graph(graph, "graph");
    core_features *f = g ? core_as_features(features, "features") : NULL;
    if (!f || core_call_open(&call, 1, Py_None))
        return NULL;
    for (Py_ssize_t i = 0; i < PyList_Size(list) && !st; i++) {
        graphss_flip x = {0};
        const char *kind;
        PyObject *one = core_tuple_at(list, i, "change");
        if (!one || !PyArg_ParseTuple(one, "isiiff", &x.victim, &kind, &x.node, &x.target,
                        &x.old_value, &x.new_value)) {
            core_call_keep_exception(&call);
            st = GRAPHSS_ERR_INVALID;
            break;
        }
        x.kind = strcmp(kind, "link") == 0 ? GRAPHSS_FLIP_EDGE : GRAPHSS_FLIP_FEATURE;
        st = graphss_flips_add(call.ctx, &flips, x);
    }
    if (!st)
        st = graphss_flips_apply_parts(call.ctx, &made, &changed, &g->graph, &f->features,
            &flips,
            &(graphss_apply_options){
                .struct_size = sizeof(graphss_apply_options), .undo = undo != 0});
    if (!st) {
        PyObject *a = core_new_graph(&made), *b = core_new_features(&changed);
        result = a && b ? PyTuple_Pack(2, a, b) : NULL;
        Py_XDECREF(a);
        Py_XDECREF(b);
    }
    graphss_flips_destroy(core_home(), &flips);
    return core_call_close(&call, st, result);
}

PyMethodDef core_defence_methods[] = {
    {"learn", learn, METH_VARARGS, NULL},
    {"alert", alert, METH_VARARGS, NULL},
    {"judge", judge, METH_VARARGS, NULL},
    {"recover", recover, METH_VARARGS, NULL},
    {"attack", attack, METH_VARARGS, NULL},
    {"apply", apply, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
