/* All views: a new one is a row here. */
#include "tui/app/panel.h"
#include "tui/views/view_classes.h"
#include "tui/views/view_cost.h"
#include "tui/views/view_curves.h"
#include "tui/views/view_decision.h"
#include "tui/views/view_devices.h"
#include "tui/views/view_export.h"
#include "tui/views/view_focus.h"
#include "tui/views/view_graph.h"
#include "tui/views/view_help.h"
#include "tui/views/view_lanes.h"
#include "tui/views/view_log.h"
#include "tui/views/view_members.h"
#include "tui/views/view_memory.h"
#include "tui/views/view_options.h"
#include "tui/views/view_palette.h"
#include "tui/views/view_pin.h"
#include "tui/views/view_pipeline.h"
#include "tui/views/view_plans.h"
#include "tui/views/view_race.h"
#include "tui/views/view_relaxed.h"
#include "tui/views/view_role.h"
#include "tui/views/view_start.h"
#include "tui/views/view_tours.h"
#include "tui/views/view_why.h"

const struct panel_ops *const panel_list[] = {
    &view_start,   &view_graph,        &view_classes,  &view_focus,    &view_lanes,
    &view_reward,  &view_loss,         &view_decision, &view_log,      &view_cost,
    &view_devices, &view_memory_panel, &view_ties,     &view_why,      &view_plans,
    &view_memory,  &view_members,      &view_race,     &view_pipeline, &view_relaxed,
    &view_pin,     &view_backtrack,    &view_options,  &view_role,     &view_tours,
    &view_export,  &view_help,         &view_palette,  NULL,
};
