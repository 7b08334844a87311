//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

@Suite("Protected, debugging")
struct ProtectedDebuggingTests {
    @Test("The description shows the value")
    func describes() {
        #expect(Protected(5).debugDescription == "Protected(5)")
        #expect(String(reflecting: Protected("five")) == #"Protected("five")"#)
        #expect("\(Protected([1, 2]))" == "Protected([1, 2])")
    }

    @Test("Describing never waits: not for another thread that holds the lock")
    func doesNotWait() {
        let number = Protected(5)
        let (held, described) = (Door(), Door())
        let holder = RunningThread {
            number.write { _ in
                held.open()
                described.waitUntilOpen()
            }
        }
        held.waitUntilOpen()
        #expect(number.debugDescription == "Protected(locked)")
        described.open()
        holder.join()
        #expect(number.debugDescription == "Protected(5)")
    }

    @Test("Describing never waits: not for an access of its own thread")
    func doesNotWaitForItself() {
        let number = Protected(5)
        #expect(number.read { _ in number.debugDescription } == "Protected(locked)")
        #expect(number.write { _ in "\(number)" } == "Protected(locked)")
        #expect(number.debugDescription == "Protected(5)")
    }

    @Test("The description of a value is made outside the lock, so it may use the value")
    func describesOutside() {
        #expect(Proud.shared.debugDescription == "Protected(number 1)")
    }
}

/// Looks at the protected value while it is described.
private struct Proud: CustomDebugStringConvertible {
    static let shared = Protected(Proud())

    var number = 1

    var debugDescription: String {
        "number \(Proud.shared.number)"
    }
}
