/* terminal.c - what the terminal can show, the progress line, safe text. It is examined once
 * at the start. draw.c has the pictures. */
#include "cli.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

static bool set_and_not_empty(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

void terminal_init(terminal *term, bool quiet, bool no_color)
{
    /* Only the letters follow the user's locale; numbers keep their point. */
    setlocale(LC_CTYPE, "");
    const char *kind = getenv("TERM");
    const bool dumb = !kind || strcmp(kind, "dumb") == 0;
    const bool colours = !no_color && !set_and_not_empty("NO_COLOR") && !dumb;

    *term = (terminal){0};
    term->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    term->progress = !quiet && !dumb && isatty(STDERR_FILENO);
    term->colour_out = colours && isatty(STDOUT_FILENO);
    term->colour_err = colours && isatty(STDERR_FILENO);
}

int terminal_width(int fd)
{
    struct winsize size = {0};
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

const char *terminal_begin(const terminal *term, FILE *out, terminal_style style)
{
    static const char *const code[] = {
        "\033[1m", "\033[2m", "\033[31m", "\033[32m", "\033[33m", "\033[36m"};
    const bool colour = out == stdout ? term->colour_out : out == stderr && term->colour_err;
    return colour ? code[style] : "";
}

const char *terminal_end(const terminal *term, FILE *out)
{
    return *terminal_begin(term, out, TERMINAL_BOLD) ? "\033[0m" : "";
}

enum { ESCAPED = 12 }; /* most characters of an escape, and its end */

/* Does it act on the screen, or change the order in which others are shown? */
static bool is_hidden(wchar_t c)
{
    return c <= 0x9f || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* The next character of text: its bytes and columns. instead is shown in its place, "" if the
 * character itself is shown. */
static size_t next_character(
    const terminal *term, const char *text, int *columns, char instead[ESCAPED])
{
    const unsigned char c = (unsigned char)text[0];
    *columns = 1;
    *instead = '\0';
    if (c >= 0x20 && c < 0x7f)
        return 1;
    if (c >= 0x80 && !term->utf8) {
        memcpy(instead, "?", sizeof "?");
        return 1;
    }
    wchar_t wide = 0;
    mbstate_t state;
    memset(&state, 0, sizeof state);
    const size_t bytes = c < 0x80 ? 1 : mbrtowc(&wide, text, strlen(text), &state);
    const bool broken = bytes == 0 || bytes > 6;
    if (c < 0x80 || broken)
        *columns = snprintf(instead, ESCAPED, "\\x%02x", c);
    else if (wcwidth(wide) < 0 || is_hidden(wide))
        *columns = snprintf(
            instead, ESCAPED, wide > 0xffff ? "\\U%06lx" : "\\u%04lx", (unsigned long)wide);
    else
        *columns = wcwidth(wide);
    return broken ? 1 : bytes;
}

size_t terminal_columns(const terminal *term, const char *text)
{
    size_t total = 0;
    while (*text) {
        int columns = 0;
        char instead[ESCAPED];
        text += next_character(term, text, &columns, instead);
        total += (size_t)columns;
    }
    return total;
}

size_t terminal_text(const terminal *term, FILE *out, const char *text, size_t width)
{
    const bool cut = width > 0 && terminal_columns(term, text) > width;
    const size_t room = cut ? (width > 2 ? width - 2 : 0) : SIZE_MAX;
    size_t total = 0;
    while (*text) {
        int columns = 0;
        char instead[ESCAPED];
        const size_t bytes = next_character(term, text, &columns, instead);
        if (total + (size_t)columns > room)
            break;
        if (*instead)
            fputs(instead, out);
        else
            fwrite(text, 1, bytes, out);
        total += (size_t)columns;
        text += bytes;
    }
    for (; cut && total < width; total++)
        fputc('.', out);
    return total;
}

void terminal_clear(terminal *term)
{
    if (!term->drawn)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    term->drawn = false;
}

void terminal_progress(
    terminal *term, const char *stage, size_t done, size_t total, const char *note)
{
    if (!term->progress)
        return;
    const double t = cli_seconds();
    const bool fresh =
        !term->stage || strcmp(term->stage, stage) != 0 || done < term->stage_done;
    const bool last = total > 0 && done >= total;
    term->stage_done = done;
    if (fresh) {
        term->stage = stage;
        term->stage_began = t;
        term->stage_first = done;
    } else if (!last && t - term->last_drawn < 0.1) {
        return;
    }
    term->last_drawn = t;

    /* A narrow screen gives up the bar before the note. */
    enum { WIDEST = 20 };
    const int width = terminal_width(STDERR_FILENO);
    const int bar_width = width >= 75 ? WIDEST : width >= 65 ? WIDEST / 2 : 0;
    char line[160] = "";
    int used = snprintf(line, sizeof line, "%s ", stage);
    if (total > 0) {
        const double share = fmin(1.0, (double)done / (double)total);
        const int filled = (int)(share * bar_width);
        char bar[WIDEST + 4] = "";
        if (bar_width) {
            memset(bar, '-', sizeof bar);
            memset(bar + 1, '#', (size_t)filled);
            bar[0] = '[';
            memcpy(bar + bar_width + 1, "] ", sizeof "] ");
        }
        used +=
            snprintf(line + used, sizeof line - (size_t)used, "%s%3.0f %%", bar, 100 * share);
        const double spent = t - term->stage_began;
        if (done > term->stage_first && !last && spent > 0.5) {
            const long left =
                lround(spent * (double)(total - done) / (double)(done - term->stage_first));
            used += snprintf(line + used, sizeof line - (size_t)used, "  %ld:%02ld left",
                left / 60, left % 60);
        }
    } else {
        used += snprintf(line + used, sizeof line - (size_t)used, "%zu", done);
    }
    if (note)
        snprintf(line + used, sizeof line - (size_t)used, "  %s", note);

    fputs("\r", stderr);
    terminal_text(term, stderr, line, width > 1 ? (size_t)width - 1 : 1);
    fputs("\033[K", stderr);
    fflush(stderr);
    term->drawn = true;
}
