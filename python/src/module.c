/* module.c - graphss._core. */
#include "core.h"

static int execute(PyObject *module)
{
    if (core_objects_init(module) < 0 || core_call_init(module) < 0)
        return -1;
    PyMethodDef *const list[] = {core_data_methods, core_model_methods, core_defence_methods};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (PyModule_AddFunctions(module, list[i]) < 0)
            return -1;
    return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, execute}, {0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "graphss._core",
                                        "Handles and arrays of libgraphss.",
                                        0,
                                        NULL,
                                        slots,
                                        NULL,
                                        NULL,
                                        NULL};

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
