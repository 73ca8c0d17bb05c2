/* tui/views/view_devices.h - panel 9: the cluster as it stands, what each device holds and each
 * link carries. */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_DEVICES_H
#define AUTOMAP_TUI_VIEWS_VIEW_DEVICES_H

#include "tui/app/panel.h"

extern const struct panel_ops view_devices;

#endif
