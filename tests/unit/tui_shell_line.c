/* Values in a line for the shell: whatever they hold, the shell sees one word that is the value,
 * and lines where quotes would not hold are refused. The judge is the shell. */
#include "tests/unit/run_program.h"
#include "tui/files/shell_line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const shells[] = {"/bin/sh", "/bin/bash"};

/* What the shell prints for a line. */
static void run(const char *shell, const char *line, char *out, size_t room)
{
    const char *const argv[] = {shell, "-c", line, NULL};

    (void)run_program(argv, out, room);
}

static const char *const hostile[] = {
    "encoder self",
    "a'b",
    "'; touch PWNED; '",
    "$(touch PWNED)",
    "`touch PWNED`",
    "${HOME}",
    "\"; touch PWNED; \"",
    "a\\",
    "\\'; touch PWNED #",
    "x; touch PWNED",
    "x && touch PWNED | cat > PWNED",
    "*",
    "~root",
    "!!",
    "é – ü",
    "'''''",
    "a  b\\n%s%d",
    "#x",
    "\xff\xfe\x80",
    "",
    "{file}",
};
enum { HOSTILE = sizeof hostile / sizeof *hostile };

static void test_values_stay_words(void **state)
{
    (void)state;
    static const struct {
        const char *line, *before, *after;
    } lines[] = {{"printf '[%s]' {group}", "[", "]"},
                 {"set -- {group} x; printf '[%s]' \"$1\" $#", "[", "][2]"},
                 {"x=$(printf %s {group}); printf '[%s]' \"$x\"", "[", "]"},
                 {"printf '[%s]' a{group}b # {group}", "[a", "b]"},
                 {"case x in x) printf '[%s]' {group};; esac", "[", "]"}};
    char out[512], expected[512];

    for (size_t s = 0; s < sizeof shells / sizeof *shells; s++) {
        for (size_t n = 0; n < HOSTILE && !access(shells[s], X_OK); n++) {
            for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
                const char *values[SHELL_PLACES] = {[SHELL_GROUP] = hostile[n]};
                struct str line = {0};
                assert_null(shell_line_trouble(lines[k].line));
                shell_line_fill(lines[k].line, values, &line);
                run(shells[s], line.text, out, sizeof out);
                snprintf(expected, sizeof expected, "%s%s%s", lines[k].before, hostile[n],
                         lines[k].after);
                assert_string_equal(out, expected);
                str_release(&line);
            }
        }
    }
    assert_int_not_equal(access("PWNED", F_OK), 0);
}

/* Every byte but NUL, alone and between others. */
static void test_every_byte(void **state)
{
    (void)state;
    struct str line = {0};
    char out[4096], expected[4096];
    size_t size = 0;

    str_add(&line, "printf '%s|'");
    for (int c = 1; c < 256; c++) {
        char value[] = {'a', (char)c, (char)c, 'b', 0};
        const char *values[SHELL_PLACES] = {[SHELL_INSTRUCTION] = value};
        shell_line_fill(" {instruction}", values, &line);
        if (c < ' ' || c == 0x7f)
            value[1] = value[2] = '?';
        size += (size_t)snprintf(expected + size, sizeof expected - size, "%s|", value);
    }
    run("/bin/sh", line.text, out, sizeof out);
    assert_string_equal(out, expected);
    str_release(&line);
}

static void test_files_are_no_options(void **state)
{
    (void)state;
    const char *values[SHELL_PLACES] = {[SHELL_FILE] = "-rf", [SHELL_LINE] = "12"};
    struct str line = {0};

    shell_line_fill("${EDITOR:-vi} +{line} {file}", values, &line);
    assert_string_equal(line.text, "${EDITOR:-vi} +'12' './-rf'");
    values[SHELL_FILE] = "+!touch PWNED"; /* vi would run it */
    str_clear(&line);
    shell_line_fill("vi {file}", values, &line);
    assert_string_equal(line.text, "vi './+!touch PWNED'");
    assert_true(shell_line_has("vi {file}", SHELL_FILE));
    assert_false(shell_line_has("vi {files} {plan", SHELL_PLAN));
    str_release(&line);
}

static void test_unsound_lines(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "echo \\{file}",         "echo \"\\{file}\"",      "echo \"{group}\"",
        "echo '{group}'",        "echo `cat {file}`",      "echo $(( {line} ))",
        "((x = {line}))",        "echo $[{line}]",         "cat <<E {group}",
        "cat <<E\n{group}\nE",   "echo \"$(cat {file})\"", "echo 'open {group}",
        "echo \"a\" \"{plan}\"", "echo $'{group}'",        "x=\"\\\"{group}\\\"\""};
    static const char *const sound[] = {
        "echo {group}", "echo \"a\" {group} 'b'",  "echo \\\"{group}",
        "make {other}", "f() { echo {plan}; }; f", "echo a\\'{line}"};

    for (size_t n = 0; n < sizeof refused / sizeof *refused; n++)
        assert_non_null(shell_line_trouble(refused[n]));
    for (size_t n = 0; n < sizeof sound / sizeof *sound; n++)
        assert_null(shell_line_trouble(sound[n]));
}

static int begin(void **state)
{
    char dir[] = "/tmp/automap-shell-XXXXXX";

    (void)state;
    return !mkdtemp(dir) || chdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_stay_words),
        cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_files_are_no_options),
        cmocka_unit_test(test_unsound_lines),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
