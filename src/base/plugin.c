#include "base/base.h"
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 4096 };

/* Folder of the running program with a slash at its end; "" if unknown. */
static void program_folder(char out[PATH])
{
    const ssize_t n = readlink("/proc/self/exe", out, PATH - 1);
    out[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(out, '/');
    out[slash ? slash + 1 - out : 0] = '\0';
}

/* Open MPI looks up its own symbols, so they must be global. */
static void *open_plugin(const char *name, char said[256])
{
    static const char *const beside[] = {"", "../lib/"};
    char folder[PATH], path[PATH + 128];
    snprintf(path, sizeof path, "libgraphss_%s.so", name);
    void *found = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    snprintf(said, 256, "%s", found ? "" : dlerror());
    program_folder(folder);
    for (size_t i = 0; i < sizeof beside / sizeof *beside && !found && folder[0]; i++) {
        snprintf(path, sizeof path, "%s%slibgraphss_%s.so", folder, beside[i], name);
        if (access(path, F_OK) != 0)
            continue;
        found = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
        if (!found)
            snprintf(said, 256, "%s", dlerror());
    }
    return found;
}

graphss_status graphss_i_plugin_find(
    graphss_ctx *ctx, void *out, size_t size, const char *name, const char *function)
{
    char said[256];
    void *plugin = open_plugin(name, said);
    void *address = plugin ? dlsym(plugin, function) : NULL;
    if (!plugin)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "%s is not installed here (%s): see docs/distributed.md", name, said);
    if (!address)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "libgraphss_%s.so has no %s: it is not of this version", name, function);
    memcpy(out, &address, size);
    return GRAPHSS_OK;
}

graphss_status graphss_i_library_find(graphss_ctx *ctx, void *out, const char *file,
    const char *package, const char *const *name, size_t n)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "%s is not installed here: %s", package, dlerror());
    for (size_t i = 0; i < n; i++) {
        void *address = dlsym(library, name[i]);
        if (!address)
            return graphss_i_fail(
                ctx, GRAPHSS_ERR_INVALID, "%s has no %s: it is too old", file, name[i]);
        memcpy((char *)out + i * sizeof address, &address, sizeof address);
    }
    return GRAPHSS_OK;
}
