/* node_index.c - from a node's id to its number, and lists of ids in files. */
#include "data/build.h"
#include <string.h>

struct graphss_node_index {
    const graphss_dataset *data;
    graphss_i_intern table; /* over the dataset's own strings */
};

graphss_status graphss_node_index_new(graphss_ctx *ctx, graphss_node_index **out,
                                      const graphss_dataset *data)
{
    if (GRAPHSS_I_LACKS(ctx, {"dataset", data}))
        return GRAPHSS_ERR_INVALID;
    graphss_node_index *made = graphss_i_calloc(ctx, 1, sizeof *made);
    if (!made)
        return GRAPHSS_ERR_NOMEM;
    made->data = data;
    const graphss_names *names = &data->node_names;
    if (names->count) {
        made->table.list = (graphss_i_name_list){
            .count = names->count, .start = names->start, .text = names->text};
        const graphss_status st = graphss_i_intern_index(ctx, &made->table);
        if (st) {
            graphss_release(ctx, made);
            return st;
        }
    }
    *out = made;
    return GRAPHSS_OK;
}

static int64_t find(const graphss_node_index *index, const char *id, size_t length)
{
    return index->table.slots ? graphss_i_intern_find(&index->table, id, length)
                              : graphss_i_find_number(index->data, id, length);
}

int64_t graphss_node_index_find(const graphss_node_index *index, const char *id)
{
    return find(index, id, strlen(id));
}

void graphss_node_index_free(graphss_ctx *ctx, graphss_node_index *index)
{
    if (!index)
        return;
    graphss_release(ctx, index->table.slot);
    graphss_release(ctx, index);
}

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

graphss_status graphss_node_list_read(graphss_ctx *ctx, int32_t **nodes, size_t *n,
                                      const char *path, const graphss_dataset *data)
{
    if (GRAPHSS_I_LACKS(ctx, {"path", path}, {"dataset", data}))
        return GRAPHSS_ERR_INVALID;
    char *bytes = NULL;
    size_t size = 0, lines = 1, count = 0, line = 0;
    graphss_node_index *index = NULL;
    int32_t *list = NULL;
    uint8_t *seen = NULL;
    graphss_status st =
        graphss_i_file_read(ctx, &bytes, &size, path, graphss_i_machine_memory() / 4);
    if (st)
        return st;
    for (size_t i = 0; i < size; i++)
        lines += bytes[i] == '\n';
    list = graphss_i_alloc(ctx, lines, sizeof *list);
    seen = graphss_i_calloc(ctx, data->graph.n_nodes, sizeof *seen);
    if (!list || !seen) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    st = graphss_node_index_new(ctx, &index, data);
    if (st)
        goto done;
    for (size_t at = 0; at < size;) {
        size_t begin = at, end = at;
        while (end < size && bytes[end] != '\n')
            end++;
        at = end + 1;
        line++;
        while (begin < end && blank(bytes[begin]))
            begin++;
        while (end > begin && blank(bytes[end - 1]))
            end--;
        if (begin == end || bytes[begin] == '#')
            continue;
        begin += end - begin > 1 && bytes[begin] == '\\' && bytes[begin + 1] == '#';
        const int64_t node = find(index, bytes + begin, end - begin);
        if (node < 0 || seen[node]) {
            const size_t shown = end - begin < 80 ? end - begin : 80;
            st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s:%zu: %s '%.*s'", path, line,
                                node < 0 ? "no node is called" : "listed twice:", (int)shown,
                                bytes + begin);
            goto done;
        }
        seen[node] = 1;
        list[count++] = (int32_t)node;
    }
    if (count == 0) {
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: no node in it, want one id per line",
                            path);
        goto done;
    }
    *nodes = list;
    *n = count;
    list = NULL;
done:
    graphss_node_index_free(ctx, index);
    graphss_release(ctx, seen);
    graphss_release(ctx, list);
    graphss_release(ctx, bytes);
    return st;
}
