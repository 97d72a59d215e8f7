/* json_fault.h - reads JSON and distinguishes lack of memory from malformed text. */
#ifndef GRAPHSS_JSON_FAULT_H
#define GRAPHSS_JSON_FAULT_H

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>

/* As json_loadb. *starved: it failed for lack of memory. jansson reports that as bad text, or
 * not at all if a string or number does not fit. */
static inline json_t *graphss_i_json_load(
    const char *text, size_t n, size_t flags, json_error_t *error, bool *starved)
{
    errno = 0;
    json_t *value = json_loadb(text, n, flags, error);
    *starved = !value && (errno == ENOMEM || !error->text[0] ||
                             json_error_code(error) == json_error_out_of_memory);
    return value;
}

#endif
