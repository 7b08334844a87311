// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//
// What a measurement needs of the machine and Swift cannot see: cores for threads, and the memory in use.

#ifndef C_MACHINE_H
#define C_MACHINE_H

#include <stdint.h>

// How many cores this process was started on, and which is number `index` of them.
int machine_core_count(void);
int machine_core(int index);

// Lets the calling thread run on these cores only: a bit each. False if the system cannot.
_Bool machine_run_on(uint64_t cores);

// The bytes that the C heap has handed out and not got back. Zero if the system does not tell.
uint64_t machine_heap_in_use(void);

// How often the calling thread had to leave its core to something else. Zero if the system does not tell.
uint64_t machine_preemptions(void);

// Uses a number, as far as a compiler can tell that does not see how.
void machine_use(int64_t number);

// Keeps the processor busy for so many steps.
void machine_work(int64_t steps);

// The time that all threads of the process have had a processor, in nanoseconds. Zero if the system does not tell.
uint64_t machine_processor_time(void);

// The load of the last minute.
double machine_load(void);

#endif
