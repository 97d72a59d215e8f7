/* fail_malloc.c - preloaded (LD_PRELOAD), it lets one allocation of a library fail: the
 * FAIL_AT-th, from 1, that code in the object whose path contains FAIL_IN asks for; with
 * FAIL_ON set, all later ones, too. The allocator of a context cannot make these fail. For one
 * thread; glibc only. */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t size), *__libc_calloc(size_t n, size_t size),
    *__libc_realloc(void *block, size_t size);

/* Is the caller in the library? dladdr takes long, so answers are kept. */
static bool is_in(const void *caller, const char *library)
{
    static const void *known[4096];
    static bool answer[4096];
    const size_t at = (size_t)caller % 4096;
    if (known[at] != caller) {
        Dl_info object;
        answer[at] = dladdr(caller, &object) && strstr(object.dli_fname, library);
        known[at] = caller;
    }
    return answer[at];
}

static bool fails(const void *caller)
{
    static long asked;
    const char *in = getenv("FAIL_IN"), *at = getenv("FAIL_AT");
    if (!in || !at || !is_in(caller, in))
        return false;
    const long number = __sync_add_and_fetch(&asked, 1);
    if (number < atol(at) || (number > atol(at) && !getenv("FAIL_ON")))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *block, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(block, size);
}
