//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

/// Keeps a thread from running on, wherever it is just then: it enters a signal handler, and waits there. One thread at
/// a time, in a process that does nothing else with this signal.
struct HeldUpThread {
    private let identity: Unguarded<pthread_t?>

    /// Calls a closure in the thread that is to be held up later.
    static func start(_ body: @escaping @Sendable () -> Void) -> (thread: HeldUpThread, running: RunningThread) {
        let identity = Unguarded<pthread_t?>(nil)
        let isThere = Door()
        let running = RunningThread {
            // Threads inherit what is blocked, and workers of dispatch queues block all.
            var signals = sigset_t()
            unsafe sigemptyset(&signals)
            unsafe sigaddset(&signals, SIGUSR1)
            unsafe precondition(pthread_sigmask(SIG_UNBLOCK, &signals, nil) == 0)
            identity.value = pthread_self()
            isThere.open()
            body()
        }
        isThere.waitUntilOpen()
        return (HeldUpThread(identity: identity), running)
    }

    /// Returns when the thread does not run any more.
    func holdUp() {
        _ = pipes
        _ = signal(SIGUSR1) { _ in
            let place = errno
            pipes.entered.write()
            pipes.left.read()
            errno = place
        }
        precondition(pthread_kill(identity.value!, SIGUSR1) == 0)
        pipes.entered.read()
    }

    func letGo() {
        pipes.left.write()
    }
}

private let pipes = (entered: BytePipe(), left: BytePipe())

/// Only what a signal handler may use.
private struct BytePipe {
    private let ends: (reading: CInt, writing: CInt)

    init() {
        var ends: [CInt] = [0, 0]
        precondition(unsafe pipe(&ends) == 0)
        self.ends = (ends[0], ends[1])
    }

    func write() {
        var byte: UInt8 = 0
        precondition(unsafe Foundation.write(ends.writing, &byte, 1) == 1)
    }

    func read() {
        var byte: UInt8 = 0
        while unsafe Foundation.read(ends.reading, &byte, 1) != 1 { precondition(errno == EINTR) }
    }
}
