/* tui/views/view_pipeline.h - V i: the model as a pipeline: stages, who does what when, where it is
 * cut.
 */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_PIPELINE_H
#define AUTOMAP_TUI_VIEWS_VIEW_PIPELINE_H

#include "tui/app/panel.h"

extern const struct panel_ops view_pipeline;

#endif
