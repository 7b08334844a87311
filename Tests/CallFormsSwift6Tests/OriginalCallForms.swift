//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Every call form of the original framework, as its users write them, with nothing but the import changed. The file is
// compiled twice: in Swift 6 mode here and in Swift 5 mode in CallFormsSwift5Tests.

import Dispatch
import Testing
import ThreadSafeValue

@Suite("The call forms of the original framework")
struct OriginalCallForms {
    private let group = DispatchGroup()

    /// Runs what a user would put in a block of a global queue, and waits for it.
    private func onGlobalQueue(_ qos: DispatchQoS.QoSClass, _ body: @escaping @Sendable () -> Void) {
        DispatchQueue.global(qos: qos).async(group: group) { body() }
        group.wait()
    }

    @Test func `wait get`() {
        let queueSafeValue = QueueSafeValue(value: true)
        let queueSafeSyncedValue = QueueSafeSyncedValue(value: "a")
        onGlobalQueue(.utility) {
            let result = queueSafeValue.wait.lowestPriority.get()
            switch result {
            case .failure(let error): Issue.record("\(error)")
            case .success(let value): #expect(value)
            }
            #expect(queueSafeSyncedValue.lowestPriority.get() == .success("a"))
        }
    }

    @Test func `wait get in a closure`() {
        let queueSafeValue = QueueSafeValue(value: 6)
        let queueSafeSyncedValue = QueueSafeSyncedValue(value: [1, 2, 3])
        onGlobalQueue(.unspecified) {
            queueSafeValue.wait.lowestPriority.get { result in
                switch result {
                case .failure(let error): Issue.record("\(error)")
                case .success(let value): #expect(value == 6)
                }
            }
            queueSafeSyncedValue.lowestPriority.get { result in
                #expect(result == .success([1, 2, 3]))
            }
        }
    }

    @Test func `wait get in a closure with manual completion`() {
        let queueSafeValue = QueueSafeValue(value: 4.44)
        let queueSafeSyncedValue = QueueSafeSyncedValue(value: 4.45)
        onGlobalQueue(.unspecified) {
            queueSafeValue.wait.highestPriority.get { result, done in
                #expect(result == .success(4.44))
                done()
            }
            queueSafeValue.wait.highestPriority.get { (result, complete) in
                #expect(result == .success(4.44))
                complete()
            }
            queueSafeSyncedValue.highestPriority.get { result, done in
                #expect(result == .success(4.45))
                DispatchQueue.global().async { done() }
            }
        }
    }

    @Test func `wait set`() {
        let queueSafeValue = QueueSafeValue<Int>(value: 1)
        let queueSafeSyncedValue = QueueSafeSyncedValue(value: "b")
        onGlobalQueue(.userInitiated) {
            let result = queueSafeValue.wait.lowestPriority.set(newValue: 2)
            switch result {
            case .failure(let error): Issue.record("\(error)")
            case .success(let value): #expect(value == 2)
            }
            queueSafeSyncedValue.lowestPriority.set(newValue: "b1")
            #expect(queueSafeSyncedValue.lowestPriority.get() == .success("b1"))
        }
    }

    @Test func `wait set in a closure`() {
        let queueSafeValue = QueueSafeValue(value: 1)
        let queueSafeSyncedValue = QueueSafeSyncedValue(value: ["a": 1])
        onGlobalQueue(.default) {
            let result = queueSafeValue.wait.lowestPriority.set { $0 = 3 }
            #expect(result == .success(3))
            queueSafeValue.wait.lowestPriority.set { currentValue in
                currentValue = 4
            }
            #expect(queueSafeSyncedValue.lowestPriority.set { $0["b"] = 2 } == .success(["a": 1, "b": 2]))
        }
        #expect(queueSafeValue.wait.lowestPriority.get() == .success(4))
    }

    @Test func `wait set in a closure with manual completion`() {
        let queueSafeValue = QueueSafeValue(value: "value 1")
        let queueSafeSyncedValue = QueueSafeSyncedValue(value: "value a")
        onGlobalQueue(.default) {
            let result = queueSafeValue.wait.lowestPriority.set { currentValue, done in
                currentValue = "value 2"
                done()
            }
            #expect(result == .success("value 2"))
            queueSafeSyncedValue.lowestPriority.set { currentValue, done in
                currentValue = "value b"
                DispatchQueue.global().async { done() }
            }
        }
        #expect(queueSafeSyncedValue.lowestPriority.get() == .success("value b"))
    }

    @Test func `wait map`() {
        let queueSafeValue = QueueSafeValue(value: 5)
        let queueSafeSyncedValue = QueueSafeSyncedValue(value: "1")
        onGlobalQueue(.background) {
            #expect(queueSafeValue.wait.lowestPriority.map { "\($0)" } == .success("5"))
            #expect(queueSafeSyncedValue.lowestPriority.map { Int($0) } == .success(1))
        }
    }

    @Test func `async get in a closure`() {
        let queueSafeValue = QueueSafeValue(value: true)
        let queueSafeAsyncedValue = QueueSafeAsyncedValue(value: true, queue: .global(qos: .utility))
        let semaphore = DispatchSemaphore(value: 0)
        queueSafeValue.async(performIn: .global(qos: .utility)).highestPriority.get { result in
            #expect(result == .success(true))
            semaphore.signal()
        }
        queueSafeAsyncedValue.highestPriority.get { result in
            #expect(result == .success(true))
            semaphore.signal()
        }
        semaphore.wait()
        semaphore.wait()
    }

    @Test func `async get in a closure with manual completion`() {
        let queueSafeValue = QueueSafeValue(value: "test")
        let queueSafeAsyncedValue = QueueSafeAsyncedValue(value: "super test", queue: .global(qos: .background))
        let semaphore = DispatchSemaphore(value: 0)
        queueSafeValue.async(performIn: .global(qos: .utility)).highestPriority.get { result, done in
            #expect(result == .success("test"))
            done()
            semaphore.signal()
        }
        queueSafeAsyncedValue.highestPriority.get { result, done in
            #expect(result == .success("super test"))
            DispatchQueue.global().async {
                done()
                semaphore.signal()
            }
        }
        semaphore.wait()
        semaphore.wait()
    }

    @Test func `async set`() {
        let queueSafeValue = QueueSafeValue(value: 7)
        let queueSafeAsyncedValue = QueueSafeAsyncedValue(value: 7, queue: .global())
        let semaphore = DispatchSemaphore(value: 0)
        queueSafeValue.async(performIn: .utility).highestPriority.set(newValue: 8)
        queueSafeValue.async(performIn: .utility).highestPriority.set(newValue: 9) { result in
            switch result {
            case .failure(let error): Issue.record("\(error)")
            case .success(let value): #expect(value == 9)
            }
            semaphore.signal()
        }
        queueSafeAsyncedValue.highestPriority.set(newValue: 8)
        queueSafeAsyncedValue.highestPriority.set(newValue: 9) { result in
            #expect(result == .success(9))
            semaphore.signal()
        }
        semaphore.wait()
        semaphore.wait()
    }

    @Test func `async set in a closure`() {
        let queueSafeValue = QueueSafeValue(value: 1)
        let queueSafeAsyncedValue = QueueSafeAsyncedValue(value: 1, queue: .global(qos: .userInteractive))
        let semaphore = DispatchSemaphore(value: 0)
        queueSafeValue.async(performIn: .background).highestPriority.set { $0 = 10 }
        queueSafeValue.async(performIn: .background).highestPriority.set { currentValue in
            currentValue = 11
        } completion: { result in
            #expect(result == .success(11))
            semaphore.signal()
        }
        queueSafeAsyncedValue.highestPriority.set(accessClosure: { $0 = 10 })
        queueSafeAsyncedValue.highestPriority.set { currentValue in
            currentValue = 11
        } completion: { result in
            #expect(result == .success(11))
            semaphore.signal()
        }
        semaphore.wait()
        semaphore.wait()
    }

    @Test func `async set in a closure with manual completion`() {
        let queueSafeValue = QueueSafeValue(value: 999.1)
        let queueSafeAsyncedValue = QueueSafeAsyncedValue(value: 1000.1, queue: .global(qos: .userInteractive))
        let semaphore = DispatchSemaphore(value: 0)
        queueSafeValue.async(performIn: .background).highestPriority.set { currentValue, done in
            currentValue = 999.2
            done()
        }
        queueSafeValue.async(performIn: .background).highestPriority.set { currentValue, done in
            currentValue = 999.3
            done()
        } completion: { result in
            #expect(result == .success(999.3))
            semaphore.signal()
        }
        queueSafeAsyncedValue.highestPriority.set { currentValue, done in
            currentValue = 1000.3
            DispatchQueue.global().async { done() }
        } completion: { result in
            #expect(result == .success(1000.3))
            semaphore.signal()
        }
        semaphore.wait()
        semaphore.wait()
    }

    @Test func `closures that may be nil`() {
        let queueSafeValue = QueueSafeValue(value: 1)
        let accessClosure: ((inout Int) -> Void)? = { $0 += 1 }
        let getClosure: ((Result<Int, QueueSafeValueError>) -> Void)? = { #expect($0 == .success(2)) }
        let mapClosure: ((Int) -> String)? = nil
        #expect(queueSafeValue.wait.lowestPriority.set(completion: accessClosure) == .success(2))
        queueSafeValue.wait.lowestPriority.get(completion: getClosure)
        queueSafeValue.wait.lowestPriority.get(completion: nil)
        #expect(queueSafeValue.wait.lowestPriority.map(completion: mapClosure) == .failure(.commandClosureDeallocated))
        #expect(queueSafeValue.wait.lowestPriority.set(completion: nil) == .failure(.commandClosureDeallocated))
        #expect(queueSafeValue.wait.lowestPriority.set(manualCompletion: nil) == .failure(.commandClosureDeallocated))
        #expect(queueSafeValue.wait.lowestPriority.get(manualCompletion: nil) == .failure(.commandClosureDeallocated))
        queueSafeValue.async(performIn: .utility).lowestPriority.get(completion: nil)
        queueSafeValue.async(performIn: .utility).lowestPriority.get(manualCompletion: nil)
        queueSafeValue.async(performIn: .utility).lowestPriority.set(accessClosure: nil)
        queueSafeValue.async(performIn: .utility).lowestPriority.set(manualCompletion: nil)
    }
}
