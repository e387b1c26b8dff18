/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "manager.h"

/*
 * From one instance of memsecd to the next: the link, the parameters map and a state file wait in the
 * service manager's store. What the store and the kernel say can differ when an instance crashes between two
 * steps of a change; the ids in the state tell, and the program is then replaced in place.
 */

typedef enum Takeover {
        TAKEOVER_NOTHING,       /* no previous instance, or it ended when asked to: the files decide */
        TAKEOVER_RUNNING,       /* its policy runs on with the values it had */
        TAKEOVER_MISMATCH,      /* its values are known, but not the parameters map of what is attached */
        TAKEOVER_LOST,          /* the kernel let go of its policy */
} Takeover;

/* Takes over what there is: a live link in every case, the status except for TAKEOVER_NOTHING. */
int takeover_receive(Manager *m, Takeover *ret);

/* Store the policy just attached, for the next instance. NEW_LINK: not only its program is new. */
int takeover_keep(Manager *m, bool new_link);

/* Write the status for the next instance. STOPPED: this one ends because it was asked to. */
int takeover_save(Manager *m, bool stopped);

/* The policy is gone: nothing to take over but the status. */
int takeover_forget(Manager *m);
