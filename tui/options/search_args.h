/* tui/options/search_args.h - the command line of `automap search`. */
#ifndef AUTOMAP_TUI_OPTIONS_SEARCH_ARGS_H
#define AUTOMAP_TUI_OPTIONS_SEARCH_ARGS_H

#include "engine/hybrid/hybrid_pins.h"
#include "engine/hybrid/hybrid_search.h"
#include "engine/live/command.h"
#include "engine/live/journal.h"
#include "engine/search/search.h"
#include "tui/options/option.h"
#include "tui/options/pipeline_args.h"
#include "tui/options/problem_args.h"

enum { SEARCH_SEEDS_MOST = 1000 };

/* A timed command: after `at` steps, or after `at` episodes. */
struct timed_command {
    uint64_t at;
    const char *file; /* where it comes from; NULL: the command line */
    uint32_t line;    /* there, from 1 */
    struct live_command command;
};

struct timed_list {
    struct timed_command *items;
    size_t count, room;
};

struct search_args {
    struct problem_args problem;
    struct search_options search;
    struct pipeline_args pipeline; /* --kind pp, and what --kind all compares with */
    const char *algorithm;         /* as given; NULL: not given */
    const char *given[SORT_COUNT]; /* the last option of each sort, by name; NULL: none */
    bool race, json, quiet;
    bool hybrid;                            /* --kind hybrid */
    enum hybrid_algorithm hybrid_algorithm; /* --algo of hybrid plans */
    bool uniform;                           /* --uniform */
    bool relaxed_stages;                    /* --relaxed-stages */
    bool recompute_values;                  /* --recompute-values */
    bool whole_layers;                      /* --whole-layers */
    uint32_t tp, dp;                        /* of its stages; 0: any */
    uint32_t chunks;                        /* that each group of devices has; 0: any */
    bool price_limits;
    struct hybrid_wish hybrid_pins[HYBRID_PINS_MOST]; /* --cut, --keep, --stage */
    uint32_t hybrid_pin_count;
    bool is_schedule_given; /* --schedule */
    bool is_zero_given;     /* --zero */
    bool is_zero_any;       /* auto */
    bool state_given;       /* --state */
    bool relaxed;           /* the decisions found are completed by a relaxed plan */
    uint64_t episodes;      /* 0: no limit */
    double seconds;         /* 0: no limit */
    uint32_t seeds;
    struct timed_command *pins; /* at the beginning */
    size_t pin_count, pin_room;
    struct timed_list by_step, by_episode; /* of the script, each in order of `at` */
    const char *plan, *curves;
    bool force;
    const char *journal; /* path of the journal to write; NULL: an automatic one, below */
    bool no_journal;
    const char *resume;            /* path of the journal to continue */
    bool explored;                 /* the journal is one of the explorer */
    bool replay;                   /* stop where the journal ends, write nothing to it */
    const struct journal_log *log; /* what it holds */
    struct word_list options;      /* those needed to resume, without the problem's */
};

extern const struct option_set search_option_sets[]; /* what `automap search` takes */

/* EXIT_OK, or another exit code after a message on stderr. */
int search_args_parse(int argc, char **argv, struct search_args *a);
/* The whole command line as a journal keeps it: "search", the problem, the options. */
void search_args_words(const struct search_args *a, struct word_list *out);
/* --kind all with step time as the reward and nothing pinned: the kinds can be compared. */
bool search_args_compare(const struct search_args *a);
void search_args_release(struct search_args *a);

#endif
