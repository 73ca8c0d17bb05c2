#include "tui/commands/commands.h"

#include <string.h>

const struct command commands[] = {
    {"bench", "WHAT [ARGUMENT ...]", "measure how fast the parts are", cmd_bench},
    {"cluster", "[FILE] [--devices N] [--mesh AxB] [--set PATH=VALUE] [--json]",
     "show a cluster and what collectives cost on it", cmd_cluster},
    {"convert", "IN OUT [--no-metadata] [--module N] [--max-bytes N]",
     "read HLO in any form, write it in another", cmd_convert},
    {"inspect", "FILE [--vars FILE] [--all] [--json]",
     "show what a model file holds: parameters, phases, layers, cost", cmd_inspect},
    {"explore", "[MODEL [CLUSTER]] [--resume JOURNAL] [--theme NAME] [--ascii]",
     "open the explorer; automap MODEL does the same", cmd_explore},
    {"export", "MODEL [CLUSTER] --plan FILE [--format hlo|jax|json|trace] [-o FILE]",
     "write a plan as annotated HLO, for JAX, or as JSON", cmd_export},
    {"screen", "[MODEL [CLUSTER]] [--size WxH] [--keys KEYS] [--svg]",
     "print one screen of the explorer as text or as a picture", cmd_screen},
    {"tour", "[NAME] [--text]", "play a tour in the explorer; without a name, list them", cmd_tour},
    {"explain", "MODEL [CLUSTER] [--plan FILE | --optimum] WHAT [WHAT]",
     "why a dim is split or not, where a collective comes from", cmd_explain},
    {"manual", "man|bash|zsh|fish", "print the man page, or completions for a shell", cmd_manual},
    {"place", "INPUT [--objective throughput|latency] [--contiguous on|off] [--algo NAME] [--json]",
     "a device for every operator of a graph, proven or with its gap", cmd_place},
    {"plan", "MODEL [CLUSTER] [--set NAME:DIM=0|1 ...] [--optimum] [--json] [-o FILE]",
     "one plan from given decisions, or the proven best", cmd_plan},
    {"replay", "JOURNAL [--json] [--plan FILE]", "do again what a search's journal holds",
     cmd_replay},
    {"search",
     "MODEL [CLUSTER] [--kind opp|adp|pp|all] [--algo NAME] [--pin NAME:DIM=0|1] [--json]",
     "search for the best distribution: a learner, or its opponents", cmd_search},
    {"teach", "GAME [--seeds N] [--decisions N] [--SETTING VALUE] [--no-SWITCH]",
     "watch the learner learn a game with a known answer", cmd_teach},
    {0},
};

const struct command *command_find(const char *name)
{
    for (const struct command *c = commands; c->name; c++) {
        if (!strcmp(c->name, name))
            return c;
    }
    return NULL;
}
