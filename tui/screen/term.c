#include "tui/screen/term.h"

#include "hlo/support/mem.h"
#include "hlo/support/text.h"
#include "tui/screen/grid.h"
#include "tui/screen/theme.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#define NCURSES_WIDECHAR 1
#include <curses.h>

enum { STUCK_WAITS = 4, STUCK_WAIT_MS = 50 };
enum { WIDTH_MOST = 1000, HEIGHT_MOST = 400 }; /* of a frame: what is beyond stays empty */
enum { ESC_DELAY_MS = 25, PASTE_BEGIN = 0x1f00, PASTE_END = 0x1f01, COPY_MOST = 65536 };

/* Signals after which the process is no more. The first row asks, the second kills at once. */
static const int asking[] = {SIGTERM, SIGHUP, SIGQUIT};
static const int fatal[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
enum { ASKING = sizeof asking / sizeof *asking, FATAL = sizeof fatal / sizeof *fatal };

/* What a signal handler needs: the one mutable global of the program. */
static struct {
    volatile sig_atomic_t open;
    volatile sig_atomic_t resized, stopped, continued, interrupted, ended;
    int fd, wake[2], saved_stderr, errors;
    struct termios shell;
    char reset[256];
    size_t reset_size;
    struct sigaction before_fatal[FATAL];
} restore = {.wake = {-1, -1}, .saved_stderr = -1, .errors = -1};

/* A sanitizer ends the process without a signal, but not without telling. */
extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

extern char **environ;

struct term {
    SCREEN *screen;
    WINDOW *input; /* a pad: reading from it draws nothing */
    FILE *in, *errors;
    struct paint paint;
    struct str bytes;
    int width, height;
    bool mouse, pasting, gone;
    struct sigaction before[ASKING + 5];
};

/* A terminal that takes nothing for some 200 ms gets no more: whoever writes last must end. */
static void write_all(int fd, const char *bytes, size_t size)
{
    for (int waits = 0; size > 0;) {
        ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno != EINTR && (errno != EAGAIN || waits++ >= STUCK_WAITS))
            return;
        if (n < 0 && errno == EAGAIN)
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, STUCK_WAIT_MS);
        if (n > 0) {
            bytes += n;
            size -= (size_t)n;
        }
    }
}

/* The shell's screen and modes again, without waiting long for a terminal that takes nothing, as
 * endwin() does. Only async-signal-safe calls: it runs in handlers. */
static void give_back(void)
{
    if (!restore.open)
        return;
    restore.open = 0;
    write_all(restore.fd, restore.reset, restore.reset_size);
    tcsetattr(restore.fd, TCSANOW, &restore.shell);
}

/* The same, and what was said on standard error meanwhile, for a process that is no more. */
static void put_right(void)
{
    if (!restore.open)
        return;
    give_back();
    if (restore.saved_stderr < 0)
        return;
    char bytes[512];
    ssize_t n = lseek(restore.errors, 0, SEEK_SET);
    while (n >= 0 && (n = read(restore.errors, bytes, sizeof bytes)) > 0)
        write_all(restore.saved_stderr, bytes, (size_t)n);
    dup2(restore.saved_stderr, STDERR_FILENO);
}

static void wake_up(void)
{
    ssize_t ignored = write(restore.wake[1], "", 1);
    (void)ignored; /* a full pipe wakes as well */
}

static void on_fatal(int number, siginfo_t *info, void *context)
{
    (void)info;
    (void)context;
    put_right();
    for (int i = 0; i < FATAL; i++) {
        if (fatal[i] == number)
            sigaction(number, &restore.before_fatal[i], NULL);
    }
    raise(number); /* to whoever was there before us: a sanitizer, or the kernel */
}

static void on_signal(int number)
{
    int saved = errno;
    if (number == SIGWINCH)
        restore.resized = 1;
    else if (number == SIGTSTP)
        restore.stopped = 1;
    else if (number == SIGCONT)
        restore.continued = 1;
    else if (number == SIGINT && ++restore.interrupted > 3) { /* nobody listens */
        put_right();
        signal(SIGINT, SIG_DFL);
        raise(SIGINT);
    } else if (number != SIGINT)
        restore.ended = number;
    wake_up();
    errno = saved;
}

static void take_signals(struct term *t)
{
    static const int others[] = {SIGWINCH, SIGTSTP, SIGCONT, SIGINT};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    sigemptyset(&action.sa_mask);
    for (int i = 0; i < ASKING; i++)
        sigaction(asking[i], &action, &t->before[i]);
    for (int i = 0; i < 4; i++)
        sigaction(others[i], &action, &t->before[ASKING + i]);
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, &t->before[ASKING + 4]);
    struct sigaction die = {.sa_sigaction = on_fatal,
                            .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&die.sa_mask);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(put_right);
    for (int i = 0; i < FATAL; i++)
        sigaction(fatal[i], &die, &restore.before_fatal[i]);
}

static void give_signals_back(struct term *t)
{
    static const int others[] = {SIGWINCH, SIGTSTP, SIGCONT, SIGINT, SIGPIPE};

    for (int i = 0; i < ASKING; i++)
        sigaction(asking[i], &t->before[i], NULL);
    for (int i = 0; i < 5; i++)
        sigaction(others[i], &t->before[ASKING + i], NULL);
    for (int i = 0; i < FATAL; i++)
        sigaction(fatal[i], &restore.before_fatal[i], NULL);
}

bool term_shows_utf8(void)
{
    setlocale(LC_CTYPE, "");
    return !strcmp(nl_langinfo(CODESET), "UTF-8") && wcwidth(L'─') == 1 && wcwidth(L'▸') == 1;
}

enum colour_depth term_best_depth(void)
{
    const char *none = getenv("NO_COLOR"), *more = getenv("COLORTERM"), *name = getenv("TERM");

    if ((none && *none) || !name || !strcmp(name, "dumb") || !strncmp(name, "vt", 2))
        return DEPTH_MONO;
    if (more && (!strcmp(more, "truecolor") || !strcmp(more, "24bit")))
        return DEPTH_TRUE;
    if (strstr(name, "direct"))
        return DEPTH_TRUE;
    if (strstr(name, "256color"))
        return DEPTH_256;
    return strstr(name, "mono") || strstr(name, "-m") ? DEPTH_MONO : DEPTH_16;
}

static void add_reset(const char *text)
{
    size_t size = text ? strlen(text) : 0;
    if (text && text != (char *)-1 && restore.reset_size + size < sizeof restore.reset) {
        memcpy(restore.reset + restore.reset_size, text, size);
        restore.reset_size += size;
    }
}

static void build_reset(void)
{
    restore.reset_size = 0;
    add_reset("\033[?2004l\033[?1006l\033[?1003l\033[?1002l\033[?1000l\033[0m\033[?25h");
    add_reset(tigetstr("rmkx"));
    const char *shell = tigetstr("rmcup"); /* NULL: the terminal has one screen alone */
    add_reset(shell ? shell : "\033[999;1H\r\n");
}

static void read_size(struct term *t)
{
    struct winsize size;
    if (!ioctl(restore.fd, TIOCGWINSZ, &size) && size.ws_col > 0 && size.ws_row > 0) {
        t->width = size.ws_col;
        t->height = size.ws_row;
    } else {
        t->width = COLS > 0 ? COLS : 80;
        t->height = LINES > 0 ? LINES : 24;
    }
    t->width = t->width < WIDTH_MOST ? t->width : WIDTH_MOST;
    t->height = t->height < HEIGHT_MOST ? t->height : HEIGHT_MOST;
}

static void prepare_input(struct term *t, bool mouse)
{
    struct termios now;

    cbreak();
    noecho();
    nonl();
    if (!tcgetattr(restore.fd, &now)) { /* C-s and C-q are keys; C-v and C-o as well */
        now.c_iflag &= ~(tcflag_t)(IXON | IXOFF);
        now.c_cc[VLNEXT] = _POSIX_VDISABLE;
        now.c_cc[VDISCARD] = _POSIX_VDISABLE;
        tcsetattr(restore.fd, TCSANOW, &now);
        def_prog_mode();
    }
    t->input = newpad(1, 1);
    keypad(t->input, TRUE);
    nodelay(t->input, TRUE);
    set_escdelay(ESC_DELAY_MS);
    mouseinterval(0);
    define_key("\033[200~", PASTE_BEGIN);
    define_key("\033[201~", PASTE_END);
    term_set_mouse(t, mouse);
}

static void enter_screen(struct term *t)
{
    refresh(); /* an empty screen: switches to the alternate one and sets the modes */
    write_all(restore.fd, "\033[?2004h", 8);
    restore.open = 1;
    paint_forget(&t->paint);
}

static void leave(struct term *t)
{
    (void)t;
    static const char shown[] = "\033[0m\033[?2004l\033[?25h";
    write_all(restore.fd, shown, sizeof shown - 1);
    endwin();
    restore.open = 0;
}

static int refuse_terminal(struct err *e, const char *why)
{
    const char *name = getenv("TERM");
    char clean[64];
    text_clean(clean, sizeof clean, name ? name : "", name ? strlen(name) : 0);
    return err_set(e, ERR_IO, "terminal \"%s\" %s; automap search runs without one", clean, why);
}

/* The terminal opened once more, so that writing to it can fail instead of waiting: O_NONBLOCK of
 * standard output itself would be the shell's, too. */
static int own_output(void)
{
    const char *name = ttyname(STDOUT_FILENO);
    int fd = name ? open(name, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;

    return fd < 0 ? STDOUT_FILENO : fd;
}

/* The same for reading: curses waits for the end of a mouse report that never comes. */
static FILE *own_input(void)
{
    const char *name = isatty(STDIN_FILENO) ? ttyname(STDIN_FILENO) : "/dev/tty";
    int fd = name ? open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
    FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

    if (f)
        return f;
    if (fd >= 0)
        close(fd);
    return isatty(STDIN_FILENO) ? stdin : NULL;
}

static void close_output(void)
{
    if (restore.fd > STDERR_FILENO)
        close(restore.fd);
    restore.fd = STDOUT_FILENO;
}

static bool is_huge(void)
{
    struct winsize size;

    return !ioctl(restore.fd, TIOCGWINSZ, &size) &&
           (size.ws_col > WIDTH_MOST || size.ws_row > HEIGHT_MOST);
}

static int start_curses(struct term *t, struct err *e)
{
    const char *name = getenv("TERM");

    if (!isatty(STDOUT_FILENO))
        return err_set(e, ERR_IO,
                       "standard output is not a terminal; automap search runs without one");
    t->in = own_input();
    if (!t->in)
        return err_set(e, ERR_IO, "no terminal to read keys from; automap search runs without one");
    restore.fd = own_output();
    tcgetattr(restore.fd, &restore.shell);
    if (is_huge()) /* curses would hold millions of cells: it gets the size that is drawn later */
        use_env(FALSE);
    t->screen = name && *name ? newterm(NULL, stdout, t->in) : NULL;
    if (!t->screen)
        return refuse_terminal(e, "is not known here");
    const char *move = tigetstr("cup");
    if (!move || move == (char *)-1 || strncmp(move, "\033[", 2) != 0) {
        endwin();
        delscreen(t->screen);
        return refuse_terminal(e, "cannot place its cursor");
    }
    return 0;
}

static void capture_errors(struct term *t)
{
    t->errors = tmpfile();
    restore.saved_stderr = dup(STDERR_FILENO);
    restore.errors = t->errors ? fileno(t->errors) : -1;
    if (t->errors && restore.saved_stderr >= 0)
        dup2(restore.errors, STDERR_FILENO);
}

int term_open(struct term **out, const struct term_options *o, struct err *e)
{
    struct term *t = mem_alloc(sizeof *t);
    int depth = o->depth >= 0 ? o->depth : (int)term_best_depth();
    bool ascii = o->ascii || !term_shows_utf8();

    if (start_curses(t, e)) {
        free(t);
        return e->code;
    }
    if (pipe(restore.wake) || fcntl(restore.wake[1], F_SETFL, O_NONBLOCK)) {
        endwin();
        delscreen(t->screen);
        free(t);
        return err_set(e, ERR_IO, "cannot make a pipe: %s", strerror(errno));
    }
    paint_init(&t->paint, o->theme, (enum colour_depth)depth, ascii);
    prepare_input(t, o->mouse);
    build_reset();
    read_size(t);
    resize_term(t->height, t->width);
    capture_errors(t);
    take_signals(t);
    enter_screen(t);
    *out = t;
    return 0;
}

/* What libraries and sanitizers said meanwhile. */
static void print_errors(struct term *t)
{
    char line[512], clean[512];

    if (!t->errors)
        return;
    rewind(t->errors);
    while (fgets(line, sizeof line, t->errors)) {
        line[strcspn(line, "\n")] = 0;
        text_clean(clean, sizeof clean, line, strlen(line));
        fprintf(stderr, "%s\n", clean);
    }
    fclose(t->errors);
}

void term_close(struct term *t)
{
    if (!t)
        return;
    give_back();
    give_signals_back(t);
    close_output();
    delwin(t->input);
    delscreen(t->screen);
    if (t->in != stdin)
        fclose(t->in);
    if (restore.saved_stderr >= 0) {
        fflush(stderr);
        dup2(restore.saved_stderr, STDERR_FILENO);
        close(restore.saved_stderr);
        restore.saved_stderr = -1;
    }
    print_errors(t);
    close(restore.wake[0]);
    close(restore.wake[1]);
    restore.wake[0] = restore.wake[1] = -1;
    restore.resized = restore.stopped = restore.continued = restore.ended = 0;
    restore.interrupted = 0;
    paint_release(&t->paint);
    str_release(&t->bytes);
    free(t);
}

void term_size(const struct term *t, int *width, int *height)
{
    *width = t->width;
    *height = t->height;
}

void term_set_theme(struct term *t, const struct theme *theme)
{
    t->paint.theme = *theme;
    paint_forget(&t->paint);
}

void term_set_mouse(struct term *t, bool on)
{
    t->mouse = on;
    mousemask(on ? BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED | BUTTON4_PRESSED |
                       BUTTON5_PRESSED
                 : 0,
              NULL);
}

long term_show(struct term *t, const struct grid *g)
{
    str_clear(&t->bytes);
    paint_frame(&t->paint, g, &t->bytes);
    size_t at = 0;
    while (at < t->bytes.size && !t->gone) {
        ssize_t n = write(restore.fd, t->bytes.text + at, t->bytes.size - at);
        if (n > 0)
            at += (size_t)n;
        bool is_stuck = n < 0 && errno == EAGAIN &&
                        !poll(&(struct pollfd){.fd = restore.fd, .events = POLLOUT}, 1, 50);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            t->gone = true;
        if (restore.ended == SIGHUP || (restore.ended && is_stuck))
            t->gone = true;
    }
    return t->gone ? -1 : (long)at;
}

bool term_is_ready(const struct term *t)
{
    (void)t;
    struct pollfd out = {.fd = restore.fd, .events = POLLOUT};
    return poll(&out, 1, 0) > 0;
}

static void drain(int fd)
{
    char bytes[256];
    struct pollfd in = {.fd = fd, .events = POLLIN};
    while (poll(&in, 1, 0) > 0 && in.revents & POLLIN && read(fd, bytes, sizeof bytes) > 0)
        ;
}

bool term_wait(struct term *t, int wake_fd, int timeout_ms)
{
    struct pollfd fds[3] = {
        {.fd = fileno(t->in), .events = POLLIN},
        {.fd = restore.wake[0], .events = POLLIN},
        {.fd = wake_fd, .events = POLLIN},
    };
    if (poll(fds, wake_fd >= 0 ? 3 : 2, timeout_ms) <= 0)
        return false;
    if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
        t->gone = true;
    if (fds[1].revents)
        drain(restore.wake[0]);
    if (wake_fd < 0 || !fds[2].revents)
        return false;
    drain(wake_fd);
    return true;
}

void term_stop(struct term *t)
{
    struct sigaction plain = {.sa_handler = SIG_DFL}, ours;

    leave(t);
    tcsetattr(restore.fd, TCSANOW, &restore.shell);
    sigemptyset(&plain.sa_mask);
    sigaction(SIGTSTP, &plain, &ours);
    raise(SIGTSTP); /* goes on here after SIGCONT */
    sigaction(SIGTSTP, &ours, NULL);
    restore.stopped = 0;
    restore.continued = 1;
}

/* Waits for it, whatever it does with the terminal's signals. -1: no shell. */
static int run_shell(char *line)
{
    char *args[] = {(char[]){"sh"}, (char[]){"-c"}, line, NULL};
    posix_spawnattr_t how;
    sigset_t none, keys;
    pid_t pid;
    int status = -1;

    sigemptyset(&none);
    sigemptyset(&keys);
    sigaddset(&keys, SIGINT);
    sigaddset(&keys, SIGQUIT);
    sigaddset(&keys, SIGPIPE);
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &keys);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (!posix_spawn(&pid, "/bin/sh", NULL, &how, args, environ)) {
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    posix_spawnattr_destroy(&how);
    return status;
}

int term_run(struct term *t, const char *line)
{
    static const int signals[] = {SIGINT, SIGQUIT, SIGTSTP}; /* the last: nobody could wake it */
    enum { SIGNALS = sizeof signals / sizeof *signals };
    struct sigaction ignored = {.sa_handler = SIG_IGN}, ours[SIGNALS];
    struct str whole = {0};

    leave(t);
    tcsetattr(restore.fd, TCSANOW, &restore.shell);
    sigemptyset(&ignored.sa_mask);
    for (int n = 0; n < SIGNALS; n++)
        sigaction(signals[n], &ignored, &ours[n]);
    str_format(&whole, "exec 2>&1\n%s", line); /* standard error goes to a file else */
    int status = run_shell(whole.text);
    if (status)
        (void)run_shell((char[]){"printf '\\n[Enter] ' && read x"});
    for (int n = 0; n < SIGNALS; n++)
        sigaction(signals[n], &ours[n], NULL);
    str_release(&whole);
    restore.stopped = 0;
    restore.continued = 1;
    return status;
}

/* Signals that came in, as events. */
static bool next_signal(struct term *t, struct term_event *event)
{
    if (restore.ended || t->gone) {
        *event =
            (struct term_event){.kind = TERM_END, .signal = restore.ended ? restore.ended : SIGHUP};
        return true;
    }
    if (restore.stopped)
        term_stop(t);
    if (restore.continued) { /* also after SIGSTOP, when the shell may have changed the modes */
        restore.continued = 0;
        restore.resized = 1;
        reset_prog_mode();
        enter_screen(t);
    }
    if (restore.resized) {
        restore.resized = 0;
        read_size(t);
        resize_term(t->height, t->width);
        *event = (struct term_event){.kind = TERM_RESIZE};
        return true;
    }
    if (restore.interrupted) {
        restore.interrupted = 0;
        *event = (struct term_event){.kind = TERM_KEY, .key = 3};
        return true;
    }
    return false;
}

static const struct {
    int curses;
    uint32_t key;
} named_keys[] = {
    {KEY_UP, KEYC_UP},
    {KEY_DOWN, KEYC_DOWN},
    {KEY_LEFT, KEYC_LEFT},
    {KEY_RIGHT, KEYC_RIGHT},
    {KEY_HOME, KEYC_HOME},
    {KEY_END, KEYC_END},
    {KEY_PPAGE, KEYC_PAGE_UP},
    {KEY_NPAGE, KEYC_PAGE_DOWN},
    {KEY_IC, KEYC_INSERT},
    {KEY_DC, KEYC_DELETE},
    {KEY_BACKSPACE, KEYC_BACKSPACE},
    {KEY_ENTER, KEYC_ENTER},
    {KEY_BTAB, KEYC_BACK_TAB},
    {KEY_A1, KEYC_HOME},
    {KEY_A3, KEYC_PAGE_UP},
    {KEY_C1, KEYC_END},
    {KEY_C3, KEYC_PAGE_DOWN},
    {KEY_FIND, KEYC_HOME},
    {KEY_SELECT, KEYC_END},
};

static uint32_t named_key(wint_t code)
{
    for (size_t i = 0; i < sizeof named_keys / sizeof *named_keys; i++) {
        if ((wint_t)named_keys[i].curses == code)
            return named_keys[i].key;
    }
    if (code >= KEY_F(1) && code <= KEY_F(12))
        return KEYC_F1 + (uint32_t)(code - KEY_F(1));
    return 0;
}

static uint32_t plain_key(wint_t c)
{
    switch (c) {
    case '\r':
    case '\n':
        return KEYC_ENTER;
    case '\t':
        return KEYC_TAB;
    case 27:
        return KEYC_ESC;
    case 127:
        return KEYC_BACKSPACE;
    default:
        return (uint32_t)c;
    }
}

static bool next_mouse(struct term_event *event)
{
    MEVENT mouse;

    if (getmouse(&mouse) != OK)
        return false;
    *event = (struct term_event){.kind = TERM_MOUSE, .x = mouse.x, .y = mouse.y};
    if (mouse.bstate & BUTTON4_PRESSED)
        event->button = TERM_WHEEL_UP;
    else if (mouse.bstate & BUTTON5_PRESSED)
        event->button = TERM_WHEEL_DOWN;
    else if (mouse.bstate & BUTTON1_DOUBLE_CLICKED)
        event->button = TERM_DOUBLE;
    else
        event->button = TERM_PRESS;
    return true;
}

bool term_next(struct term *t, struct term_event *event)
{
    if (next_signal(t, event))
        return true;
    for (;;) {
        wint_t code = 0;
        int kind = wget_wch(t->input, &code);
        if (kind == ERR)
            return false;
        if (kind == KEY_CODE_YES && (code == PASTE_BEGIN || code == PASTE_END)) {
            t->pasting = code == PASTE_BEGIN;
            continue;
        }
        if (kind == KEY_CODE_YES && code == KEY_MOUSE) {
            if (next_mouse(event))
                return true;
            continue;
        }
        uint32_t key = kind == KEY_CODE_YES ? named_key(code) : plain_key(code);
        if (!key)
            continue;
        *event = (struct term_event){.kind = t->pasting ? TERM_PASTED : TERM_KEY, .key = key};
        return true;
    }
}

void term_copy(struct term *t, const char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *s = (const unsigned char *)text;
    size_t size = strlen(text);

    if (size > COPY_MOST)
        size = COPY_MOST;
    str_clear(&t->bytes);
    str_add(&t->bytes, "\033]52;c;");
    for (size_t i = 0; i < size; i += 3) {
        unsigned bits = (unsigned)s[i] << 16;
        bits |= i + 1 < size ? (unsigned)s[i + 1] << 8 : 0;
        bits |= i + 2 < size ? s[i + 2] : 0;
        str_add_char(&t->bytes, digits[bits >> 18]);
        str_add_char(&t->bytes, digits[bits >> 12 & 63]);
        str_add_char(&t->bytes, i + 1 < size ? digits[bits >> 6 & 63] : '=');
        str_add_char(&t->bytes, i + 2 < size ? digits[bits & 63] : '=');
    }
    str_add(&t->bytes, "\033\\");
    write_all(restore.fd, t->bytes.text, t->bytes.size);
}

void term_notify(struct term *t, bool osc777, const char *text)
{
    str_clear(&t->bytes);
    str_add(&t->bytes, osc777 ? "\033]777;notify;automap;" : "\033]9;");
    for (; *text; text++) {
        if ((unsigned char)*text >= ' ' && *text != 0x7f)
            str_add_char(&t->bytes, *text);
    }
    str_add(&t->bytes, "\033\\");
    write_all(restore.fd, t->bytes.text, t->bytes.size);
}
