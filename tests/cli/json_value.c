/* json_value.c - prints the value at a path such as "dataset.name" or "confusion.0.1" of
 * the one JSON document on stdin. Code 1: not exactly one document, or no such value. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    json_t *root = json_loadf(stdin, JSON_REJECT_DUPLICATES, NULL);
    json_t *at = root;
    for (char *key = strtok(argv[1], "."); key && at; key = strtok(NULL, "."))
        at = json_is_array(at) ? json_array_get(at, strtoul(key, NULL, 10))
                               : json_object_get(at, key);
    if (json_is_string(at))
        printf("%s\n", json_string_value(at));
    else if (at)
        json_dumpf(at, stdout, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
    json_decref(root);
    return at ? 0 : 1;
}
