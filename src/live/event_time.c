/* event_time.c - times and durations as text. UTC only; leap seconds do not exist, as in
 * POSIX. */
#include "base/base.h"
#include <graphss/events.h>
#include <math.h>
#include <string.h>

/* Days since 1970-01-01 of a date in the Gregorian calendar (years are counted from March, so
 * that the leap day is the last). */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    const int64_t era = year / 400, of_era = year - era * 400;
    const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool digits(int64_t *out, const char *text, size_t n)
{
    *out = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *out = 10 * *out + (text[i] - '0');
    }
    return true;
}

static int64_t days_in(int64_t year, int64_t month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

bool graphss_time_parse(double *seconds, const char *text, size_t n)
{
    enum { PLAIN = 20 }; /* 2026-11-18T04:00:00Z */
    int64_t year, month, day, hour, minute, second, fraction = 0;
    if (n < PLAIN || n > PLAIN + 10 || text[n - 1] != 'Z' || text[4] != '-' ||
        text[7] != '-' || (text[10] != 'T' && text[10] != ' ') || text[13] != ':' ||
        text[16] != ':' || !digits(&year, text, 4) || !digits(&month, text + 5, 2) ||
        !digits(&day, text + 8, 2) || !digits(&hour, text + 11, 2) ||
        !digits(&minute, text + 14, 2) || !digits(&second, text + 17, 2))
        return false;
    if (n > PLAIN &&
        (text[19] != '.' || n < PLAIN + 2 || !digits(&fraction, text + PLAIN, n - PLAIN - 1)))
        return false;
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > days_in(year, month) ||
        hour > 23 || minute > 59 || second > 59)
        return false;
    double part = (double)fraction;
    for (size_t i = PLAIN + 1; i < n; i++)
        part /= 10;
    *seconds =
        (double)(days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second) +
        part;
    return true;
}

void graphss_time_text(char *out, double seconds)
{
    out[0] = 0;
    if (!(seconds >= 0) || seconds >= 253402300800.0) /* the year 10000 */
        return;
    const int64_t whole = (int64_t)floor(seconds), left = whole % 86400;
    int64_t days = whole / 86400 + 719468;
    const int64_t era = days / 146097, of_era = days - era * 146097;
    const int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    days = of_era - (365 * y + y / 4 - y / 100);
    const int64_t m = (5 * days + 2) / 153, day = days - (153 * m + 2) / 5 + 1;
    const int64_t month = m < 10 ? m + 3 : m - 9, year = y + era * 400 + (month <= 2);
    snprintf(out, GRAPHSS_TIME_TEXT, "%04d-%02d-%02dT%02d:%02d:%02dZ",
        (int)((unsigned)year % 10000), (int)((unsigned)month % 100),
        (int)((unsigned)day % 100), (int)((unsigned)left / 3600 % 24),
        (int)((unsigned)left / 60 % 60), (int)((unsigned)left % 60));
}

bool graphss_duration_parse(double *seconds, const char *text)
{
    static const struct {
        char letter;
        double seconds;
    } unit[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
    size_t n = text ? strlen(text) : 0;
    double factor = 1, count;
    for (size_t i = 0; i < sizeof unit / sizeof *unit && n; i++)
        if (text[n - 1] == unit[i].letter) {
            factor = unit[i].seconds;
            n--;
            break;
        }
    if (n == 0 || !graphss_i_parse_double(&count, text, n) || !(count >= 0) ||
        !(count <= 1e12))
        return false;
    *seconds = count * factor;
    return true;
}
