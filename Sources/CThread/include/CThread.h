// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//
// Threads that do not inherit what was meant for the one that starts them.

#ifndef CThread_h
#define CThread_h

/// Starts a detached thread of the system's normal scheduling policy, which calls `CThreadBecomeNormal` first. On Linux it
/// may run on the cores of the main thread and of the caller; elsewhere a new thread is pinned to none. It takes none of the
/// signals that are sent to the process.
///
/// - Returns: 0, or the code with which the system refused; `body` is not called then.
int CThreadStart(void *_Nullable (*_Nonnull body)(void *_Nullable), void *_Nullable argument);

/// Gives the calling thread a name, for debuggers, and on Linux the niceness of the main thread if that is less, and the
/// process may have that: without privileges it cannot make a thread less nice.
void CThreadBecomeNormal(const char *_Nonnull name);

/// What the calling thread keeps; nothing at first.
void *_Nullable CThreadLocal(void);
void CThreadSetLocal(void *_Nullable value);

#endif
