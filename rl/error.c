#include "rl/error.h"

const char *rl_error_text(int code)
{
    static const char *const texts[] = {
        [-RL_OK] = "no error",
        [-RL_E_MEMORY] = "out of memory",
        [-RL_E_SETTING] = "a learner setting is unknown, out of range or fixed for this learner",
        [-RL_E_SHAPE] = "a size of the environment or a decision is out of range",
        [-RL_E_FORMAT] = "the saved learner is cut short or damaged",
        [-RL_E_VERSION] = "the saved learner was written by a version that is not understood",
        [-RL_E_IO] = "the file of the learner cannot be read or written",
        [-RL_E_DIVERGED] = "the learner diverged: its loss or gradient is not finite",
    };

    if (code > 0 || code < RL_E_DIVERGED)
        return "unknown error";
    return texts[-code];
}
