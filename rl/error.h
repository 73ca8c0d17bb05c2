/* rl/error.h - what a function of this room returns: 0, or one of these.
 *
 * The room depends on no other, so it has its own codes and messages. A call that fails changes
 * nothing, unless its comment says so. */
#ifndef AUTOMAP_RL_ERROR_H
#define AUTOMAP_RL_ERROR_H

enum rl_error {
    RL_OK = 0,
    RL_E_MEMORY = -1,   /* an allocation failed */
    RL_E_SETTING = -2,  /* a setting is out of its range, unknown, or fixed for this agent */
    RL_E_SHAPE = -3,    /* sizes out of range or not matching; a decision that is not legal */
    RL_E_FORMAT = -4,   /* saved bytes: cut short, damaged, or not a learner */
    RL_E_VERSION = -5,  /* saved bytes: written by an unknown version */
    RL_E_IO = -6,       /* a file could not be read or written; errno says why */
    RL_E_DIVERGED = -7, /* loss or gradient is not finite; the parameters stay as they were */
};

const char *rl_error_text(int code); /* one sentence, lower case, no full stop */

#define RL_MUST_CHECK __attribute__((warn_unused_result))

#endif
