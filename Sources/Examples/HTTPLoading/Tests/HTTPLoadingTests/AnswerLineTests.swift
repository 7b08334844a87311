//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import HTTPLoading
import Testing
import ThreadSafeValue

@Suite("Handlers that wait")
struct AnswerLineTests {
    @Test("Handlers added before completion wait; on completion they run in order, once, serially")
    func inOrder() {
        let line = AnswerLine<String>(on: .global())
        let (log, running, all) = (Protected<[Int]>([]), Protected(0), DispatchGroup())
        for number in 0..<1_000 {
            all.enter()
            line.wait { answer, done in
                #expect(answer == "answer")
                running.wrappedValue += 1
                #expect(running.wrappedValue == 1)
                log.append(number)
                // The turn is kept until `done`, which comes from another queue.
                DispatchQueue.global(qos: .utility).async {
                    running.wrappedValue -= 1
                    done()
                    all.leave()
                }
            }
        }
        #expect(log.wrappedValue == [])
        line.fulfil("answer")
        #expect(all.isEmptySoon())
        #expect(log.wrappedValue == Array(0..<1_000))
    }

    @Test("An answer that comes before everything is not missed")
    func earlyAnswer() {
        for _ in 0..<1_000 {
            // On a queue that is busy, so that the answer overtakes the command that makes handlers wait.
            let (queue, door, handled) = (DispatchQueue(label: "busy"), Door(), Door())
            queue.async { #expect(door.isOpenSoon()) }
            let line = AnswerLine<Int>(on: queue)
            line.fulfil(1)
            line.wait { answer, done in
                #expect(answer == 1)
                done()
                handled.open()
            }
            door.open()
            #expect(handled.isOpenSoon())
        }
    }

    @Test("A handler added later runs at once")
    func late() {
        let line = AnswerLine<Int>(on: .global())
        line.fulfil(1)
        for _ in 0..<100 {
            let handled = Door()
            line.wait { answer, done in
                #expect(answer == 1)
                done()
                handled.open()
            }
            #expect(handled.isOpenSoon())
        }
    }

    @Test("Concurrent registration loses no handler, and keeps each thread's order")
    func concurrently() {
        for _ in 0..<20 {
            let line = AnswerLine<Int>(on: .global())
            let (log, all) = (Protected<[[Int]]>(Array(repeating: [], count: 8)), DispatchGroup())
            // The ninth thread answers while the others register.
            onThreads(9) { index in
                if index == 8 { return line.fulfil(1) }
                for number in 0..<100 {
                    all.enter()
                    line.wait { answer, done in
                        #expect(answer == 1)
                        log.wrappedValue[index].append(number)
                        done()
                        all.leave()
                    }
                }
            }
            #expect(all.isEmptySoon())
            #expect(log.wrappedValue == Array(repeating: Array(0..<100), count: 8))
        }
    }

    @Test("A line that goes away unanswered calls its handlers without an answer")
    func dropped() {
        let handled = DispatchGroup()
        do {
            let line = AnswerLine<Int>(on: .global())
            for _ in 0..<10 {
                handled.enter()
                line.wait { answer, done in
                    #expect(answer == nil)
                    done()
                    handled.leave()
                }
            }
        }
        #expect(handled.isEmptySoon())
    }

    @Test("Handlers of a request run one after the other, each when the completion before has returned")
    func handlersOfRequest() {
        let mock = MockSession()
        let (request, task) = mock.requestWithTask()
        let (log, all, door) = (Protected<[String]>([]), DispatchGroup(), Door())
        request.response(on: DispatchQueue(label: "slow"), in: all) { _ in
            #expect(door.isOpenSoon())
            log.append("first completed")
        }
        request.response(on: .global(), in: all) { _ in
            log.append("second processed")
        } completion: { _ in
            log.append("second completed")
        }
        mock.transport.answer(task.identifier)
        #expect(mock.settle())
        #expect(log.wrappedValue == [])
        door.open()
        #expect(all.isEmptySoon())
        request.response(on: .global(), in: all) { _ in log.append("late") }
        #expect(all.isEmptySoon())
        #expect(log.wrappedValue == ["first completed", "second processed", "second completed", "late"])
    }
}
