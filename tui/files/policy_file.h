/* tui/files/policy_file.h - the shipped network of all models (engine/search/policy.h). */
#ifndef AUTOMAP_TUI_FILES_POLICY_FILE_H
#define AUTOMAP_TUI_FILES_POLICY_FILE_H

#include "engine/search/policy.h"
#include "rl/scorer.h"

/* Read once, at the first call, from a single thread; NULL: it is not there, or not of this
 * version's features. */
const struct rl_scorer *policy_shipped(void);

#endif
