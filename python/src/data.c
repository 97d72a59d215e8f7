/* data.c - graphs and features from arrays, datasets from files, tables of options. */
#include "core.h"
#include <stdlib.h>
#include <string.h>

static PyObject *cleaning_dict(const graphss_cleaning *c)
{
    return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L,s:L}", "directed", (long long)c->directed,
        "duplicates", (long long)c->duplicates, "loops", (long long)c->loops, "zeros",
        (long long)c->zeros, "weighted", (long long)c->weighted, "isolated",
        (long long)c->isolated);
}

/* ---- graph_from_pairs(n, from, to) -> (Graph, cleaning) ---- */

static PyObject *build_graph(size_t n, const int32_t *from, const int32_t *to, size_t m)
{
    core_call call;
    graphss_graph graph = {0};
    graphss_cleaning cleaned = {0};
    PyObject *result = NULL;
    if (core_call_open(&call, 1, Py_None))
        return NULL;
    core_call_begin(&call, NULL, 0);
    const graphss_status st = graphss_graph_build(call.ctx, &graph, &cleaned, n, from, to, m);
    core_call_end(&call);
    if (!st) {
        PyObject *made = core_new_graph(&graph);
        result = made ? Py_BuildValue("NN", made, cleaning_dict(&cleaned)) : NULL;
    }
    return core_call_close(&call, st, result);
}

static PyObject *graph_from_pairs(PyObject *self, PyObject *args)
{
    PyObject *from, *to, *result = NULL;
    core_buffer a = {0}, b = {0};
    Py_ssize_t n;
    (void)self;
    if (!PyArg_ParseTuple(args, "nOO", &n, &from, &to) ||
        core_buffer_get(&a, from, "i4", 1, 0, "from") ||
        core_buffer_get(&b, to, "i4", 1, 0, "to"))
        goto done;
    if (a.count != b.count || n < 0)
        PyErr_SetString(PyExc_ValueError, "want as many ends as beginnings, and nodes");
    else
        result = build_graph((size_t)n, a.data, b.data, a.count);
done:
    core_buffer_release(&a);
    core_buffer_release(&b);
    return result;
}

/* ---- graph_from_rows(indptr, indices) -> (Graph, cleaning) ---- */

/* The row of each entry; 0: the offsets are not sound. */
static int expand(int32_t *from, const int64_t *offset, size_t n, size_t m)
{
    if (offset[0] != 0 || offset[n] < 0 || (size_t)offset[n] != m)
        return 0;
    for (size_t i = 0; i < n; i++) {
        if (offset[i + 1] < offset[i] || (size_t)offset[i + 1] > m)
            return 0;
        for (int64_t e = offset[i]; e < offset[i + 1]; e++)
            from[e] = (int32_t)i;
    }
    return 1;
}

static PyObject *graph_from_rows(PyObject *self, PyObject *args)
{
    PyObject *indptr, *indices, *result = NULL;
    core_buffer offset = {0}, column = {0};
    int32_t *from = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &indptr, &indices) ||
        core_buffer_get(&offset, indptr, "i8", 1, 0, "indptr") ||
        core_buffer_get(&column, indices, "i4", 1, 0, "indices"))
        goto done;
    if (offset.count == 0 || offset.count - 1 > INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "indptr: want one entry more than there are nodes");
        goto done;
    }
    const size_t n = offset.count - 1;
    from = malloc((column.count + 1) * sizeof *from);
    if (!from)
        PyErr_NoMemory();
    else if (!expand(from, offset.data, n, column.count))
        PyErr_SetString(PyExc_ValueError, "indptr: want offsets from 0 to the number of "
                                          "indices that do not fall");
    else
        result = build_graph(n, from, column.data, column.count);
done:
    free(from);
    core_buffer_release(&offset);
    core_buffer_release(&column);
    return result;
}

/* ---- features ---- */

static PyObject *features_from_dense(PyObject *self, PyObject *array)
{
    core_buffer value;
    core_call call;
    graphss_features features = {0};
    PyObject *result = NULL;
    (void)self;
    if (core_buffer_get(&value, array, "f4", 2, 0, "features"))
        return NULL;
    if (core_call_open(&call, 1, Py_None) == 0) {
        core_call_begin(&call, NULL, 0);
        const graphss_status st = graphss_features_from_dense(
            call.ctx, &features, value.rows, value.cols, value.data);
        core_call_end(&call);
        result = core_call_close(&call, st, st ? NULL : core_new_features(&features));
    }
    core_buffer_release(&value);
    return result;
}

static PyObject *features_from_rows(PyObject *self, PyObject *args)
{
    PyObject *indptr, *indices, *data, *result = NULL;
    core_buffer offset = {0}, column = {0}, value = {0};
    Py_ssize_t cols;
    core_call call;
    graphss_features features = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "nOOO", &cols, &indptr, &indices, &data) ||
        core_buffer_get(&offset, indptr, "i8", 1, 0, "indptr") ||
        core_buffer_get(&column, indices, "i4", 1, 0, "indices") ||
        core_buffer_get(&value, data, "f4", 1, 0, "data"))
        goto done;
    const int64_t *at = offset.data;
    if (cols < 0 || offset.count == 0 || column.count != value.count || at[0] != 0 ||
        at[offset.count - 1] != (int64_t)column.count) {
        PyErr_SetString(PyExc_ValueError, "features: want indptr from 0 to the number of "
                                          "indices and of values");
        goto done;
    }
    if (core_call_open(&call, 1, Py_None))
        goto done;
    core_call_begin(&call, NULL, 0);
    const graphss_status st = graphss_features_from_rows(
        call.ctx, &features, offset.count - 1, (size_t)cols, at, column.data, value.data);
    core_call_end(&call);
    result = core_call_close(&call, st, st ? NULL : core_new_features(&features));
done:
    core_buffer_release(&offset);
    core_buffer_release(&column);
    core_buffer_release(&value);
    return result;
}

/* ---- read(where) -> dict ---- */

static PyObject *names_list(const graphss_names *names)
{
    PyObject *list = PyList_New((Py_ssize_t)names->count);
    for (size_t i = 0; i < names->count && list; i++) {
        const char *name = graphss_names_get(names, i);
        PyObject *text = PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace");
        if (text)
            PyList_SetItem(list, (Py_ssize_t)i, text);
        else
            Py_CLEAR(list);
    }
    return list;
}

static int put(PyObject *dict, const char *key, PyObject *value)
{
    const int bad = !value || PyDict_SetItemString(dict, key, value) < 0;
    Py_XDECREF(value);
    return bad;
}

static PyObject *take(int32_t **list, size_t n)
{
    static int32_t none;
    PyObject *made = *list ? core_array(*list, (Py_ssize_t)n, 0, "i", NULL)
                           : core_array(&none, 0, 0, "i", Py_None);
    *list = NULL;
    return made;
}

static PyObject *dataset_dict(graphss_dataset *d)
{
    PyObject *dict = PyDict_New();
    const size_t n = d->graph.n_nodes;
    if (!dict)
        return NULL;
    int bad = put(dict, "cleaned", cleaning_dict(&d->cleaned));
    bad |= put(dict, "label", take(&d->label, n));
    bad |= put(dict, "n_classes", PyLong_FromSize_t(d->n_classes));
    bad |= put(dict, "node_names", names_list(&d->node_names));
    bad |= put(dict, "class_names", names_list(&d->class_names));
    bad |= put(dict, "column_names", names_list(&d->column_names));
    bad |= put(dict, "name", PyUnicode_FromString(d->name));
    bad |= put(dict, "format", PyUnicode_FromString(d->format));
    bad |= put(dict, "hash", PyUnicode_FromString(d->hash));
    graphss_split *s = &d->split;
    PyObject *split =
        Py_BuildValue("NNNNN", take(&s->train, s->n_train), take(&s->train_label, s->n_train),
            take(&s->val, s->n_val), take(&s->val_label, s->n_val), take(&s->test, s->n_test));
    bad |= put(dict, "split", split);
    bad |= put(dict, "graph", core_new_graph(&d->graph));
    bad |= put(dict, "features", core_new_features(&d->features));
    if (bad)
        Py_CLEAR(dict);
    return dict;
}

static PyObject *read_dataset(PyObject *self, PyObject *args)
{
    PyObject *path, *result = NULL;
    core_call call;
    graphss_dataset data = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    if (core_call_open(&call, 0, Py_None) == 0) {
        const char *where = PyBytes_AsString(path);
        core_call_begin(&call, NULL, 0);
        const graphss_status st = graphss_dataset_read(call.ctx, &data, where, NULL);
        core_call_end(&call);
        result = st ? NULL : dataset_dict(&data);
        graphss_dataset_destroy(core_home(), &data);
        result = core_call_close(&call, st, result);
    }
    Py_DECREF(path);
    return result;
}

/* ---- options(which) -> list of dicts ---- */

typedef union all_options {
    graphss_train_options train;
    graphss_alert_options alert;
    graphss_recover_options recover;
    graphss_attack_options attack;
    graphss_live_options live;
} all_options;

static const graphss_option *table_of(const char *which, const char *name, all_options *opt)
{
    const char *model = *name ? name : "gcn";
    if (strcmp(which, "train") == 0) {
        graphss_train_options_init(&opt->train, model, GRAPHSS_MODE_DEFAULT, NULL);
        return graphss_train_options_table();
    }
    if (strcmp(which, "alert") == 0) {
        graphss_alert_options_init(&opt->alert);
        return graphss_alert_options_table();
    }
    if (strcmp(which, "recover") == 0) {
        const graphss_recover_method *method =
            graphss_lab_method_find(*name ? name : "graphss");
        graphss_recover_options_init(&opt->recover, method, GRAPHSS_MODE_DEFAULT, NULL);
        return *name ? graphss_recover_method_options(method, GRAPHSS_MODE_DEFAULT)
                     : graphss_lab_options_table();
    }
    if (strcmp(which, "attack") == 0) {
        graphss_attack_options_init(&opt->attack);
        return graphss_attack_options_table();
    }
    if (strcmp(which, "live") == 0) {
        graphss_live_options_init(&opt->live);
        return graphss_live_options_table();
    }
    return NULL;
}

static PyObject *choices_of(const graphss_option *row)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; row->choices && row->choices[i] && list; i++) {
        PyObject *text = PyUnicode_FromString(row->choices[i]);
        if (!text || PyList_Append(list, text) < 0)
            Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *options(PyObject *self, PyObject *args)
{
    static const char *const types[] = {[GRAPHSS_OPTION_BOOL] = "bool",
        [GRAPHSS_OPTION_INT] = "int",
        [GRAPHSS_OPTION_REAL] = "float",
        [GRAPHSS_OPTION_CHOICE] = "choice",
        [GRAPHSS_OPTION_STRING] = "str",
        [GRAPHSS_OPTION_AMOUNT] = "amount"};
    const char *which, *name;
    all_options values;
    (void)self;
    if (!PyArg_ParseTuple(args, "ss", &which, &name))
        return NULL;
    const graphss_option *row = table_of(which, name, &values);
    if (!row)
        return PyErr_Format(PyExc_ValueError, "no table of options '%s'", which);
    PyObject *list = PyList_New(0);
    for (; row->name && list; row++) {
        char text[128];
        graphss_option_text(text, sizeof text, &values, row);
        PyObject *entry = Py_BuildValue("{s:s,s:s,s:d,s:d,s:N,s:s,s:s}", "name", row->name,
            "type", (size_t)row->type < sizeof types / sizeof *types ? types[row->type] : "?",
            "min", row->min, "max", row->max, "choices", choices_of(row), "help",
            row->help ? row->help : "", "default", text);
        if (!entry || PyList_Append(list, entry) < 0)
            Py_CLEAR(list);
        Py_XDECREF(entry);
    }
    return list;
}

static const char *method_name(size_t i)
{
    return graphss_recover_method_name(graphss_lab_method_at(i));
}

static const char *method_summary(size_t i)
{
    return graphss_recover_method_summary(graphss_lab_method_at(i));
}

/* names(which) -> list of (name, summary) */
static PyObject *names(PyObject *self, PyObject *args)
{
    const char *which;
    const char *(*name)(size_t) = NULL, *(*summary)(size_t) = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "s", &which))
        return NULL;
    if (strcmp(which, "train") == 0) {
        name = graphss_model_name;
        summary = graphss_model_summary;
    } else if (strcmp(which, "recover") == 0) {
        name = method_name;
        summary = method_summary;
    } else if (strcmp(which, "attack") == 0) {
        name = graphss_attack_name;
        summary = graphss_attack_summary;
    } else {
        return PyErr_Format(PyExc_ValueError, "no list of names '%s'", which);
    }
    PyObject *list = PyList_New(0);
    for (size_t i = 0; name(i) && list; i++) {
        PyObject *entry = Py_BuildValue("ss", name(i), summary(i));
        if (!entry || PyList_Append(list, entry) < 0)
            Py_CLEAR(list);
        Py_XDECREF(entry);
    }
    return list;
}

static PyObject *version(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyUnicode_FromString(graphss_version());
}

PyMethodDef core_data_methods[] = {
    {"graph_from_pairs", graph_from_pairs, METH_VARARGS, NULL},
    {"graph_from_rows", graph_from_rows, METH_VARARGS, NULL},
    {"features_from_dense", features_from_dense, METH_O, NULL},
    {"features_from_rows", features_from_rows, METH_VARARGS, NULL},
    {"read", read_dataset, METH_VARARGS, NULL},
    {"options", options, METH_VARARGS, NULL},
    {"names", names, METH_VARARGS, NULL},
    {"version", version, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
