/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* Processes that a test forks, and how they end. */

#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

__attribute__((unused)) static pid_t child_fork(void) {
        pid_t pid = fork();

        if (pid < 0)
                tap_bail_out("cannot fork");

        return pid;
}

/* Waits for PID. Whether it exited with 0. */
__attribute__((unused)) static bool child_passed(pid_t pid) {
        int status;

        return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

/* Waits for PID. Whether SIG killed it. */
__attribute__((unused)) static bool child_died_of(pid_t pid, int sig) {
        int status;

        return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == sig;
}
