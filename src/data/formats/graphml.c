/* graphml.c - handlers over expat. Unknown elements are skipped with their content; nested
 * graphs are merged into the outer one.
 *
 * Entities that expand without end are bounded by expat, and all entity declarations are
 * refused: no program writes them into GraphML. expat's own memory is not the context's. */
#include "data/formats/graphml.h"
#include <expat.h>
#include <limits.h>
#include <string.h>

typedef enum place { AT_NOTHING, AT_DATA, AT_DEFAULT } place;
typedef enum owner { OF_NOTHING, OF_NODE, OF_EDGE } owner;

enum { DEPTH_MOST = 64 };

typedef struct reading {
    graphss_ctx *ctx;
    const char *file;
    XML_Parser parser;
    graphss_i_graphml *out;
    graphss_status st;
    owner owner[DEPTH_MOST]; /* the owner of <data> at each depth: node, edge, graph */
    size_t number[DEPTH_MOST];
    size_t depth, text_depth; /* of the element whose text is collected */
    place at;
    size_t key; /* of that <data> or <default> */
    graphss_i_graphml_text value;
    bool spoilt; /* it holds elements */
    bool seen_root;
} reading;

static void stop(reading *r, graphss_status st)
{
    if (!r->st)
        r->st = st;
    XML_StopParser(r->parser, XML_FALSE);
}

static void refuse(reading *r, const char *found, const char *want)
{
    if (r->st)
        return;
    stop(r, graphss_i_fail(r->ctx, GRAPHSS_ERR_DATA, "%s:%lu:%lu: found %.80s, want %s",
                r->file, (unsigned long)XML_GetCurrentLineNumber(r->parser),
                (unsigned long)XML_GetCurrentColumnNumber(r->parser) + 1, found, want));
}

/* Room for one more item of a growing array. */
static bool room_for_one(reading *r, void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return true;
    void *block = NULL;
    memcpy(&block, array, sizeof block);
    const size_t more = *room ? 2 * *room : 256;
    block = graphss_i_grow(r->ctx, block, count, more, size);
    if (!block) {
        stop(r, GRAPHSS_ERR_NOMEM);
        return false;
    }
    memcpy(array, &block, sizeof block);
    *room = more;
    return true;
}

static bool add_text(reading *r, const char *text, size_t length)
{
    graphss_i_graphml *g = r->out;
    if (g->text_used + length + 1 > g->text_room) {
        const size_t room = 2 * (g->text_room + length) + 4096;
        char *more = graphss_i_grow(r->ctx, g->text, g->text_used, room, 1);
        if (!more) {
            stop(r, GRAPHSS_ERR_NOMEM);
            return false;
        }
        g->text = more;
        g->text_room = room;
    }
    memcpy(g->text + g->text_used, text, length);
    g->text_used += length;
    return true;
}

static graphss_i_graphml_text here(const reading *r)
{
    return (graphss_i_graphml_text){.start = r->out->text_used,
        .line = (size_t)XML_GetCurrentLineNumber(r->parser),
        .column = (size_t)XML_GetCurrentColumnNumber(r->parser) + 1};
}

static graphss_i_graphml_text keep(reading *r, const char *text)
{
    graphss_i_graphml_text kept = here(r);
    if (add_text(r, text, strlen(text)))
        kept.length = strlen(text);
    return kept;
}

static const char *local(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon ? colon + 1 : name;
}

static const char *attribute(const char **list, const char *name)
{
    for (size_t i = 0; list[i]; i += 2)
        if (!strcmp(local(list[i]), name))
            return list[i + 1];
    return NULL;
}

static bool is_text(const reading *r, const graphss_i_graphml_text *t, const char *text)
{
    return t->length == strlen(text) && !memcmp(r->out->text + t->start, text, t->length);
}

/* ---- elements ---- */

static void begin_key(reading *r, const char **attributes)
{
    graphss_i_graphml *g = r->out;
    const char *id = attribute(attributes, "id"), *of = attribute(attributes, "for");
    const char *name = attribute(attributes, "attr.name");
    const char *type = attribute(attributes, "attr.type");
    if (!id) {
        refuse(r, "a <key> without an id", "one");
        return;
    }
    if (!room_for_one(r, &g->key, g->n_keys, &g->keys_room, sizeof *g->key))
        return;
    graphss_i_graphml_key key = {0};
    key.id = keep(r, id);
    key.name = name ? keep(r, name) : key.id;
    key.of_nodes = !of || !strcmp(of, "node") || !strcmp(of, "all");
    key.of_edges = !of || !strcmp(of, "edge") || !strcmp(of, "all");
    key.is_bool = type && !strcmp(type, "boolean");
    key.unread = attribute(attributes, "yfiles.type") != NULL;
    g->key[g->n_keys++] = key;
}

static void begin_node(reading *r, const char **attributes)
{
    graphss_i_graphml *g = r->out;
    const char *id = attribute(attributes, "id");
    if (!id || !*id) {
        refuse(r, "a <node> without an id", "one");
        return;
    }
    if (!room_for_one(r, &g->node, g->n_nodes, &g->nodes_room, sizeof *g->node))
        return;
    r->owner[r->depth] = OF_NODE;
    r->number[r->depth] = g->n_nodes;
    g->node[g->n_nodes++] = keep(r, id);
}

static void begin_edge(reading *r, const char **attributes)
{
    graphss_i_graphml *g = r->out;
    const char *from = attribute(attributes, "source"), *to = attribute(attributes, "target");
    if (!from || !to) {
        refuse(r, "an <edge> without source or target", "both");
        return;
    }
    if (!room_for_one(r, &g->edge, g->n_edges, &g->edges_room, sizeof *g->edge))
        return;
    r->owner[r->depth] = OF_EDGE;
    r->number[r->depth] = g->n_edges;
    g->edge[g->n_edges] = (graphss_i_graphml_edge){{keep(r, from), keep(r, to)}};
    g->n_edges++;
}

static void begin_text(reading *r, place at, size_t key)
{
    r->at = at;
    r->key = key;
    r->text_depth = r->depth;
    r->value = here(r);
    r->spoilt = false;
}

static void begin_data(reading *r, const char **attributes)
{
    const graphss_i_graphml *g = r->out;
    const char *id = attribute(attributes, "key");
    size_t k = 0;
    if (r->owner[r->depth - 1] == OF_NOTHING) /* of the graph itself */
        return;
    while (id && k < g->n_keys && !is_text(r, &g->key[k].id, id))
        k++;
    if (!id || k == g->n_keys)
        refuse(r, id ? id : "a <data> without a key", "the id of a <key>");
    else
        begin_text(r, AT_DATA, k);
}

static void XMLCALL on_begin(void *user, const char *name, const char **attributes)
{
    reading *r = user;
    name = local(name);
    if (!r->seen_root && strcmp(name, "graphml") != 0)
        refuse(r, name, "<graphml>");
    r->seen_root = true;
    if (++r->depth >= DEPTH_MOST) {
        refuse(r, "elements in elements without end", "GraphML");
        return;
    }
    r->owner[r->depth] = OF_NOTHING;
    if (r->at != AT_NOTHING) {
        r->spoilt = true;
        return;
    }
    if (!strcmp(name, "key"))
        begin_key(r, attributes);
    else if (!strcmp(name, "node"))
        begin_node(r, attributes);
    else if (!strcmp(name, "edge"))
        begin_edge(r, attributes);
    else if (!strcmp(name, "data"))
        begin_data(r, attributes);
    else if (!strcmp(name, "default") && r->out->n_keys)
        begin_text(r, AT_DEFAULT, r->out->n_keys - 1);
    else if (!strcmp(name, "hyperedge"))
        refuse(r, "a <hyperedge>", "edges between two nodes");
}

static void XMLCALL on_text(void *user, const char *text, int length)
{
    reading *r = user;
    if (r->at != AT_NOTHING && r->depth == r->text_depth && !r->st &&
        add_text(r, text, (size_t)length))
        r->value.length += (size_t)length;
}

/* Without the blanks around it. */
static void trim(const graphss_i_graphml *g, graphss_i_graphml_text *t)
{
    static const char blank[] = " \t\r\n";
    while (t->length && strchr(blank, g->text[t->start]) && g->text[t->start]) {
        t->start++;
        t->length--;
    }
    while (t->length && strchr(blank, g->text[t->start + t->length - 1]))
        t->length--;
}

static void end_text(reading *r)
{
    graphss_i_graphml *g = r->out;
    const owner of = r->owner[r->depth - 1];
    const place at = r->at;
    r->at = AT_NOTHING;
    if (r->spoilt) {
        g->key[r->key].unread = true;
        return;
    }
    if (r->value.length)
        trim(g, &r->value);
    if (at == AT_DEFAULT) {
        g->key[r->key].fallback = r->value;
        return;
    }
    const graphss_i_graphml_cell cell = {r->number[r->depth - 1], r->key, r->value};
    if (of == OF_NODE &&
        room_for_one(r, &g->of_node, g->n_of_node, &g->of_node_room, sizeof *g->of_node))
        g->of_node[g->n_of_node++] = cell;
    if (of == OF_EDGE &&
        room_for_one(r, &g->of_edge, g->n_of_edge, &g->of_edge_room, sizeof *g->of_edge))
        g->of_edge[g->n_of_edge++] = cell;
}

static void XMLCALL on_end(void *user, const char *name)
{
    reading *r = user;
    (void)name;
    if (r->at != AT_NOTHING && r->depth == r->text_depth && !r->st)
        end_text(r);
    r->depth--;
}

static void XMLCALL on_entity(void *user, const XML_Char *name, int is_parameter,
    const XML_Char *value, int length, const XML_Char *base, const XML_Char *system,
    const XML_Char *public, const XML_Char *notation)
{
    (void)is_parameter, (void)value, (void)length, (void)base, (void)system, (void)public,
        (void)notation;
    refuse(user, name, "no entity of the document's own");
}

/* ---- the whole ---- */

static graphss_status parse_all(reading *r, const char *bytes, size_t n)
{
    const size_t most = 1 << 24;
    for (size_t at = 0; !r->st; at += most) {
        const size_t left = n - at, piece = left < most ? left : most;
        const bool last = piece == left;
        if (XML_Parse(r->parser, bytes + at, (int)piece, last) == XML_STATUS_ERROR && !r->st) {
            const enum XML_Error code = XML_GetErrorCode(r->parser);
            r->st = code == XML_ERROR_NO_MEMORY
                        ? graphss_i_nomem(r->ctx, n)
                        : graphss_i_fail(r->ctx, GRAPHSS_ERR_DATA, "%s:%lu:%lu: no XML: %s",
                              r->file, (unsigned long)XML_GetCurrentLineNumber(r->parser),
                              (unsigned long)XML_GetCurrentColumnNumber(r->parser) + 1,
                              XML_ErrorString(code));
        }
        if (last)
            break;
    }
    return r->st;
}

graphss_status graphss_i_graphml_parse(
    graphss_ctx *ctx, graphss_i_graphml *out, const char *file, const char *bytes, size_t n)
{
    graphss_i_graphml made = {0};
    reading r = {.ctx = ctx, .file = file, .out = &made};
    r.parser = XML_ParserCreate(NULL);
    if (!r.parser)
        return graphss_i_nomem(ctx, n);
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, on_begin, on_end);
    XML_SetCharacterDataHandler(r.parser, on_text);
    XML_SetEntityDeclHandler(r.parser, on_entity);
    const graphss_status st = parse_all(&r, bytes, n);
    XML_ParserFree(r.parser);
    if (st) {
        graphss_i_graphml_destroy(ctx, &made);
        return st;
    }
    *out = made;
    return GRAPHSS_OK;
}

void graphss_i_graphml_destroy(graphss_ctx *ctx, graphss_i_graphml *g)
{
    graphss_release(ctx, g->text);
    graphss_release(ctx, g->key);
    graphss_release(ctx, g->node);
    graphss_release(ctx, g->edge);
    graphss_release(ctx, g->of_node);
    graphss_release(ctx, g->of_edge);
    *g = (graphss_i_graphml){0};
}
