/* call.c - one call of the library: a context with callbacks, the GIL given up meanwhile,
 * warnings and errors as Python has them. And the module itself. */
#include "core.h"
#include <string.h>
#include <time.h>

static const double PATIENCE = 0.05; /* seconds between two checks for Ctrl-C */

static PyObject *error_base, *error_of[8], *cancelled, *warning_class;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void core_call_keep_exception(core_call *call)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (call->type) { /* the first one counts */
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
        return;
    }
    call->type = type;
    call->value = value;
    call->trace = trace;
}

/* From any thread of the library, one at a time. */
static void on_log(void *user, graphss_log_level level, const char *line)
{
    core_call *call = user;
    if (level != GRAPHSS_LOG_WARN)
        return;
    const PyGILState_STATE state = PyGILState_Ensure();
    PyObject *text = PyUnicode_DecodeUTF8(line, (Py_ssize_t)strlen(line), "replace");
    if (!text || PyList_Append(call->warnings, text) < 0)
        core_call_keep_exception(call);
    Py_XDECREF(text);
    PyGILState_Release(state);
}

/* On the thread of the caller. */
static bool on_progress(
    void *user, const char *stage, size_t done, size_t total, const char *note)
{
    core_call *call = user;
    const double time = now();
    if (call->type)
        return false;
    if (time - call->last < PATIENCE && done != total)
        return true;
    call->last = time;
    const PyGILState_STATE state = PyGILState_Ensure();
    bool on = PyErr_CheckSignals() == 0;
    if (on && call->progress != Py_None) {
        PyObject *answer = PyObject_CallFunction(
            call->progress, "snnz", stage, (Py_ssize_t)done, (Py_ssize_t)total, note);
        on = answer != NULL && answer != Py_False;
        Py_XDECREF(answer);
    }
    if (PyErr_Occurred())
        core_call_keep_exception(call);
    PyGILState_Release(state);
    return on;
}

int core_call_open(core_call *call, Py_ssize_t threads, PyObject *progress)
{
    *call = (core_call){.progress = progress, .last = now()};
    if (progress != Py_None && !PyCallable_Check(progress)) {
        PyErr_SetString(PyExc_TypeError, "progress: want a callable, or None");
        return -1;
    }
    if (threads < 0 || threads > GRAPHSS_THREADS_MOST) {
        PyErr_Format(PyExc_ValueError, "n_jobs: %zd threads, want 1 to %d", threads,
            GRAPHSS_THREADS_MOST);
        return -1;
    }
    call->warnings = PyList_New(0);
    if (!call->warnings)
        return -1;
    call->ctx =
        graphss_ctx_new(&(graphss_ctx_options){.struct_size = sizeof(graphss_ctx_options),
            .threads = (size_t)threads,
            .log = on_log,
            .progress = on_progress,
            .user = call});
    if (!call->ctx) {
        Py_CLEAR(call->warnings);
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

void core_call_begin(core_call *call, core_model *model, int changes)
{
    /* first, because the holder of the lock may wait for the GIL */
    call->state = PyEval_SaveThread();
    call->locked = model;
    if (model && changes)
        pthread_rwlock_wrlock(&model->lock);
    else if (model)
        pthread_rwlock_rdlock(&model->lock);
}

void core_call_end(core_call *call)
{
    if (call->locked)
        pthread_rwlock_unlock(&call->locked->lock);
    PyEval_RestoreThread(call->state);
}

static void raise_status(const core_call *call, graphss_status st)
{
    PyObject *type = error_base;
    switch (st) {
    case GRAPHSS_ERR_INVALID:
        type = error_of[0];
        break;
    case GRAPHSS_ERR_DATA:
        type = error_of[1];
        break;
    case GRAPHSS_ERR_SHAPE:
        type = error_of[2];
        break;
    case GRAPHSS_ERR_NOT_FOUND:
        type = error_of[3];
        break;
    case GRAPHSS_ERR_IO:
        type = error_of[4];
        break;
    case GRAPHSS_ERR_NOMEM:
    case GRAPHSS_ERR_LIMIT:
        type = error_of[5];
        break;
    case GRAPHSS_ERR_CANCELLED:
        type = cancelled;
        break;
    default:
        break;
    }
    PyErr_SetString(type, graphss_ctx_error(call->ctx));
}

/* -1: a warning that is an error. */
static int issue_warnings(const core_call *call)
{
    const Py_ssize_t n = PyList_Size(call->warnings);
    for (Py_ssize_t i = 0; i < n; i++) {
        const char *text = PyUnicode_AsUTF8AndSize(PyList_GetItem(call->warnings, i), NULL);
        if (!text || PyErr_WarnEx(warning_class, text, 3) < 0)
            return -1;
    }
    return 0;
}

PyObject *core_call_close(core_call *call, graphss_status st, PyObject *result)
{
    if (call->type) {
        PyErr_Restore(call->type, call->value, call->trace);
        Py_CLEAR(result);
    } else if (st) {
        if (st != GRAPHSS_ERR_CANCELLED || PyErr_CheckSignals() == 0)
            raise_status(call, st);
        Py_CLEAR(result);
    } else if (result && issue_warnings(call) < 0) {
        Py_CLEAR(result);
    }
    graphss_ctx_free(call->ctx);
    Py_CLEAR(call->warnings);
    return result;
}

graphss_status core_options_set(
    core_call *call, void *options, const graphss_option *table, PyObject *dict)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    if (dict == Py_None)
        return GRAPHSS_OK;
    if (!PyDict_Check(dict)) {
        PyErr_SetString(PyExc_TypeError, "options: want a dict");
        core_call_keep_exception(call);
        return GRAPHSS_ERR_INVALID;
    }
    while (PyDict_Next(dict, &at, &key, &value)) {
        const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
        const char *text = name ? PyUnicode_AsUTF8AndSize(value, NULL) : NULL;
        const graphss_option *row = text ? graphss_option_find(table, name) : NULL;
        if (text && !row)
            PyErr_Format(PyExc_TypeError, "unknown option '%s'", name);
        if (!row) {
            core_call_keep_exception(call);
            return GRAPHSS_ERR_INVALID;
        }
        const graphss_status st = graphss_option_set(call->ctx, options, row, text);
        if (st)
            return st;
    }
    return GRAPHSS_OK;
}

/* An exception class with up to one base of Python's own besides. */
static PyObject *make_error(
    PyObject *module, const char *name, PyObject *besides, const char *doc)
{
    char path[64];
    PyOS_snprintf(path, sizeof path, "graphss.%s", name);
    PyObject *bases = besides      ? PyTuple_Pack(2, error_base, besides)
                      : error_base ? PyTuple_Pack(1, error_base)
                                   : PyTuple_Pack(1, PyExc_Exception);
    PyObject *made = bases ? PyErr_NewExceptionWithDoc(path, doc, bases, NULL) : NULL;
    Py_XDECREF(bases);
    if (made && PyModule_AddObjectRef(module, name, made) < 0)
        Py_CLEAR(made);
    return made;
}

int core_call_init(PyObject *module)
{
    error_base = make_error(module, "GraphssError", NULL, "Base of all errors of graphss.");
    if (!error_base)
        return -1;
    const struct {
        PyObject **to;
        const char *name;
        PyObject *besides;
        const char *doc;
    } c[] = {
        {&error_of[0], "InvalidError", PyExc_ValueError, "An argument or option is wrong."},
        {&error_of[1], "DataError", PyExc_ValueError, "Data that cannot be used."},
        {&error_of[2], "ShapeError", PyExc_ValueError, "Parts that do not fit each other."},
        {&error_of[3], "NotFoundError", PyExc_FileNotFoundError, "No such file or dataset."},
        {&error_of[4], "FileError", PyExc_OSError, "A file cannot be read or written."},
        {&error_of[5], "MemoryLimitError", PyExc_MemoryError, "Not enough memory."},
        {&cancelled, "Cancelled", NULL, "The progress callback returned False."},
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        *c[i].to = make_error(module, c[i].name, c[i].besides, c[i].doc);
        if (!*c[i].to)
            return -1;
    }
    PyObject *bases = PyTuple_Pack(1, PyExc_UserWarning);
    warning_class = bases ? PyErr_NewExceptionWithDoc("graphss.GraphssWarning",
                                "A warning of the library.", bases, NULL)
                          : NULL;
    Py_XDECREF(bases);
    return warning_class ? PyModule_AddObjectRef(module, "GraphssWarning", warning_class) : -1;
}

/* ---- graphss._core ---- */

static int execute(PyObject *module)
{
    if (core_objects_init(module) < 0 || core_call_init(module) < 0 ||
        core_live_init(module) < 0)
        return -1;
    PyMethodDef *const list[] = {
        core_data_methods, core_model_methods, core_defence_methods, core_live_methods};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (PyModule_AddFunctions(module, list[i]) < 0)
            return -1;
    return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, execute}, {0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "graphss._core",
    "Handles and arrays of libgraphss.", 0, NULL, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
