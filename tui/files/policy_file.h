/* tui/files/policy_file.h - the shipped networks: for the decisions of all models
 * (engine/search/policy.h), and for pipelines (engine/pipeline/pipe_net.h). */
#ifndef AUTOMAP_TUI_FILES_POLICY_FILE_H
#define AUTOMAP_TUI_FILES_POLICY_FILE_H

#include "engine/pipeline/pipe_net.h"
#include "engine/search/policy.h"
#include "rl/scorer.h"

/* Each reads its file once, at the first call, which must not race with others. NULL: missing, or
 * made for other features. */
const struct rl_scorer *policy_shipped(void);
const struct pipe_net *pipe_net_shipped(void);

#endif
