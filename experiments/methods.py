"""What experiments/label_noise.py and experiments/metattack.py share: run `graphss recover`, keep accuracy
and CPU seconds of each (method, row), print a table. Not a program."""
import json
import resource
import statistics
import subprocess
import sys

# What the authors' programs ran with: two layers of 16, half the units dropped, features as
# they are.
PAPER_GCN = ("--model gcn --layers 2 --hidden 16 --dropout 0.5 --weight-decay 5e-4 "
             "--learning-rate 0.01 --epochs 200 --no-row-normalise --no-unit-scale").split()


def call(program, *arguments):
    """What a command says, as JSON; ends the program where it fails."""
    done = subprocess.run([program, "--json", "--threads", "1", *arguments],
                          stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit("graphss %s: %s" % (" ".join(arguments), done.stdout.decode()))
    return json.loads(done.stdout)


def own_and_other_arguments():
    """The command line before and behind `--`."""
    own, other = sys.argv[1:], []
    if "--" in own:
        own, other = own[:own.index("--")], own[own.index("--") + 1:]
    return own, other


def measure(program, graph, split, model, out, method, mode, seed, options, part="test"):
    """Accuracy in per cent of a method on a graph, and CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call(program, "recover", "--model-file", model, "--current", graph, "--split", split,
         "--method", method, "--mode", mode, "--seed", str(seed), "-o", out, *options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found = call(program, "evaluate", out, "--truth", graph, "--split", split, "--part", part)
    print(".", end="", file=sys.stderr, flush=True)
    return 100 * found["accuracy"], seconds


def mean_text(values):
    """"82.1 +- 0.4", or the number where there is one."""
    text = "%.1f" % statistics.mean(values)
    return text + " +- %.1f" % statistics.stdev(values) if len(values) > 1 else text


def print_head(name, methods):
    print(file=sys.stderr)
    print("| %s | %s |" % (name, " | ".join(methods)))
    print("|---" * (len(methods) + 1) + "|")


def print_row(name, cells):
    print("| %s | %s |" % (name, " | ".join(cells)))
