// Part of ThreadSafeValue. SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "CThread.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

#if defined(__linux__)
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// A new thread inherits policy, cores, niceness and slack. They are set only where they differ: a sandbox may end a process that
// sets any of them. The system knows a thread by its number, and the main thread by that of the process.

/// Adds the cores of the main thread to those of the calling one, and says whether there are any to add.
static bool addsCores(cpu_set_t *cores) {
    cpu_set_t own, main;
    if (sched_getaffinity(0, sizeof(own), &own) != 0) return false;
    if (sched_getaffinity(getpid(), sizeof(main), &main) != 0) return false;
    CPU_OR(cores, &own, &main);
    return !CPU_EQUAL(cores, &own);
}

static void setNormalPolicy(pthread_attr_t *attributes) {
    if (syscall(SYS_sched_getscheduler, 0) == SCHED_OTHER) return;
    struct sched_param priority = {.sched_priority = 0};
    pthread_attr_setschedpolicy(attributes, SCHED_OTHER);
    pthread_attr_setschedparam(attributes, &priority);
    pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED);
}

static int create(pthread_t *thread, void *(*body)(void *), void *argument) {
    pthread_attr_t attributes;
    int code = pthread_attr_init(&attributes);
    if (code != 0) return code;
    setNormalPolicy(&attributes);
#if defined(__GLIBC__)
    // Before the thread runs: its creator may never leave the core on which it would begin.
    cpu_set_t cores;
    if (addsCores(&cores)) pthread_attr_setaffinity_np(&attributes, sizeof(cores), &cores);
#endif
    code = pthread_create(thread, &attributes, body, argument);
    pthread_attr_destroy(&attributes);
    // The process may have no right to that, as when the caller has the policy `SCHED_IDLE`.
    return code != 0 ? pthread_create(thread, NULL, body, argument) : 0;
}

void CThreadBecomeNormal(const char *name) {
#if !defined(__GLIBC__)
    cpu_set_t cores;
    if (addsCores(&cores)) sched_setaffinity(0, sizeof(cores), &cores);
#endif
    // By how much the system may be late to wake it, in nanoseconds; this is what it begins with.
    const unsigned long slack = 50000;
    if (prctl(PR_GET_TIMERSLACK) > (int)slack) prctl(PR_SET_TIMERSLACK, slack);
    errno = 0;
    int niceness = getpriority(PRIO_PROCESS, getpid());
    if (errno == 0 && niceness < getpriority(PRIO_PROCESS, 0)) setpriority(PRIO_PROCESS, 0, niceness);
    // At last: who sees the name sees a normal thread.
    pthread_setname_np(pthread_self(), name);
}
#else
static int create(pthread_t *thread, void *(*body)(void *), void *argument) {
    return pthread_create(thread, NULL, body, argument);
}

void CThreadBecomeNormal(const char *name) { pthread_setname_np(name); }
#endif

int CThreadStart(void *(*body)(void *), void *argument) {
    // Signals of the process go to its own threads; those of a crash are of the thread that crashes.
    sigset_t signals, own;
    sigfillset(&signals);
    const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++) sigdelset(&signals, crashes[i]);
    pthread_sigmask(SIG_SETMASK, &signals, &own);
    pthread_t thread;
    int code = create(&thread, body, argument);
    pthread_sigmask(SIG_SETMASK, &own, NULL);
    return code != 0 ? code : pthread_detach(thread);
}

static _Thread_local void *local;

void *CThreadLocal(void) { return local; }

void CThreadSetLocal(void *value) { local = value; }
