// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//
// Stacks that a thread switches between, for virtual threads. A switch is a handful of instructions and no system call.

#ifndef C_FIBER_H
#define C_FIBER_H

#include <stddef.h>

typedef struct {
    // Where the fiber goes on; valid while it does not run.
    void *_Nullable stack_pointer;
    void *_Nullable memory;
    size_t size;
} cfiber;

typedef void (*cfiber_entry)(void *_Nullable context);

// Gives the fiber its memory.
void cfiber_allocate(cfiber *_Nonnull fiber, size_t size);

// The next switch to the fiber calls `entry`, which must never return. What ran on it before is forgotten.
void cfiber_prepare(cfiber *_Nonnull fiber, cfiber_entry _Nonnull entry, void *_Nullable context);

// Goes on with `to`; returns when somebody switches back to `from`.
void cfiber_switch(cfiber *_Nonnull from, cfiber *_Nonnull to);

// Calls `report` on a stack of its own when the process is about to crash, once.
void cfiber_on_crash(void (*_Nonnull report)(int signal));

#endif
