/* file_type.c - what type a file is, for the message when it was given to the wrong option. A
 * guess by its first and last bytes: good enough for a message, never used to read the file.
 */
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

enum { HEAD = 16, TAIL = 1 << 16 };

/* True if the name of an array is among the last bytes of a .npz, where its members are
 * listed. */
static bool lists(const char *tail, size_t size, const char *array)
{
    return memmem(tail, size, array, strlen(array)) != NULL;
}

static cli_file_type kind_of_npz(FILE *file)
{
    char *tail = cli_alloc(TAIL, 1);
    size_t size = 0;
    if (fseek(file, 0, SEEK_END) == 0) {
        const long end = ftell(file);
        if (end > 0 && fseek(file, end > TAIL ? end - TAIL : 0, SEEK_SET) == 0)
            size = fread(tail, 1, TAIL, file);
    }
    cli_file_type kind = CLI_FILE_NPZ;
    if (lists(tail, size, "adj_indptr.npy") || lists(tail, size, "adj_data.npy") ||
        lists(tail, size, "edge_index.npy"))
        kind = CLI_FILE_DATASET;
    else if (lists(tail, size, "probabilities.npy") || lists(tail, size, "posterior.npy"))
        kind = CLI_FILE_LABELS;
    else if (lists(tail, size, "train.npy") && lists(tail, size, "test.npy"))
        kind = CLI_FILE_SPLIT;
    free(tail);
    return kind;
}

cli_file_type cli_file_type_of(const char *path)
{
    static const char flips[] = "# graphss flips ";
    struct stat s = {0};
    unsigned char head[HEAD] = {0};
    if (stat(path, &s) != 0)
        return CLI_FILE_NONE;
    if (S_ISDIR(s.st_mode))
        return CLI_FILE_FOLDER;
    if (!S_ISREG(s.st_mode)) /* to open a pipe would take its bytes away */
        return CLI_FILE_OTHER;
    FILE *file = fopen(path, "re");
    if (!file)
        return CLI_FILE_OTHER;
    const size_t n = fread(head, 1, sizeof head, file);
    cli_file_type kind = CLI_FILE_OTHER;
    if (n == HEAD && memcmp(head, flips, HEAD) == 0)
        kind = CLI_FILE_FLIPS;
    else if (n == HEAD && head[8] == '{' && !head[4] && !head[5] && !head[6] && !head[7])
        kind = CLI_FILE_MODEL; /* safetensors: the length of a header, then the header */
    else if (n == HEAD && memcmp(head, "PK\3\4", 4) == 0)
        kind = kind_of_npz(file);
    fclose(file);
    return kind;
}

/* The name of each type, and the options that want it. */
static const struct {
    const char *what;
    const char *option[4];
} kinds[] = {
    [CLI_FILE_FOLDER] = {"a folder", {"truth", "current"}},
    [CLI_FILE_DATASET] = {"a dataset", {"truth", "current"}},
    [CLI_FILE_MODEL] = {"a model that train wrote", {"model-file"}},
    [CLI_FILE_FLIPS] = {"a list of changes that attack wrote", {"flips", "nodes", "group"}},
    [CLI_FILE_LABELS] = {"a file of labels that predict or recover wrote", {"labels"}},
    [CLI_FILE_SPLIT] = {"a split", {"split"}},
};

/* The first option of the command that wants such a file, or NULL. */
static const char *wanted_by(const cli_command *command, cli_file_type kind)
{
    for (size_t i = 0; kinds[kind].option[i]; i++)
        for (int g = 0; g < CLI_MAX_GROUPS && command->group[g].table; g++)
            for (const graphss_option *row = command->group[g].table(); row->name; row++)
                if (strcmp(row->name, kinds[kind].option[i]) == 0)
                    return row->name;
    return NULL;
}

graphss_status cli_wrong_file(
    cli *app, const char *path, cli_file_type found, const char *wanted)
{
    const char *option = wanted_by(app->command, found);
    const bool data = found == CLI_FILE_DATASET || found == CLI_FILE_FOLDER;
    const bool argument =
        data && strstr(app->command->arguments, "DATASET ") == app->command->arguments;
    if (argument)
        return cli_fail(app, GRAPHSS_ERR_DATA,
            "%s is %s, want %s: a dataset is given without an option, right after "
            "'%s'",
            path, kinds[found].what, wanted, app->command->name);
    if (option)
        return cli_fail(app, GRAPHSS_ERR_DATA, "%s is %s, want %s: give it with --%s instead",
            path, kinds[found].what, wanted, option);
    return cli_fail(
        app, GRAPHSS_ERR_DATA, "%s is %s, want %s", path, kinds[found].what, wanted);
}
