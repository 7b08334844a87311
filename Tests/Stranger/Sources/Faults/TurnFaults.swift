//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import ThreadSafeValue

let turnFaults = [
    Fault("a command that gets, and one that sets", says: "both counted: false") { stage, isWrong in
        let count = QueueSafeValue(value: 0)
        for name in ["a", "b"] {
            stage.thread(name) {
                if isWrong {
                    let old = try count.wait.lowestPriority.get().get()
                    count.wait.lowestPriority.set(newValue: old + 1)
                } else {
                    count.wait.lowestPriority.set { $0 += 1 }
                }
            }
        }
        stage.check("both counted") { try count.wait.lowestPriority.get().get() == 2 }
    },
    Fault("turns in opposite orders", says: "opposite orders: ") { stage, isWrong in
        let (a, b) = (QueueSafeValue(value: 1), QueueSafeValue(value: 2))
        stage.thread("a") {
            if isWrong {
                a.wait.lowestPriority.set { a in b.wait.lowestPriority.set { [a] b in b += a } }
            } else {
                withLocked(a, b) { a, b in b += a }
            }
        }
        stage.thread("b") {
            if isWrong {
                b.wait.lowestPriority.set { b in a.wait.lowestPriority.set { [b] a in a += b } }
            } else {
                withLocked(b, a) { b, a in a += b }
            }
        }
    },
    Fault("a missed done", says: "hang: ") { stage, isWrong in
        let (value, kept) = (QueueSafeValue(value: 0), Protected<CommandCompletionClosure?>(nil))
        stage.thread("a") {
            value.async(performIn: .global()).lowestPriority.set { value, done in
                value += 1
                if isWrong { kept.wrappedValue = done } else { done() }
            }
        }
        stage.thread("b") { value.wait.lowestPriority.set { $0 += 1 } }
        // A `done` that goes away is no hang.
        stage.check("done is kept") { isWrong == (kept.wrappedValue != nil) }
    },
    Fault("a completion that arrives after cancel", says: "shown while open: false") { stage, isWrong in
        struct Screen: Sendable { var isOpen = true, shownClosed = false }
        let (value, screen) = (QueueSafeValue(value: 0), Protected(Screen()))
        stage.thread("a") {
            let command = value.async(performIn: DispatchQueue(label: "screen")).lowestPriority.get { _ in
                screen.write { screen in
                    if screen.isOpen { return }
                    // It was closed, and is told all the same.
                    if isWrong { screen.shownClosed = true }
                }
            }
            command.cancel()
            screen.isOpen = false
        }
        stage.check("shown while open") { !screen.shownClosed }
    },
    Fault("completions that are thought to come in order", says: "in order: false") { stage, isWrong in
        let (value, log) = (QueueSafeValue(value: 0), Protected<[Int]>([]))
        let serial = DispatchQueue(label: "log")
        stage.thread("a") {
            for number in [1, 2] {
                let queue = isWrong && number == 1 ? DispatchQueue.global() : serial
                value.async(performIn: queue).lowestPriority.set {
                    $0 = number
                } completion: { _ in
                    log.append(number)
                }
            }
        }
        stage.check("in order") { log.wrappedValue == [1, 2] }
    },
    Fault("a value that stays suspended", says: "hang: b waits") { stage, isWrong in
        let (value, isReady) = (QueueSafeValue(value: 0), Protected(false))
        stage.thread("a") {
            value.suspend()
            // It is resumed only if the other thread was late.
            if !isWrong || !isReady.wrappedValue { value.resume() }
        }
        stage.thread("b") {
            isReady.wrappedValue = true
            value.wait.lowestPriority.set { $0 += 1 }
        }
    },
    Fault("a time-out that is taken for an answer", says: "paid once: false") { stage, isWrong in
        let (payments, paid) = (QueueSafeValue(value: 0), Protected(0))
        stage.thread("pays") {
            let result = payments.wait(timeout: .seconds(1)).lowestPriority.set { $0 += 1 }
            if isWrong, case .failure = result { payments.wait.lowestPriority.set { $0 += 1 } }
            if case .success = result { paid.wrappedValue += 1 }
        }
        stage.thread("audits") { payments.wait.lowestPriority.get { _ in paid.wrappedValue += 0 } }
        stage.check("paid once") { try payments.wait.lowestPriority.get().get() == paid.wrappedValue }
    },
]
