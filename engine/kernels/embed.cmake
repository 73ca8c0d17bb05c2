# Writes OUT, a C file that holds the rule file IN as the text `kernel_builtin`.
file(READ ${IN} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE ${OUT} "extern const char kernel_builtin[];\nconst char kernel_builtin[] = {${bytes}0};\n")
