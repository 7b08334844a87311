//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("WaitingLine, a line that is settled twice before anything is carried out")
struct FaultLostBlockTests {
    /// The turn may change hands while the line is settled, and then it is settled again with the same errands.
    @Test func `A block that was to be sent is still to be sent, or its lane keeps its place`() {
        var patience = Patience()
        patience.keeping = 0
        var line = WaitingLine(patience: patience)
        let lanes = (0..<2).map { line.add(Lane(target: DispatchQueue(label: "\($0)"))) }
        for lane in lanes { unsafe line.append(PendingCommand(.medium, in: lane, endsRun: true) { _ in .changed }) }
        var errands = WaitingLine.Errands()
        _ = line.settle(turnIsFree: true, &errands)
        #expect(errands.send === lanes[0])
        _ = line.settle(turnIsFree: true, &errands)
        // An overdue lane waits for its block, so that one must be on its way.
        #expect(errands.send === lanes[0] || !lanes[0].isOverdue)
        while let best = line.best { line.remove(best) }
        for lane in lanes {
            line.arrived(lane)
            while let best = line.best { line.remove(best) }
        }
    }
}
