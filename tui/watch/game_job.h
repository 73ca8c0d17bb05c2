/* tui/watch/game_job.h - the learner at a game of rl/games.h, in a thread of its own: run, paused,
 * step by step, played by hand, and begun again with one of its parts switched, beside the run
 * before. The same settings and steps give the same figures as `automap teach`. */
#ifndef AUTOMAP_TUI_WATCH_GAME_JOB_H
#define AUTOMAP_TUI_WATCH_GAME_JOB_H

#include "hlo/support/err.h"
#include "rl/games.h"
#include "rl/settings.h"
#include "rl/taught.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    GAME_POINTS = 512,
    GAME_SEEN = 64,
    GAME_ANGLES = 36,
    GAME_SPINS = 8,
    GAME_LAST = 100,
    GAME_UNDOS = 32, /* settings kept to go back to */
};

/* Rewards of episodes: a point every so many decisions. */
struct game_run {
    double x[GAME_POINTS], mean[GAME_POINTS]; /* decisions; mean of the last GAME_LAST episodes */
    uint32_t count, every;
    double best;        /* largest mean of GAME_LAST; NAN: none yet */
    uint64_t decisions; /* it came to */
    struct rl_settings settings;
};

struct game_look {
    const struct rl_game *game;
    struct game_run now, before; /* before.count 0: there is none */
    uint64_t decisions, episodes, updates;
    uint32_t length;         /* decisions of this episode */
    double reward_sum, mean; /* of it so far; of the last GAME_LAST; NAN */
    double last,
        last_forced; /* rewards of the last episode, and of the last with a hand in it; NAN */
    double epsilon;
    uint32_t inputs, actions;
    float seen[GAME_SEEN]; /* the first of what is observed now */
    bool has_lesson, running, failed;
    bool busy;   /* something is being done: look again */
    double pace; /* decisions a second; 0: full speed */
    uint32_t undoable, redoable;
    struct rl_lesson lesson;
    /* CartPole's best action by angle (columns, -12 to 12 degrees) and angular speed (rows, -2 to
     * 2), in the middle, at rest */
    uint8_t push[GAME_SPINS][GAME_ANGLES];
};

struct game_job;

/* The game at its first position, paused. `in_thread` false: what is asked for is done at once. */
int game_job_new(const struct rl_game *game, bool in_thread, struct game_job **out,
                 struct err *e) MUST_CHECK;
void game_job_free(struct game_job *j); /* stops and joins; NULL ok */
void game_job_look(struct game_job *j, struct game_look *out);
void game_job_run(struct game_job *j, bool run); /* goes on, pauses */
void game_job_pace(struct game_job *j, double pace);
/* So many decisions, then it pauses. */
void game_job_step(struct game_job *j, uint32_t decisions);
void game_job_episode(struct game_job *j);                /* to the end of an episode */
void game_job_force(struct game_job *j, uint32_t action); /* a decision by hand */
/* From the first position again, with other settings: it runs if it ran, else makes as many
 * decisions as there were. The run so far becomes the one before. */
int game_job_again(struct game_job *j, const struct rl_settings *s, struct err *e) MUST_CHECK;
/* The same with the settings before the last ones (by -1), or those undone last (by 1). False:
 * there are none. The settings left and taken go to `from` and `to`. */
bool game_job_undo(struct game_job *j, int by, struct rl_settings *from, struct rl_settings *to);

#endif
