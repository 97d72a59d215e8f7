/* manual.c - the man page and the shell completions, printed by the program itself from
 * the tables that parse its arguments, so that they cannot disagree. The build runs
 * `graphss --man` and `graphss --completion SHELL`. */
#include <ctype.h>
#include <string.h>

#include "cli.h"

/* Text with roff's special characters defused. */
static void roff(FILE *out, const char *text)
{
    bool fresh = true;
    for (; *text; text++) {
        if (fresh && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        fresh = *text == '\n';
        if (*text == '-')
            fputs("\\-", out);
        else if (*text == '\\')
            fputs("\\e", out);
        else
            fputc(*text, out);
    }
}

static void roff_group(FILE *out, const cli_command *command, int g)
{
    const cli_group *group = g < 0 ? &cli_global_group : &command->group[g];
    for (const graphss_option *row = group->table(); row->name; row++) {
        if (!row->help || cli_row_hidden(command, g, row))
            continue;
        fputs(".TP\n", out);
        if (row->letter)
            fprintf(out, "\\fB\\-%c\\fR, ", row->letter);
        fputs("\\fB\\-\\-", out);
        roff(out, row->name);
        fputs("\\fR", out);
        if (row->type != GRAPHSS_OPTION_BOOL) {
            fputs(" \\fI", out);
            roff(out, row->value ? row->value : "VALUE");
            fputs("\\fR", out);
        }
        fputc('\n', out);
        roff(out, row->help);
        for (size_t i = 0; cli_value_at(group, row, i); i++) {
            fputs(i ? ", " : "; one of ", out);
            roff(out, cli_value_at(group, row, i));
        }
        fputs(".\n", out);
    }
}

void cli_manual(FILE *out)
{
    fprintf(out, ".TH GRAPHSS 1 \"\" \"graphss %s\" \"User Commands\"\n", graphss_version());
    fputs(".SH NAME\ngraphss \\- node classifiers on graphs that change\n"
          ".SH SYNOPSIS\n.B graphss\n[\\fIglobal options\\fR] \\fICOMMAND\\fR "
          "[\\fIarguments\\fR]\n"
          ".SH DESCRIPTION\nTrains node classifiers (",
        out);
    for (size_t i = 0; graphss_model_name(i); i++)
        fprintf(out, "%s%s", i ? ", " : "", graphss_model_name(i));
    fputs(") on graphs and applies them. Results go to standard output, messages to standard "
          "error.\n.SH COMMANDS\n",
        out);
    for (size_t i = 0; cli_command_at(i); i++) {
        const cli_command *command = cli_command_at(i);
        fprintf(out, ".SS \"graphss %s ", command->name);
        roff(out, command->arguments);
        fputs("\"\n", out);
        roff(out, command->summary);
        fputs(".\n", out);
        if (command->about) {
            fputs(".PP\n", out);
            roff(out, command->about);
        }
        for (int g = 0; g < CLI_MAX_GROUPS && command->group[g].table; g++)
            roff_group(out, command, g);
    }
    fputs(".SH GLOBAL OPTIONS\nAccepted before or after the command.\n", out);
    roff_group(out, NULL, -1);
    fputs(".SH EXIT STATUS\n"
          ".TP\n.B 0\nDone.\n.TP\n.B 1\nThe command alert raised an alert.\n.TP\n.B 2\nWrong "
          "usage.\n.TP\n.B 3\nBad input data.\n"
          ".TP\n.B 4\nOut of memory or disk, or output failed.\n.TP\n.B 5\nNetwork or "
          "checksum.\n"
          ".TP\n.B 70\nA bug of ours.\n.TP\n.B 130\nInterrupted.\n"
          ".SH ENVIRONMENT\n"
          ".TP\n.B GRAPHSS_DATA\nFolders with datasets, separated by colons.\n"
          ".TP\n.B XDG_DATA_HOME\nDatasets are stored in its folder graphss.\n"
          ".TP\n.B GRAPHSS_KERNELS\nThe instruction set to compute with: generic, avx2 or "
          "avx512. Without it, or where the processor lacks it, the fastest.\n"
          ".TP\n.B NO_COLOR\nNo colours when set and not empty.\n"
          ".SH EXAMPLES\n.nf\n",
        out);
    for (size_t i = 0; cli_command_at(i); i++)
        for (const char *line = cli_command_at(i)->examples; *line;) {
            const size_t length = strcspn(line, "\n");
            char one[256];
            snprintf(one, sizeof one, "graphss %.*s\n", (int)length, line);
            roff(out, one);
            line += length + (line[length] == '\n');
        }
    fputs(".fi\n", out);
}

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

/* --name words of a group; a separator goes before each. */
static void words(FILE *out, const cli_command *command, int g)
{
    const cli_group *group = g < 0 ? &cli_global_group : &command->group[g];
    for (const graphss_option *row = group->table(); row->name; row++)
        if (row->help && !cli_row_hidden(command, g, row))
            fprintf(out, " --%s", row->name);
}

/* The values that a shell may offer, separated by spaces. */
static void values(FILE *out, const cli_group *group, const graphss_option *row)
{
    for (size_t i = 0; cli_value_at(group, row, i); i++)
        fprintf(out, "%s%s", i ? " " : "", cli_value_at(group, row, i));
}

/* Shell function: case "$previous" for options with a fixed set of values. */
static void value_cases(FILE *out, const cli_command *command)
{
    for (int g = 0; g < CLI_MAX_GROUPS && command->group[g].table; g++) {
        const cli_group *group = &command->group[g];
        for (const graphss_option *row = group->table(); row->name; row++) {
            if (!cli_value_at(group, row, 0) || !row->help || cli_row_hidden(command, g, row))
                continue;
            fprintf(out, "    %s:--%s) values='", command->name, row->name);
            values(out, group, row);
            fputs("' ;;\n", out);
        }
    }
}

/* bash; zsh runs the same through bashcompinit. */
static void bash_completion(FILE *out)
{
    fputs("# Completion of graphss, made by: graphss --completion bash\n_graphss() {\n"
          "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
          "  local command= words= values= word\n"
          "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
          "    case $word in ",
        out);
    for (size_t i = 0; cli_command_at(i); i++)
        fprintf(out, "%s%s", i ? "|" : "", cli_command_at(i)->name);
    fputs(") command=$word; break ;; esac\n  done\n  case $command in\n    '') words='", out);
    for (size_t i = 0; cli_command_at(i); i++)
        fprintf(out, "%s%s", i ? " " : "", cli_command_at(i)->name);
    fputs("' ;;\n", out);
    for (size_t i = 0; cli_command_at(i); i++) {
        const cli_command *command = cli_command_at(i);
        if (!command->group[0].table)
            continue;
        fprintf(out, "    %s) words='", command->name);
        for (int g = 0; g < CLI_MAX_GROUPS && command->group[g].table; g++)
            words(out, command, g);
        fputs("' ;;\n", out);
    }
    fputs("  esac\n  case $command:$previous in\n", out);
    for (size_t i = 0; cli_command_at(i); i++)
        value_cases(out, cli_command_at(i));
    fputs("  esac\n  if [[ -n $values ]]; then\n"
          "    COMPREPLY=($(compgen -W \"$values\" -- \"$current\"))\n"
          "  elif [[ $current == -* || -z $command ]]; then\n"
          "    COMPREPLY=($(compgen -W \"$words",
        out);
    words(out, NULL, -1);
    fputs("\" -- \"$current\"))\n  else\n"
          "    COMPREPLY=($(compgen -f -- \"$current\"))\n  fi\n}\n"
          "complete -o filenames -F _graphss graphss\n",
        out);
}

static void zsh_completion(FILE *out)
{
    fputs("#compdef graphss\n# Completion of graphss, made by: graphss --completion zsh\n"
          "autoload -U +X bashcompinit && bashcompinit\n",
        out);
    bash_completion(out);
}

/* A word in single quotes, as fish reads it. */
static void fish_text(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('\'', out);
}

static void fish_group(FILE *out, const cli_command *command, int g)
{
    const cli_group *group = g < 0 ? &cli_global_group : &command->group[g];
    for (const graphss_option *row = group->table(); row->name; row++) {
        if (!row->help || cli_row_hidden(command, g, row))
            continue;
        fputs("complete -c graphss", out);
        if (command)
            fprintf(out, " -n '__fish_seen_subcommand_from %s'", command->name);
        fprintf(out, " -l %s", row->name);
        if (row->letter)
            fprintf(out, " -s %c", row->letter);
        if (cli_value_at(group, row, 0)) {
            fputs(" -x -a '", out);
            values(out, group, row);
            fputc('\'', out);
        } else if (row->type != GRAPHSS_OPTION_BOOL) {
            fputs(" -r", out);
        }
        fputs(" -d ", out);
        fish_text(out, row->help);
        fputc('\n', out);
    }
}

static void fish_completion(FILE *out)
{
    fputs("# Completion of graphss, made by: graphss --completion fish\n", out);
    for (size_t i = 0; cli_command_at(i); i++) {
        const cli_command *command = cli_command_at(i);
        fprintf(
            out, "complete -c graphss -n __fish_use_subcommand -f -a %s -d ", command->name);
        fish_text(out, command->summary);
        fputc('\n', out);
        for (int g = 0; g < CLI_MAX_GROUPS && command->group[g].table; g++)
            fish_group(out, command, g);
    }
    fish_group(out, NULL, -1);
}

graphss_status cli_completion(cli *app, FILE *out, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        bash_completion(out);
    else if (strcmp(shell, "zsh") == 0)
        zsh_completion(out);
    else if (strcmp(shell, "fish") == 0)
        fish_completion(out);
    else
        return cli_usage(app, "--completion: found '%s', want %s, %s or %s", shell, shells[0],
            shells[1], shells[2]);
    return GRAPHSS_OK;
}
