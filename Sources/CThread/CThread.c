// Part of ThreadSafeValue. SPDX-License-Identifier: MIT

#define _GNU_SOURCE
#include "CThread.h"

#include <pthread.h>

#if defined(__linux__)
#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

// The system knows a thread by its number, and the main thread by that of the process.

static void runOnCoresOfMainThread(pthread_t thread) {
    cpu_set_t cores;
    if (sched_getaffinity(getpid(), sizeof(cores), &cores) != 0) return;
#if defined(__ANDROID__)
    sched_setaffinity(pthread_gettid_np(thread), sizeof(cores), &cores);
#else
    pthread_setaffinity_np(thread, sizeof(cores), &cores);
#endif
}

static int create(pthread_t *thread, int inheritance, void *(*body)(void *), void *argument) {
    pthread_attr_t attributes;
    int code = pthread_attr_init(&attributes);
    if (code != 0) return code;
    struct sched_param priority = {.sched_priority = 0};
    pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
    pthread_attr_setschedparam(&attributes, &priority);
    pthread_attr_setinheritsched(&attributes, inheritance);
    code = pthread_create(thread, &attributes, body, argument);
    pthread_attr_destroy(&attributes);
    return code;
}

int CThreadStart(void *(*body)(void *), void *argument) {
    pthread_t thread;
    int code = create(&thread, PTHREAD_EXPLICIT_SCHED, body, argument);
    // A thread of the policy `SCHED_IDLE` may have no right to start one that is not.
    if (code == EPERM) code = create(&thread, PTHREAD_INHERIT_SCHED, body, argument);
    if (code != 0) return code;
    runOnCoresOfMainThread(thread);
    return pthread_detach(thread);
}

void CThreadBecomeNormal(const char *name) {
    pthread_setname_np(pthread_self(), name);
    errno = 0;
    int niceness = getpriority(PRIO_PROCESS, getpid());
    if (errno == 0) setpriority(PRIO_PROCESS, 0, niceness);
}
#else
int CThreadStart(void *(*body)(void *), void *argument) {
    pthread_t thread;
    int code = pthread_create(&thread, NULL, body, argument);
    return code != 0 ? code : pthread_detach(thread);
}

void CThreadBecomeNormal(const char *name) { pthread_setname_np(name); }
#endif
