/* manifest.c - the table of public files. It is generated from manifest.json at configure
 * time, so the library needs neither a file nor a parser at run time. */
#include <graphss_lab/fetch.h>

static const graphss_fetch_item table[] = {
#include "manifest_rows.h"
};

const graphss_fetch_item *graphss_fetch_item_at(size_t i)
{
    return i < sizeof table / sizeof *table ? &table[i] : NULL;
}
