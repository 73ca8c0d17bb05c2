/* tui/files/policy_file.h - the shipped network for all models (engine/search/policy.h). */
#ifndef AUTOMAP_TUI_FILES_POLICY_FILE_H
#define AUTOMAP_TUI_FILES_POLICY_FILE_H

#include "engine/search/policy.h"
#include "rl/scorer.h"

/* Reads it once, at the first call, which must not race with others. NULL: missing, or made for
 * other features. */
const struct rl_scorer *policy_shipped(void);

#endif
