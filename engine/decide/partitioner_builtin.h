/* engine/decide/partitioner_builtin.h - the tables that are built in, as files. */
#ifndef AUTOMAP_ENGINE_DECIDE_PARTITIONER_BUILTIN_H
#define AUTOMAP_ENGINE_DECIDE_PARTITIONER_BUILTIN_H

extern const char partitioner_gspmd[], partitioner_shardy[];

#endif
