//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import Testing

/// Longer than anything takes, sanitizers included: a test that waits for so long has failed, and goes on.
private let patience = DispatchTimeInterval.seconds(60)

extension DispatchGroup {
    /// Waits until everybody has left.
    func isEmptySoon() -> Bool {
        wait(timeout: .now() + patience) == .success
    }
}

/// A door that stays open once somebody has opened it.
struct Door: Sendable {
    private let closed = DispatchGroup()

    init() {
        closed.enter()
    }

    /// Opens it; to be called once.
    func open() {
        closed.leave()
    }

    /// Waits until it is open.
    func isOpenSoon() -> Bool {
        closed.isEmptySoon()
    }
}

/// Runs a closure once on each of several real threads, which start together, and waits for all of them.
func onThreads(_ count: Int, _ body: @escaping @Sendable (_ index: Int) -> Void) {
    let (missing, running) = (DispatchGroup(), DispatchGroup())
    for _ in 0..<count {
        missing.enter()
        running.enter()
    }
    for index in 0..<count {
        Thread {
            missing.leave()
            if missing.isEmptySoon() { body(index) }
            running.leave()
        }.start()
    }
    #expect(running.isEmptySoon())
}
