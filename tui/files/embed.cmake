# Writes OUT, a C file that holds every YAML file of DIR as bytes: themes are there without files.
file(GLOB themes ${DIR}/*.yaml)
list(SORT themes)
set(arrays "")
set(rows "")
set(i 0)
foreach(theme ${themes})
    get_filename_component(name ${theme} NAME_WE)
    file(READ ${theme} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND arrays "static const unsigned char theme_${i}[] = {${bytes}0};\n")
    string(APPEND rows "    {\"${name}\", theme_${i}, sizeof theme_${i} - 1},\n")
    math(EXPR i "${i} + 1")
endforeach()
file(WRITE ${OUT} "#include <stddef.h>\n${arrays}
struct builtin {\n    const char *name;\n    const unsigned char *text;\n    size_t size;\n};
extern const struct builtin theme_files[];\nconst struct builtin theme_files[] = {\n${rows}    {NULL, NULL, 0},\n};\n")
