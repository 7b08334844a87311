//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("WaitingLine, single decisions")
struct WaitingLineDecisionTests {
    @Test func `A promise is taken back when something more urgent comes, which is woken at once`() {
        var line = WaitingLine(patience: Patience())
        let low = Parker()
        let high = Parker()
        let first = PendingCommand(.lowest, of: low)
        let better = PendingCommand(.highest, of: high)
        var errands = WaitingLine.Errands()
        line.append(first)
        _ = line.settle(turnIsFree: true, &errands)
        #expect(errands.wake === low)
        errands = WaitingLine.Errands()
        line.append(better)
        _ = line.settle(turnIsFree: true, &errands)
        #expect(errands.wake === high)
        line.remove(first)
        line.remove(better)
    }

    @Test func `A lane runs as many commands in one go as a batch has`() {
        var patience = Patience()
        patience.batch = 2
        let line = WaitingLine(patience: patience)
        #expect(line.mayGoOn(served: 1))
        #expect(!line.mayGoOn(served: 2))
    }

    @Test func `A queue has one lane, whatever object stands for it`() {
        var line = WaitingLine(patience: Patience())
        let lane = line.add(Lane(target: .global(qos: .utility)))
        #expect(line.lane(for: .global(qos: .utility)) === lane)
        #expect(line.lane(for: .global(qos: .background)) == nil)
        #expect(line.lane(for: DispatchQueue(label: "another")) == nil)
    }

    @Test func `A lane whose block is out sends no other`() {
        var line = WaitingLine(patience: Patience())
        let lane = line.add(Lane(target: DispatchQueue(label: "one block")))
        let work = unsafe PendingCommand(.lowest, in: lane, endsRun: true) { _ in .changed }
        line.append(work)
        var errands = WaitingLine.Errands()
        _ = line.settle(turnIsFree: true, &errands)
        #expect(errands.send === lane)
        // Something more urgent takes the promise, and leaves.
        let urgent = PendingCommand(.highest, of: Parker())
        line.append(urgent)
        _ = line.settle(turnIsFree: true, &errands)
        line.remove(urgent)
        errands = WaitingLine.Errands()
        _ = line.settle(turnIsFree: true, &errands)
        #expect(line.promised != nil)
        #expect(errands.send == nil)
        line.remove(work)
    }

    @Test func `A block that stays for a moment counts as sent`() {
        var line = WaitingLine(patience: Patience())
        let lane = line.add(Lane(target: DispatchQueue(label: "stays")))
        line.left(lane, staying: true)
        let work = unsafe PendingCommand(.lowest, in: lane, endsRun: true) { _ in .changed }
        line.append(work)
        var errands = WaitingLine.Errands()
        _ = line.settle(turnIsFree: true, &errands)
        #expect(line.promised != nil)
        #expect(errands.send == nil)
        line.remove(work)
    }

    @Test func `Nobody passes by the bound of a younger command while a run may come back`() {
        var line = WaitingLine(patience: Patience())
        let lane = line.add(Lane(target: DispatchQueue(label: "run")))
        for _ in 0..<2 { line.append(unsafe PendingCommand(.lowest, in: lane, endsRun: false) { _ in .changed }) }
        let younger = PendingCommand(.lowest, of: Parker())
        line.append(younger)
        #expect(line.passingBound(of: line.best, after: .never).allows(.lowest, at: 0))
        var run = line.takeRun(of: lane)
        #expect(line.best === younger)
        #expect(!line.passingBound(of: line.best, after: .never).allows(.lowest, at: 0))
        line.putBack(&run, to: lane)
        #expect(line.passingBound(of: line.best, after: .never).allows(.lowest, at: 0))
        while let command = line.best { line.remove(command) }
    }

    @Test func `Nobody passes a woken thread while it looks for the turn`() {
        var line = WaitingLine(patience: Patience())
        let thread = PendingCommand(.lowest, of: Parker())
        var errands = WaitingLine.Errands()
        line.append(thread)
        _ = line.settle(turnIsFree: true, &errands)
        // It is on the way.
        #expect(line.passingBound(of: line.best, after: .never).allows(.lowest, at: 0))
        let isHere = line.keepsPromise(to: thread)
        #expect(isHere)
        #expect(!line.passingBound(of: line.best, after: .never).allows(.lowest, at: 0))
        // It parks again.
        line.arrived(thread)
        #expect(line.passingBound(of: line.best, after: .never).allows(.lowest, at: 0))
        line.remove(thread)
    }
}
