//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// The hooks of `ThreadSafeValueTesting`, behind the package trait `EverySchedule`. Without the trait each call is
// compiled to nothing.

#if EverySchedule
public import Dispatch

/// Decides which thread of a test goes on. Each method is called by the thread that it is about; threads that are no
/// part of a test get `nil` and `false`.
package protocol Scheduler: AnyObject, Sendable {
    /// The thread begins an access, or takes a lock or a turn, whose word is at an address, and may wait for it.
    func reached(_ what: StaticString, _ object: AnyObject, at word: UInt, waits: Bool)
    /// The thread has a time-out that ends at a time of `now()`.
    func beganTimeout(until time: UInt64)
    /// The thread sleeps.
    ///
    /// - Returns: Whether it was woken.
    func park(_ place: AnyObject, until time: UInt64) -> Bool?
    func wake(_ place: AnyObject)
    func dispatch(_ body: @escaping @Sendable () -> Void, to queue: DispatchQueue, identity: UInt) -> Bool
    /// Calls a closure at a time of `now()`, unless its timer is cancelled before.
    func call(_ body: @escaping @Sendable () -> Void, at time: UInt64, for timer: LibraryTimer) -> Bool
    func cancel(_ timer: LibraryTimer)
    /// The virtual time, if the thread has one.
    var time: UInt64? { get }
}

/// The one scheduler of the process.
package enum Scheduling {
    // The word is atomic; what is installed is read once the word says so.
    nonisolated(unsafe) private static let isInstalled: AtomicWord = {
        let storage = UnsafeMutablePointer<AtomicWord.Storage>.allocate(capacity: 1)
        unsafe storage.initialize(to: AtomicWord.zero)
        return unsafe AtomicWord(storage)
    }()
    nonisolated(unsafe) private static var installed: (any Scheduler)?

    package static var current: (any Scheduler)? { unsafe isInstalled.loadAcquiring() == 0 ? nil : installed }

    /// Installs the scheduler, once.
    package static func install(_ scheduler: any Scheduler) {
        unsafe installed = scheduler
        _ = unsafe isInstalled.exchangeReleasing(0, for: 1)
    }

    /// The thread and the task that call.
    package static var identity: (thread: UInt64, task: UInt64) { (currentThreadIdentity(), currentTaskIdentity()) }

    /// The holder while a manual command, whose closure has returned, has the turn.
    package static var detached: UInt64 { 1 << 4 }

    /// Reads from the word at an address which thread or task has the lock or the turn.
    package static func holder(at word: UInt) -> UInt64 {
        unsafe AtomicWord(UnsafeMutablePointer(bitPattern: word).unsafelyUnwrapped).load() & identityBits
    }
}

@usableFromInline
func schedulingPoint(_ what: StaticString, _ object: AnyObject, _ word: UnsafeRawPointer, waits: Bool = true) {
    Scheduling.current?.reached(what, object, at: UInt(bitPattern: word), waits: waits)
}

func schedulerTime() -> UInt64? { Scheduling.current?.time }
@usableFromInline func schedulerTimeout(_ time: UInt64) { Scheduling.current?.beganTimeout(until: time) }
func schedulerPark(_ place: AnyObject, _ time: UInt64) -> Bool? { Scheduling.current?.park(place, until: time) }
/// The place is woken as ever, too: a thread that is no part of a test may sleep there.
func schedulerWake(_ place: AnyObject) -> Bool {
    Scheduling.current?.wake(place)
    return false
}
/// Threads wait for each other: a thread of a test sleeps for ever, so that the test says who waits for whom.
func schedulerFoundCircle() { _ = schedulerPark(Parker(), .max) }
func schedulerCancels(_ timer: LibraryTimer) { Scheduling.current?.cancel(timer) }
func schedulerCalls(_ body: @escaping @Sendable () -> Void, at time: UInt64, for timer: LibraryTimer) -> Bool {
    Scheduling.current?.call(body, at: time, for: timer) == true
}

extension DispatchQueue {
    /// Takes the place of the system's method in this module.
    @usableFromInline func async(execute body: @escaping @Sendable () -> Void) {
        if Scheduling.current?.dispatch(body, to: self, identity: identity) == true { return }
        async(group: nil, execute: body)
    }
}
#else
// What is passed is not looked for.
@_alwaysEmitIntoClient @_transparent
func schedulingPoint(_: StaticString, _: @autoclosure () -> AnyObject, _: @autoclosure () -> Any, waits: Bool = true) {}
@_transparent func schedulerTime() -> UInt64? { nil }
@_alwaysEmitIntoClient @_transparent func schedulerTimeout(_ time: UInt64) {}
@_transparent func schedulerPark(_ place: AnyObject, _ time: UInt64) -> Bool? { nil }
@inline(__always) func schedulerWake(_ place: AnyObject) -> Bool { false }
@_transparent func schedulerFoundCircle() {}
@inline(__always) func schedulerCalls(_ body: () -> Void, at time: UInt64, for timer: LibraryTimer) -> Bool { false }
@_transparent func schedulerCancels(_ timer: LibraryTimer) {}
#endif
