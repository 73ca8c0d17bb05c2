/* All views: a new one is a row here. */
#include "tui/views/views.h"
#include "tui/views/panel.h"

const struct panel_ops *const panel_list[] = {
    &view_start,   &view_graph,    &view_groups, &view_focus,     &view_lanes,   &view_reward,
    &view_loss,    &view_decision, &view_log,    &view_cost,      &view_devices, &view_memory_panel,
    &view_ties,    &view_why,      &view_plans,  &view_ledger,    &view_past,    &view_class,
    &view_memory,  &view_members,  &view_race,   &view_pipeline,  &view_hybrid,  &view_place,
    &view_relaxed, &view_doctor,   &view_pin,    &view_backtrack, &view_options, &view_role,
    &view_tours,   &view_export,   &view_help,   &view_find,      NULL,
};
