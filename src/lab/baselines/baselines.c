/* baselines.c - the methods of the core and the published ones, as one list. */
#include "lab/baselines/baselines.h"
#include <string.h>

static const graphss_i_defence *const published[] = {
#define DEFENCE(name) &graphss_i_##name##_defence,
#include "lab/baselines/baselines.def"
#undef DEFENCE
};
enum { PUBLISHED = sizeof published / sizeof *published };

const graphss_recover_method *graphss_lab_method_at(size_t i)
{
    size_t core = 0;
    while (core < i && graphss_recover_method_at(core))
        core++;
    if (graphss_recover_method_at(core))
        return graphss_recover_method_at(i);
    return i - core < PUBLISHED ? published[i - core] : NULL;
}

const graphss_recover_method *graphss_lab_method_find(const char *name)
{
    for (size_t i = 0; name && i < PUBLISHED; i++)
        if (!strcmp(published[i]->name, name))
            return published[i];
    return graphss_recover_method_find(name);
}

const graphss_i_defence *graphss_i_lab_defence(const char *name, int mode)
{
    return graphss_i_defence_in(graphss_lab_method_find(name), (graphss_mode)mode);
}
