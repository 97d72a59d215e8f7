/* safetensors.c - see model_file.h. */
#include "base/json_fault.h"
#include "models/weights/model_file.h"
#include <stdlib.h>

enum { ALIGN = 8 };

static const uint64_t largest_file = (uint64_t)1 << 36;
static const uint64_t largest_header = (uint64_t)1 << 26;

/* ---- reading ---- */

static graphss_status parse(graphss_ctx *ctx, graphss_i_safetensors *file, size_t n)
{
    uint64_t length = 0;
    json_error_t error;
    bool starved;
    for (size_t i = 0; i < 8 && n >= 8; i++)
        length |= (uint64_t)(unsigned char)file->bytes[i] << (8 * i);
    if (n < 8 || length > largest_header || length > n - 8)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: not a safetensors file, or cut short (%zu bytes)", file->path, n);
    file->header = graphss_i_json_load(
        file->bytes + 8, (size_t)length, JSON_REJECT_DUPLICATES, &error, &starved);
    if (starved)
        return graphss_i_nomem(ctx, (size_t)length);
    if (!file->header)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: header, byte %d: %s", file->path,
            8 + error.position, error.text);
    file->meta = json_object_get(file->header, "__metadata__");
    file->data = file->bytes + 8 + length;
    file->n_data = n - 8 - (size_t)length;
    return GRAPHSS_OK;
}

graphss_status graphss_i_safetensors_open(
    graphss_ctx *ctx, graphss_i_safetensors *out, const char *path)
{
    graphss_i_safetensors file = {.path = path};
    size_t n = 0;
    graphss_status st = graphss_i_file_read(ctx, &file.bytes, &n, path, largest_file);
    if (!st)
        st = parse(ctx, &file, n);
    if (st)
        graphss_i_safetensors_close(ctx, &file);
    else
        *out = file;
    return st;
}

void graphss_i_safetensors_close(graphss_ctx *ctx, graphss_i_safetensors *file)
{
    json_decref(file->header);
    graphss_release(ctx, file->bytes);
    *file = (graphss_i_safetensors){0};
}

/* ---- writing ---- */

static size_t bytes_of(const graphss_i_tensor *x)
{
    return x->rows * (x->cols ? x->cols : 1) * graphss_i_entry_size(x);
}

static json_t *shape_of(const graphss_i_tensor *x)
{
    const json_int_t rows = (json_int_t)x->rows, cols = (json_int_t)x->cols;
    return x->boxed  ? json_pack("[i, I, I]", 1, rows, cols)
           : x->cols ? json_pack("[I, I]", rows, cols)
                     : json_pack("[I]", rows);
}

/* The JSON header as text, or NULL. jansson allocates by itself. */
static char *header_of(json_t *meta, const graphss_i_tensor *list, size_t n)
{
    json_t *header = json_object();
    int bad = !header || !meta;
    if (bad)
        json_decref(meta);
    else
        bad |= json_object_set_new(header, "__metadata__", meta);
    uint64_t at = 0;
    for (size_t i = 0; i < n && !bad; i++) {
        const uint64_t end = at + bytes_of(&list[i]);
        json_t *entry = json_pack("{s:s, s:o, s:[I, I]}", "dtype", list[i].dtype, "shape",
            shape_of(&list[i]), "data_offsets", (json_int_t)at, (json_int_t)end);
        bad |= json_object_set_new(header, list[i].name, entry);
        at = end;
    }
    char *text = bad ? NULL : json_dumps(header, JSON_COMPACT);
    json_decref(header);
    return text;
}

static graphss_status write_all(graphss_ctx *ctx, graphss_i_output *out, const char *header,
    const graphss_i_tensor *list, size_t n)
{
    const size_t length = strlen(header), padded = (length + ALIGN - 1) / ALIGN * ALIGN;
    unsigned char head[8];
    for (int i = 0; i < 8; i++)
        head[i] = (unsigned char)((uint64_t)padded >> (8 * i));
    graphss_status st = graphss_i_output_write(ctx, out, head, sizeof head);
    if (!st)
        st = graphss_i_output_write(ctx, out, header, length);
    if (!st)
        st = graphss_i_output_write(ctx, out, "       ", padded - length);
    for (size_t i = 0; i < n && !st; i++)
        st = graphss_i_output_write(ctx, out, list[i].data, bytes_of(&list[i]));
    return st;
}

graphss_status graphss_i_safetensors_write(
    graphss_ctx *ctx, const char *path, json_t *meta, const graphss_i_tensor *list, size_t n)
{
    graphss_i_output out = {0};
    char *header = header_of(meta, list, n);
    if (!header)
        return graphss_i_fail(ctx, GRAPHSS_ERR_NOMEM,
            "%s: no memory for its header, or a name that is not UTF-8", path);
    graphss_status st = graphss_i_output_open(ctx, &out, path);
    if (!st)
        st = write_all(ctx, &out, header, list, n);
    if (!st)
        st = graphss_i_output_commit(ctx, &out);
    else
        graphss_i_output_abandon(ctx, &out);
    free(header);
    return st;
}
