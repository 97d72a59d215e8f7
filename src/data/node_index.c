/* node_index.c - from a node's id to its number, and lists of ids in files. */
#include "data/build.h"
#include <string.h>

struct graphss_node_index {
    const graphss_dataset *data;
    graphss_i_intern table; /* over the dataset's own strings */
};

graphss_status graphss_node_index_new(
    graphss_ctx *ctx, graphss_node_index **out, const graphss_dataset *data)
{
    if (GRAPHSS_I_LACKS(ctx, {"dataset", data}, {"place for the index", out}))
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

int64_t graphss_i_node_index_find(
    const graphss_node_index *index, const char *id, size_t length)
{
    return index->table.slots ? graphss_i_intern_find(&index->table, id, length)
                              : graphss_i_find_number(index->data, id, length);
}

int64_t graphss_node_index_find(const graphss_node_index *index, const char *id)
{
    return index && id ? graphss_i_node_index_find(index, id, strlen(id)) : -1;
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

/* The node of a line without surrounding blanks, -1 if none. Backslash escapes are resolved
 * first; if that finds no node they are part of the name. A name from our tables may have the
 * apostrophe of graphss_name_guard before it. copy [length + 1]: the text that was looked up.
 */
static int64_t find_line(
    const graphss_node_index *index, const char *id, size_t length, char *copy)
{
    memcpy(copy, id, length);
    copy[length] = '\0';
    int64_t node = -1;
    if (graphss_i_name_unescape(copy)) {
        node = graphss_i_node_index_find(index, copy, strlen(copy));
        if (node < 0 && copy[0] == '\'')
            node = graphss_i_node_index_find(index, copy + 1, strlen(copy + 1));
    }
    if (node >= 0 || !memchr(id, '\\', length))
        return node;
    return graphss_i_node_index_find(index, id, length);
}

graphss_status graphss_i_node_list_line(
    graphss_ctx *ctx, graphss_i_output *out, const char *name)
{
    const size_t n = strlen(name);
    if (n == 0)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_DATA, "%s: a node has an empty name, want one", out->path);
    char *line = graphss_i_alloc(ctx, 2 * n + 3, 1);
    if (!line)
        return GRAPHSS_ERR_NOMEM;
    /* Blanks around a name would be skipped by the reader. */
    size_t used = 0;
    if (name[0] == ' ')
        line[used++] = '\\';
    used += graphss_name_escape(line + used, name);
    if (n > 1 && name[n - 1] == ' ') {
        line[used - 1] = '\\';
        line[used++] = ' ';
    }
    line[used++] = '\n';
    const graphss_status st = graphss_i_output_write(ctx, out, line, used);
    graphss_release(ctx, line);
    return st;
}

graphss_status graphss_node_list_read(graphss_ctx *ctx, int32_t **nodes, size_t *n,
    const char *path, const graphss_dataset *data)
{
    if (GRAPHSS_I_LACKS(ctx, {"path", path}, {"dataset", data}, {"place for the nodes", nodes},
            {"place for their number", n}))
        return GRAPHSS_ERR_INVALID;
    char *bytes = NULL;
    size_t size = 0, lines = 1, count = 0, line = 0, hidden = 0, hidden_line = 0;
    char hidden_id[84] = "";
    graphss_node_index *index = NULL;
    int32_t *list = NULL;
    uint8_t *seen = NULL;
    char *copy = NULL; /* of a line */
    graphss_status st =
        graphss_i_file_read(ctx, &bytes, &size, path, graphss_i_machine_memory() / 4);
    if (st)
        return st;
    for (size_t i = 0; i < size; i++)
        lines += bytes[i] == '\n';
    list = graphss_i_alloc(ctx, lines, sizeof *list);
    seen = graphss_i_calloc(ctx, data->graph.n_nodes, sizeof *seen);
    copy = graphss_i_alloc(ctx, size + 1, 1);
    if (!list || !seen || !copy) {
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
        while (end > begin && blank(bytes[end - 1]) &&
               (end == begin + 1 || bytes[end - 1] != ' ' || bytes[end - 2] != '\\'))
            end--;
        if (begin == end)
            continue;
        if (bytes[begin] == '#') {
            if (graphss_i_node_index_find(index, bytes + begin, end - begin) >= 0 &&
                !hidden++) {
                hidden_line = line;
                snprintf(hidden_id, sizeof hidden_id, "%.*s",
                    (int)(end - begin < 80 ? end - begin : 80), bytes + begin);
            }
            continue;
        }
        const int64_t node = find_line(index, bytes + begin, end - begin, copy);
        if (node < 0 || seen[node]) {
            st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s:%zu: %s '%.80s'", path, line,
                node < 0 ? "no node is called" : "listed twice:", copy);
            goto done;
        }
        seen[node] = 1;
        list[count++] = (int32_t)node;
    }
    if (count == 0) {
        st = graphss_i_fail(
            ctx, GRAPHSS_ERR_DATA, "%s: no node in it, want one id per line", path);
        goto done;
    }
    *nodes = list;
    *n = count;
    list = NULL;
done:
    if (hidden)
        graphss_i_log(ctx, GRAPHSS_LOG_WARN,
            "%s:%zu: '%s' is a comment, though a node is called so (%zu such line%s): "
            "for the node write '\\%s'",
            path, hidden_line, hidden_id, hidden, hidden == 1 ? "" : "s", hidden_id);
    graphss_node_index_free(ctx, index);
    graphss_release(ctx, copy);
    graphss_release(ctx, seen);
    graphss_release(ctx, list);
    graphss_release(ctx, bytes);
    return st;
}
