/* pickle_machine.c - pools and stack of the unpickler. */
#include "data/formats/pickle_machine.h"
#include <stdarg.h>

graphss_status graphss_i_pickle_refuse(machine *m, const char *format, ...)
{
    char text[256];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return graphss_i_fail(
        m->ctx, GRAPHSS_ERR_DATA, "%s: byte %zu: %s", m->file, m->op_at, text);
}

graphss_status graphss_i_pickle_reserve(machine *m, pool *p, size_t count, size_t size)
{
    if (count <= p->room)
        return GRAPHSS_OK;
    size_t room = p->room ? p->room : 64;
    while (room < count)
        room *= 2; /* count is at most n + 1 < 2^32 */
    if ((uint64_t)(room - p->room) * size > m->max - m->used)
        return graphss_i_fail(m->ctx, GRAPHSS_ERR_LIMIT,
            "%s: byte %zu: its values take more than the %llu bytes allowed", m->file,
            m->op_at, (unsigned long long)m->max);
    void *block = graphss_i_grow(m->ctx, p->block, p->count, room, size);
    if (!block)
        return GRAPHSS_ERR_NOMEM;
    m->used += (uint64_t)(room - p->room) * size;
    p->block = block;
    p->room = room;
    return GRAPHSS_OK;
}

graphss_status graphss_i_pickle_push_ref(machine *m, ref r)
{
    const graphss_status st =
        graphss_i_pickle_reserve(m, &m->stack, m->stack.count + 1, sizeof r);
    if (st)
        return st;
    *stack_at(m, m->stack.count++) = r;
    return GRAPHSS_OK;
}

graphss_status graphss_i_pickle_push(machine *m, value v)
{
    const graphss_status st =
        graphss_i_pickle_reserve(m, &m->values, m->values.count + 1, sizeof v);
    if (st)
        return st;
    const ref r = (ref)m->values.count++;
    *value_at(m, r) = v;
    return graphss_i_pickle_push_ref(m, r);
}

graphss_status graphss_i_pickle_append(machine *m, ref container, ref item)
{
    const graphss_status st =
        graphss_i_pickle_reserve(m, &m->edges, m->edges.count + 1, sizeof(link_in_chain));
    if (st)
        return st;
    const uint32_t i = (uint32_t)m->edges.count++;
    *edge_at(m, i) = (link_in_chain){item, 0};
    value *v = value_at(m, container);
    if (v->as.items.last)
        edge_at(m, v->as.items.last)->next = i;
    else
        v->as.items.first = i;
    v->as.items.last = i;
    v->as.items.count++;
    return GRAPHSS_OK;
}

size_t graphss_i_pickle_floor(const machine *m)
{
    return m->marks.count ? ((size_t *)m->marks.block)[m->marks.count - 1] : 0;
}

graphss_status graphss_i_pickle_need(machine *m, size_t count)
{
    if (m->stack.count - graphss_i_pickle_floor(m) >= count)
        return GRAPHSS_OK;
    return graphss_i_pickle_refuse(m, "opcode 0x%02x wants %zu values on the stack, found %zu",
        (unsigned char)m->bytes[m->op_at], count, m->stack.count - graphss_i_pickle_floor(m));
}
