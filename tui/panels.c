/* All views: a new one is a row here. */
#include "tui/panel.h"
#include "tui/view_classes.h"
#include "tui/view_cost.h"
#include "tui/view_curves.h"
#include "tui/view_decision.h"
#include "tui/view_devices.h"
#include "tui/view_export.h"
#include "tui/view_focus.h"
#include "tui/view_graph.h"
#include "tui/view_help.h"
#include "tui/view_lanes.h"
#include "tui/view_log.h"
#include "tui/view_members.h"
#include "tui/view_memory.h"
#include "tui/view_options.h"
#include "tui/view_palette.h"
#include "tui/view_pin.h"
#include "tui/view_pipeline.h"
#include "tui/view_plans.h"
#include "tui/view_race.h"
#include "tui/view_relaxed.h"
#include "tui/view_role.h"
#include "tui/view_start.h"
#include "tui/view_tours.h"
#include "tui/view_why.h"

const struct panel_ops *const panel_list[] = {
    &view_start,   &view_graph,        &view_classes,  &view_focus,    &view_lanes,
    &view_reward,  &view_loss,         &view_decision, &view_log,      &view_cost,
    &view_devices, &view_memory_panel, &view_ties,     &view_why,      &view_plans,
    &view_memory,  &view_members,      &view_race,     &view_pipeline, &view_relaxed,
    &view_pin,     &view_backtrack,    &view_options,  &view_role,     &view_tours,
    &view_export,  &view_help,         &view_palette,  NULL,
};
