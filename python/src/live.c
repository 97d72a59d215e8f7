/* live.c - a graph that changes by events (graphss/live.h). */
#include "core.h"
#include <stdlib.h>
#include <string.h>

typedef struct core_live {
    PyObject_HEAD /* */
        graphss_live *live;
    core_model *model;    /* borrowed by the live graph, so it is kept */
    pthread_mutex_t lock; /* it is used by one thread at a time */
} core_live;

static PyTypeObject *live_type;

static void live_free(PyObject *self)
{
    core_live *x = (core_live *)self;
    PyTypeObject *type = Py_TYPE(self);
    graphss_live_free(core_home(), x->live);
    Py_XDECREF((PyObject *)x->model);
    pthread_mutex_destroy(&x->lock);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyObject *no_new(PyTypeObject *type, PyObject *args, PyObject *more)
{
    (void)type, (void)args, (void)more;
    PyErr_SetString(PyExc_TypeError, "made by live_new and live_load");
    return NULL;
}

static PyType_Slot live_slots[] = {{Py_tp_new, no_new}, {Py_tp_dealloc, live_free}, {0, NULL}};
static PyType_Spec live_spec = {
    "graphss._core.Live", sizeof(core_live), 0, Py_TPFLAGS_DEFAULT, live_slots};

int core_live_init(PyObject *module)
{
    if (!live_type)
        live_type = (PyTypeObject *)PyType_FromSpec(&live_spec);
    return live_type ? PyModule_AddObjectRef(module, "Live", (PyObject *)live_type) : -1;
}

static PyObject *new_live(graphss_live *live, core_model *model)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(live_type, Py_tp_alloc);
    core_live *x = (core_live *)allocate(live_type, 0);
    if (!x) {
        graphss_live_free(core_home(), live);
        return NULL;
    }
    x->live = live;
    x->model = (core_model *)Py_NewRef((PyObject *)model);
    pthread_mutex_init(&x->lock, NULL);
    return (PyObject *)x;
}

static core_live *as_live(PyObject *object)
{
    if (PyObject_TypeCheck(object, live_type))
        return (core_live *)object;
    PyErr_SetString(PyExc_TypeError, "want a live graph of graphss._core");
    return NULL;
}

/* The GIL is released before waiting for a lock, because the holder of the lock may want the
 * GIL. */
static void begin(core_call *call, core_live *x)
{
    core_call_begin(call, x->model, 0);
    pthread_mutex_lock(&x->lock);
}

static void end(core_call *call, core_live *x)
{
    pthread_mutex_unlock(&x->lock);
    core_call_end(call);
}

/* Takes both lock and GIL; pthread_mutex_unlock releases the lock. */
static void take(core_live *x)
{
    PyThreadState *state = PyEval_SaveThread();
    pthread_mutex_lock(&x->lock);
    PyEval_RestoreThread(state);
}

/* live_new(model, graph, features, options, rate, expire, trust_after, seed, threads) -> Live
 */
static PyObject *live_new(PyObject *self, PyObject *args)
{
    PyObject *model, *graph, *features, *dict;
    const char *rate;
    Py_ssize_t threads;
    double expire, trust_after;
    unsigned long long seed;
    core_call call;
    graphss_observation seen;
    graphss_live *live = NULL;
    graphss_live_options opt;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOOsddKn", &model, &graph, &features, &dict, &rate, &expire,
            &trust_after, &seed, &threads))
        return NULL;
    core_model *m = core_as_model(model);
    if (!m || !core_as_graph(graph, "graph") || core_snapshot(&seen, graph, features))
        return NULL;
    graphss_live_options_init(&opt);
    opt.expire = expire;
    opt.trust_after = trust_after;
    opt.seed = seed;
    if (!graphss_false_alarms_parse(&opt, rate))
        return PyErr_Format(PyExc_ValueError,
            "false_alarms: found '%s', want a rate like '1/week' or '2/day'", rate);
    if (core_call_open(&call, threads, Py_None))
        return NULL;
    graphss_status st = core_options_set(&call, &opt, graphss_live_options_table(), dict);
    core_call_begin(&call, m, 0);
    if (!st)
        st = graphss_live_new(call.ctx, &live, m->model, &seen, &opt);
    core_call_end(&call);
    return core_call_close(&call, st, st ? NULL : new_live(live, m));
}

static PyObject *batch_dict(const graphss_live_batch *b)
{
    PyObject *refused = PyList_New(0);
    for (size_t i = 0; i < b->n_refused && refused; i++) {
        PyObject *one =
            Py_BuildValue("ns", (Py_ssize_t)b->refused[i].event, b->refused[i].cause);
        if (!one || PyList_Append(refused, one) < 0)
            Py_CLEAR(refused);
        Py_XDECREF(one);
    }
    return Py_BuildValue("{s:n,s:n,s:N,s:n,s:n,s:n,s:n,s:O,s:n,s:n,s:n,s:O,s:d}", "applied",
        (Py_ssize_t)b->applied, "duplicates", (Py_ssize_t)b->duplicates, "refused", refused,
        "expired", (Py_ssize_t)b->expired, "recomputed", (Py_ssize_t)b->recomputed, "renewed",
        (Py_ssize_t)b->renewed, "judged", (Py_ssize_t)b->judged, "whole_pass",
        b->whole_pass ? Py_True : Py_False, "checks", (Py_ssize_t)b->checks, "first_alert",
        (Py_ssize_t)b->first_alert, "n_alerts", (Py_ssize_t)b->n_alerts, "trusted",
        b->trusted ? Py_True : Py_False, "seconds", b->seconds);
}

/* live_apply(live, [line, ...], threads) -> dict: events as lines of JSON */
static PyObject *live_apply(PyObject *self, PyObject *args)
{
    PyObject *live, *lines, *result = NULL;
    Py_ssize_t threads;
    core_call call;
    graphss_live_batch did = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "OO!n", &live, &PyList_Type, &lines, &threads))
        return NULL;
    core_live *x = as_live(live);
    if (!x || core_call_open(&call, threads, Py_None))
        return NULL;
    const size_t n = (size_t)PyList_Size(lines);
    graphss_event *event = PyMem_Calloc(n + 1, sizeof *event);
    graphss_status st = event ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    size_t read = 0;
    for (; read < n && !st; read++) {
        Py_ssize_t size = 0;
        const char *line =
            PyUnicode_AsUTF8AndSize(PyList_GetItem(lines, (Py_ssize_t)read), &size);
        if (line) {
            st = graphss_event_parse(call.ctx, &event[read], line, (size_t)size);
        } else {
            core_call_keep_exception(&call);
            st = GRAPHSS_ERR_INVALID;
        }
    }
    if (!st) {
        begin(&call, x);
        st = graphss_live_apply(call.ctx, x->live, event, n, &did);
        end(&call, x);
        result = st ? NULL : batch_dict(&did);
        graphss_live_batch_destroy(core_home(), &did);
    }
    for (size_t i = 0; i < read; i++)
        graphss_event_destroy(core_home(), &event[i]);
    PyMem_Free(event);
    return core_call_close(&call, st, result);
}

/* live_advance(live, t, threads) -> dict */
static PyObject *live_advance(PyObject *self, PyObject *args)
{
    PyObject *live, *result = NULL;
    Py_ssize_t threads;
    double t;
    core_call call;
    graphss_live_batch did = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "Odn", &live, &t, &threads))
        return NULL;
    core_live *x = as_live(live);
    if (!x || core_call_open(&call, threads, Py_None))
        return NULL;
    begin(&call, x);
    const graphss_status st = graphss_live_advance(call.ctx, x->live, t, &did);
    end(&call, x);
    result = st ? NULL : batch_dict(&did);
    graphss_live_batch_destroy(core_home(), &did);
    return core_call_close(&call, st, result);
}

static PyObject *live_status(PyObject *self, PyObject *live)
{
    graphss_live_status s;
    core_live *x = as_live(live);
    (void)self;
    if (!x)
        return NULL;
    take(x);
    graphss_live_status_get(x->live, &s);
    pthread_mutex_unlock(&x->lock);
    return Py_BuildValue(
        "{s:n,s:n,s:n,s:n,s:K,s:K,s:K,s:K,s:d,s:d,s:n,s:K,s:K,s:K,s:n,s:n,s:d,s:d,s:d,s:d,s:O,"
        "s:z,s:O,s:n}",
        "n_nodes", (Py_ssize_t)s.n_nodes, "n_edges", (Py_ssize_t)s.n_edges, "n_features",
        (Py_ssize_t)s.n_features, "n_classes", (Py_ssize_t)s.n_classes, "applied",
        (unsigned long long)s.applied, "duplicates", (unsigned long long)s.duplicates,
        "refused", (unsigned long long)s.refused, "expired", (unsigned long long)s.expired,
        "now", s.now, "trusted_since", s.trusted_since, "changed_nodes",
        (Py_ssize_t)s.changed_nodes, "checks", (unsigned long long)s.checks, "judged",
        (unsigned long long)s.judged, "warm", (unsigned long long)s.warm, "n_alerts",
        (Py_ssize_t)s.n_alerts, "open_alerts", (Py_ssize_t)s.open_alerts, "false_alarms",
        s.false_alarms, "period", s.period, "dismissed", s.dismissed, "budget_left",
        s.budget_left, "incremental", s.incremental ? Py_True : Py_False, "whole_pass_cause",
        s.whole_pass_cause, "suspicion", s.suspicion ? Py_True : Py_False, "bytes",
        (Py_ssize_t)s.bytes);
}

/* live_find(live, name) -> number, or -1 */
static PyObject *live_find(PyObject *self, PyObject *args)
{
    PyObject *live;
    const char *name;
    (void)self;
    if (!PyArg_ParseTuple(args, "Os", &live, &name))
        return NULL;
    core_live *x = as_live(live);
    if (!x)
        return NULL;
    take(x);
    const int64_t at = graphss_live_find(x->live, name);
    pthread_mutex_unlock(&x->lock);
    return PyLong_FromLongLong(at);
}

/* live_node(live, number, threads) -> dict */
static PyObject *live_node(PyObject *self, PyObject *args)
{
    PyObject *live, *result = NULL, *prob = NULL;
    Py_ssize_t node, threads;
    core_call call;
    graphss_live_node found;
    (void)self;
    if (!PyArg_ParseTuple(args, "Onn", &live, &node, &threads))
        return NULL;
    core_live *x = as_live(live);
    if (!x || core_call_open(&call, threads, Py_None))
        return NULL;
    begin(&call, x);
    const graphss_status st =
        graphss_live_node_get(call.ctx, x->live, &found, node < 0 ? SIZE_MAX : (size_t)node);
    end(&call, x);
    take(x);
    if (!st) {
        graphss_live_status s;
        graphss_live_status_get(x->live, &s);
        const float *p = graphss_live_prob(x->live, (size_t)node);
        const char *name = graphss_live_name(x->live, (size_t)node);
        prob = PyList_New(0);
        for (size_t c = 0; c < s.n_classes && prob && p; c++) {
            PyObject *one = PyFloat_FromDouble((double)p[c]);
            if (!one || PyList_Append(prob, one) < 0)
                Py_CLEAR(prob);
            Py_XDECREF(one);
        }
        result = Py_BuildValue("{s:z,s:N,s:i,s:i,s:i,s:i,s:d,s:n,s:s,s:n,s:n,s:n,s:d,s:d}",
            "name", name, "probabilities", prob, "label", (int)found.label, "predicted",
            (int)found.predicted, "trusted", (int)found.trusted, "recovered",
            (int)found.recovered, "recovered_probability", found.recovered_prob, "degree",
            (Py_ssize_t)found.degree, "kind", graphss_live_kind_text(found.kind),
            "links_added", (Py_ssize_t)found.edges_added, "links_removed",
            (Py_ssize_t)found.edges_removed, "features_changed",
            (Py_ssize_t)found.features_changed, "suspicion", found.suspicion, "p_value",
            found.p_value);
    }
    pthread_mutex_unlock(&x->lock);
    return core_call_close(&call, st, result);
}

/* live_suspects(live, most, threads) -> [name, ...], the most suspicious first */
static PyObject *live_suspects(PyObject *self, PyObject *args)
{
    PyObject *live, *list = NULL;
    Py_ssize_t most, threads;
    core_call call;
    (void)self;
    if (!PyArg_ParseTuple(args, "Onn", &live, &most, &threads))
        return NULL;
    core_live *x = as_live(live);
    if (!x || most < 0 || most > 1 << 24) {
        if (x)
            PyErr_SetString(PyExc_ValueError, "n: want 0 to 2**24");
        return NULL;
    }
    if (core_call_open(&call, threads, Py_None))
        return NULL;
    size_t n = (size_t)most;
    int32_t *node = PyMem_Calloc(n + 1, sizeof *node);
    graphss_status st = node ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    begin(&call, x);
    if (!st)
        st = graphss_live_suspects(call.ctx, x->live, node, &n);
    end(&call, x);
    list = st ? NULL : PyList_New(0);
    take(x);
    for (size_t i = 0; i < n && list; i++) {
        PyObject *one = Py_BuildValue("z", graphss_live_name(x->live, (size_t)node[i]));
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    pthread_mutex_unlock(&x->lock);
    PyMem_Free(node);
    return core_call_close(&call, st, list);
}

/* live_alerts(live) -> [dict, ...] */
static PyObject *live_alerts(PyObject *self, PyObject *live)
{
    graphss_live_status s;
    core_live *x = as_live(live);
    PyObject *list = x ? PyList_New(0) : NULL;
    (void)self;
    if (!list)
        return NULL;
    take(x);
    graphss_live_status_get(x->live, &s);
    for (size_t i = 0; i < s.n_alerts && list; i++) {
        graphss_live_alert a;
        graphss_live_alert_get(x->live, &a, i);
        PyObject *suspects = PyList_New(0);
        for (size_t j = 0; j < a.n_suspects && suspects; j++) {
            const char *name =
                a.suspect[j] < 0 ? NULL : graphss_live_name(x->live, (size_t)a.suspect[j]);
            PyObject *one = Py_BuildValue("zdd", name, a.suspect_p[j], a.suspect_score[j]);
            if (!one || PyList_Append(suspects, one) < 0)
                Py_CLEAR(suspects);
            Py_XDECREF(one);
        }
        PyObject *one = Py_BuildValue("{s:K,s:s,s:s,s:d,s:d,s:d,s:d,s:d,s:K,s:N}", "id",
            (unsigned long long)a.id, "group", a.group, "state",
            graphss_alert_state_text(a.state), "t", a.t, "settled", a.settled, "e_value",
            a.e_value, "threshold", a.threshold, "p_value", a.p_value, "judged",
            (unsigned long long)a.judged, "suspects", suspects);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    pthread_mutex_unlock(&x->lock);
    return list;
}

/* live_settle(live, id, state) */
static PyObject *live_settle(PyObject *self, PyObject *args)
{
    PyObject *live;
    unsigned long long id;
    int state;
    core_call call;
    (void)self;
    if (!PyArg_ParseTuple(args, "OKi", &live, &id, &state))
        return NULL;
    core_live *x = as_live(live);
    if (!x || core_call_open(&call, 1, Py_None))
        return NULL;
    begin(&call, x);
    const graphss_status st =
        graphss_live_settle(call.ctx, x->live, id, (graphss_alert_state)state);
    end(&call, x);
    return core_call_close(&call, st, Py_NewRef(Py_None));
}

static PyObject *live_trust(PyObject *self, PyObject *live)
{
    core_live *x = as_live(live);
    core_call call;
    (void)self;
    if (!x || core_call_open(&call, 1, Py_None))
        return NULL;
    begin(&call, x);
    const graphss_status st = graphss_live_trust(call.ctx, x->live);
    end(&call, x);
    return core_call_close(&call, st, Py_NewRef(Py_None));
}

/* live_watch(live, group, [name, ...]) */
static PyObject *live_watch(PyObject *self, PyObject *args)
{
    PyObject *live, *names;
    const char *group;
    core_call call;
    (void)self;
    if (!PyArg_ParseTuple(args, "OsO!", &live, &group, &PyList_Type, &names))
        return NULL;
    core_live *x = as_live(live);
    if (!x || core_call_open(&call, 1, Py_None))
        return NULL;
    const size_t n = (size_t)PyList_Size(names);
    const char **member = PyMem_Calloc(n + 1, sizeof *member);
    graphss_status st = member ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n && !st; i++) {
        member[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(names, (Py_ssize_t)i), NULL);
        if (!member[i]) {
            core_call_keep_exception(&call);
            st = GRAPHSS_ERR_INVALID;
        }
    }
    if (!st) {
        begin(&call, x);
        st = graphss_live_watch(call.ctx, x->live, group, member, n);
        end(&call, x);
    }
    PyMem_Free(member);
    return core_call_close(&call, st, Py_NewRef(Py_None));
}

/* live_snapshot(live, trusted) -> (Graph, Features) */
static PyObject *live_snapshot(PyObject *self, PyObject *args)
{
    PyObject *live, *result = NULL;
    int trusted;
    core_call call;
    graphss_dataset data = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "Op", &live, &trusted))
        return NULL;
    core_live *x = as_live(live);
    if (!x || core_call_open(&call, 1, Py_None))
        return NULL;
    begin(&call, x);
    const graphss_status st = graphss_live_snapshot(call.ctx, &data, x->live, trusted != 0);
    end(&call, x);
    if (!st) {
        PyObject *names = PyList_New(0);
        for (size_t i = 0; i < data.node_names.count && names; i++) {
            PyObject *one = PyUnicode_FromString(graphss_names_get(&data.node_names, i));
            if (!one || PyList_Append(names, one) < 0)
                Py_CLEAR(names);
            Py_XDECREF(one);
        }
        PyObject *graph = core_new_graph(&data.graph);
        PyObject *features = core_new_features(&data.features);
        result = Py_BuildValue("NNN", graph, features, names);
    }
    graphss_dataset_destroy(core_home(), &data);
    return core_call_close(&call, st, result);
}

/* live_save(live) -> bytes */
static PyObject *live_save(PyObject *self, PyObject *live)
{
    core_live *x = as_live(live);
    PyObject *result = NULL;
    core_call call;
    void *bytes = NULL;
    size_t n = 0;
    (void)self;
    if (!x || core_call_open(&call, 1, Py_None))
        return NULL;
    begin(&call, x);
    const graphss_status st = graphss_live_save(call.ctx, &bytes, &n, x->live);
    end(&call, x);
    if (!st)
        result = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)n);
    graphss_release(core_home(), bytes);
    return core_call_close(&call, st, result);
}

/* live_load(model, bytes) -> Live */
static PyObject *live_load(PyObject *self, PyObject *args)
{
    PyObject *model;
    const char *bytes;
    Py_ssize_t n;
    core_call call;
    graphss_live *live = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "Oy#", &model, &bytes, &n))
        return NULL;
    core_model *m = core_as_model(model);
    if (!m || core_call_open(&call, 1, Py_None))
        return NULL;
    core_call_begin(&call, m, 0);
    const graphss_status st = graphss_live_load(call.ctx, &live, m->model, bytes, (size_t)n);
    core_call_end(&call);
    return core_call_close(&call, st, st ? NULL : new_live(live, m));
}

/* live_verify(live, threads) -> rows that differ from a whole computation */
static PyObject *live_verify(PyObject *self, PyObject *args)
{
    PyObject *live;
    Py_ssize_t threads;
    core_call call;
    size_t different = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "On", &live, &threads))
        return NULL;
    core_live *x = as_live(live);
    if (!x || core_call_open(&call, threads, Py_None))
        return NULL;
    begin(&call, x);
    const graphss_status st = graphss_live_verify(call.ctx, &different, NULL, x->live);
    end(&call, x);
    return core_call_close(&call, st, PyLong_FromSize_t(different));
}

PyMethodDef core_live_methods[] = {
    {"live_new", live_new, METH_VARARGS, NULL},
    {"live_apply", live_apply, METH_VARARGS, NULL},
    {"live_advance", live_advance, METH_VARARGS, NULL},
    {"live_status", live_status, METH_O, NULL},
    {"live_find", live_find, METH_VARARGS, NULL},
    {"live_node", live_node, METH_VARARGS, NULL},
    {"live_suspects", live_suspects, METH_VARARGS, NULL},
    {"live_alerts", live_alerts, METH_O, NULL},
    {"live_settle", live_settle, METH_VARARGS, NULL},
    {"live_trust", live_trust, METH_O, NULL},
    {"live_watch", live_watch, METH_VARARGS, NULL},
    {"live_snapshot", live_snapshot, METH_VARARGS, NULL},
    {"live_save", live_save, METH_O, NULL},
    {"live_load", live_load, METH_VARARGS, NULL},
    {"live_verify", live_verify, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
