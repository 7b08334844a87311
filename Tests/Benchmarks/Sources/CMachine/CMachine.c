// Part of ThreadSafeValue. SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#define _DEFAULT_SOURCE
#include "CMachine.h"

#include <stdlib.h>
#include <sys/resource.h>

#if defined(__linux__)
#include <malloc.h>
#include <sched.h>

// As it was before anybody changed it.
static cpu_set_t started;

__attribute__((constructor)) static void look(void) {
    CPU_ZERO(&started);
    sched_getaffinity(0, sizeof started, &started);
}

int machine_core_count(void) {
    int count = 0;
    for (int core = 0; core < 64; core++) count += CPU_ISSET(core, &started) != 0;
    return count;
}

int machine_core(int index) {
    for (int core = 0; core < 64; core++) {
        if (CPU_ISSET(core, &started) && index-- == 0) return core;
    }
    return 0;
}

_Bool machine_run_on(uint64_t cores) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int core = 0; core < 64; core++) {
        if (cores >> core & 1) CPU_SET(core, &set);
    }
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

uint64_t machine_preemptions(void) {
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_nivcsw : 0;
}

uint64_t machine_heap_in_use(void) {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}
#else
int machine_core_count(void) { return 2; }
int machine_core(int index) { return index; }
_Bool machine_run_on(uint64_t cores) { return 0; }
uint64_t machine_preemptions(void) { return 0; }
uint64_t machine_heap_in_use(void) { return 0; }
#endif

void machine_use(int64_t number) {
    (void)number;
}

void machine_work(int64_t steps) {
    for (int64_t step = 0; step < steps; step++) __asm__ volatile("" : : "r"(step));
}

uint64_t machine_processor_time(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
    uint64_t seconds = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
    return seconds * 1000000000 + (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

double machine_load(void) {
    double load = 0;
    getloadavg(&load, 1);
    return load;
}
