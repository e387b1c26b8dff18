// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memsecctl-edit.h"
#include "memsecctl-files.h"
#include "memsecctl-show.h"
#include "util.h"

/* What a file that does not exist begins with. */
#define TEMPLATE                                                                        \
        "# Settings of memsec, see memsec.yaml(5). What is not set here is as the\n"    \
        "# files that are read earlier say.\n"                                          \
        "\n"                                                                            \
        "version: 1\n"

static ExitStatus out_of_memory(void) {
        fprintf(stderr, "Out of memory\n");
        return STATUS_FAILED;
}

static void interrupts(sigset_t *ret) {
        sigemptyset(ret);
        sigaddset(ret, SIGINT);
}

/*
 * An interrupt is for the editor; at the question it is an answer. Neither is to leave the copy behind.
 * Returns a descriptor that tells of interrupts, or -1.
 */
static int catch_interrupts(void) {
        sigset_t set;

        interrupts(&set);
        (void) sigprocmask(SIG_BLOCK, &set, NULL);
        return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static bool was_interrupted(int interrupt_fd) {
        struct signalfd_siginfo info;

        return read(interrupt_fd, &info, sizeof(info)) > 0;
}

/* The opposite of catch_interrupts(). One that nobody has asked for was for the editor. */
static void release_interrupts(int interrupt_fd) {
        sigset_t set;

        (void) was_interrupted(interrupt_fd);
        interrupts(&set);
        (void) sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* The command that edits a file, to be followed by its name. */
static const char *editor_command(void) {
        static const char *const variables[] = { "SYSTEMD_EDITOR", "EDITOR", "VISUAL" };

        for (size_t i = 0; i < ELEMENTSOF(variables); i++) {
                const char *value = getenv(variables[i]);

                if (!isempty(value))
                        return value;
        }

        return "editor";
}

static void run_editor_child(const char *path) {
        _cleanup_free_ char *command = NULL;
        sigset_t set;

        interrupts(&set);
        (void) sigprocmask(SIG_UNBLOCK, &set, NULL);

        /* It may have arguments, which are the shell's to find. */
        if (asprintf(&command, "exec %s \"$0\"", editor_command()) < 0)
                _exit(EXIT_FAILURE);

        (void) execl("/bin/sh", "sh", "-c", command, path, NULL);
        _exit(EXIT_FAILURE);
}

static ExitStatus run_editor(const char *path) {
        int status;
        pid_t pid;

        pid = fork();
        if (pid < 0) {
                fprintf(stderr, "Cannot start an editor: %s\n", strerror(errno));
                return STATUS_FAILED;
        }
        if (pid == 0)
                run_editor_child(path);

        while (waitpid(pid, &status, 0) < 0)
                if (errno != EINTR)
                        return STATUS_FAILED;

        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
                fprintf(stderr, "The editor '%s' failed; set $EDITOR to choose another.\n",
                        editor_command());
                return STATUS_FAILED;
        }

        return STATUS_OK;
}

/* Shows all errors of the copy as if they were in the file that it is to replace. */
static ExitStatus check_copy(const char *root, const NewFile *copy, const char *text) {
        _cleanup_(policy_errors_done) PolicyErrors errors = {};
        _cleanup_(policy_model_freep) PolicyModel *model = NULL;
        ExitStatus s;
        int r;

        s = files_model_for_one(root, &model);
        if (s != STATUS_OK)
                return s;

        r = policy_model_read_text(model, copy->target, text, strlen(text), &errors);
        if (r >= 0)
                r = policy_model_resolve(model, root, /* may_miss= */ true, &errors);
        if (r == -ENOMEM)
                return out_of_memory();

        show_policy_errors(&errors, /* json= */ false);
        return r < 0 ? STATUS_FAILED : STATUS_OK;
}

/* The line that the user types in reply, or NULL when there will be none. */
static const char *read_reply(int interrupt_fd, char line[64]) {
        struct pollfd fds[] = {
                { .fd = STDIN_FILENO, .events = POLLIN },
                { .fd = interrupt_fd, .events = POLLIN },
        };
        ssize_t n;

        if (poll(fds, ELEMENTSOF(fds), -1) < 0 || was_interrupted(interrupt_fd))
                return NULL;

        /* A terminal gives a line at a time. */
        n = read(STDIN_FILENO, line, 63);
        if (n <= 0)
                return NULL;

        line[n] = 0;
        return line;
}

static bool ask_to_edit_again(int interrupt_fd) {
        if (!isatty(STDIN_FILENO))
                return false;

        /* One that came earlier was for the editor. */
        (void) was_interrupted(interrupt_fd);

        for (;;) {
                const char *reply;
                char line[64];

                fprintf(stderr, "Edit again (e) or discard (d)? ");
                reply = read_reply(interrupt_fd, line);
                if (!reply)
                        fputc('\n', stderr);
                if (!reply || streq(reply, "d\n"))
                        return false;
                if (streq(reply, "e\n"))
                        return true;
        }
}

/* Until the copy is valid or the user gives up. *RET is what is in it then. */
static ExitStatus edit_copy(const char *root, const NewFile *copy, int interrupt_fd, char **ret) {
        for (;;) {
                _cleanup_free_ char *text = NULL;
                ExitStatus s;

                s = run_editor(copy->temporary);
                if (s == STATUS_OK)
                        s = file_read(copy->temporary, &text);
                if (s != STATUS_OK)
                        return s;

                if (!text) {
                        fprintf(stderr, "The editor has removed the file.\n");
                        return STATUS_FAILED;
                }

                if (check_copy(root, copy, text) == STATUS_OK) {
                        *ret = TAKE_PTR(text);
                        return STATUS_OK;
                }

                if (!ask_to_edit_again(interrupt_fd)) {
                        fprintf(stderr, "Discarded; %s is as it was.\n", copy->target);
                        return STATUS_FAILED;
                }
        }
}

ExitStatus edit_file(const char *root, const char *path, bool *ret_changed) {
        _cleanup_free_ char *before = NULL, *after = NULL;
        _cleanup_close_ int interrupt_fd = -1;
        _cleanup_new_file_ NewFile copy = {};
        ExitStatus s;

        *ret_changed = false;
        interrupt_fd = catch_interrupts();

        s = file_read(path, &before);
        if (s == STATUS_OK)
                s = new_file_write(path, before ?: TEMPLATE, &copy);
        if (s == STATUS_OK)
                s = edit_copy(root, &copy, interrupt_fd, &after);
        release_interrupts(interrupt_fd);
        if (s != STATUS_OK)
                return s;

        if (streq(after, before ?: TEMPLATE)) {
                printf("%s is as it was.\n", path);
                return STATUS_OK;
        }

        s = new_file_commit(&copy);
        if (s != STATUS_OK)
                return s;

        printf("Wrote %s.\n", path);
        *ret_changed = true;
        return STATUS_OK;
}
