//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import CFiber

/// What a virtual thread does next, once the scheduler lets it.
enum Step {
    case run(StaticString, UInt64)
    case lock(PlatformLock)
    case wait(DispatchSemaphore, until: UInt64?)
    case work(DispatchQueue)
    case until(StaticString, () -> Bool)
    case never
}

/// A thread of a scenario, which may be a task or the main thread, or a worker of a queue; on a stack of its own.
@safe
final class VirtualThread {
    let index: Int
    private(set) var name = ""
    let fiber: UnsafeMutablePointer<cfiber>
    var next: Step = .never
    private(set) var isFinished = true

    /// The queue that it works for; `nil` for a thread of the scenario.
    private(set) var queue: DispatchQueue?
    var task: VirtualTask?
    var isMain = false

    /// Everything that it has seen since it started or forgot, in one number. Its own state depends on nothing else.
    private(set) var observed: UInt64 = 0

    // What names the objects that it makes: what it did when it forgot, and how many it has made since.
    private var mark: UInt64 = 0
    private var objects: UInt64 = 0

    /// The `wait` and `await` commands that it is in.
    var commands: [Int] = []
    /// The async command that it is submitting.
    var submitted: Int?

    /// What it stands in line as.
    var waiter: Waiter?
    var locals: [ObjectIdentifier: AnyObject] = [:]
    /// How many locks it has, and the value whose lock it took last.
    var lockCount = 0
    var lockedValue = 0
    /// What it has seen of memory, and whether it waits for a lock with a time-out.
    var view = View()
    var isTimed = false

    private var body: (() -> Void)?

    init(index: Int) {
        self.index = index
        unsafe fiber = .allocate(capacity: 1)
        unsafe fiber.initialize(to: cfiber())
        unsafe cfiber_allocate(fiber, 256 << 10)
    }
}

extension VirtualThread {
    /// Begins anew with `body`.
    func start(_ name: String, of queue: DispatchQueue?, _ body: @escaping () -> Void) {
        (self.name, self.queue, self.body) = (name, queue, body)
        (task, isMain, commands, submitted, waiter, locals, lockCount) = (nil, false, [], nil, nil, [:], 0)
        (isFinished, isTimed, view) = (false, false, world.current.view)
        next = .never
        forget()
        unsafe cfiber_prepare(
            fiber,
            { context in unsafe VirtualThread.enter(context!) },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    /// A number of the form that the identity of a real thread has.
    var identity: UInt64 { 1 << 32 | UInt64(index) << 4 }

    /// Whether it has that identity, or is a task that has.
    func isKnown(as holder: UInt64) -> Bool {
        let identity = holder & identityBits
        return identity == self.identity || identity == task?.identity
    }

    func newObject() -> UInt64 {
        objects += 1
        return mix(mark, objects)
    }

    func observe(_ fact: UInt64) {
        observed = mix(observed, fact)
    }

    /// What comes now depends on nothing that it saw before but `outcome`.
    func forget(but outcome: UInt64 = 0) {
        observed = mix(UInt64(index), outcome)
        mark = mix(observed, 1)
        objects = 0
    }

    /// The thread sleeps, or goes to the graph of waits.
    ///
    /// Of all it has seen nothing matters any more there but the commands that it is in and how far they are: this is
    /// how the library is written, and it saves most of the states. A worker remembers the block that it runs.
    func rememberOnlyCommands() {
        if queue != nil { return }
        observed = mix(UInt64(index), mix(mark, world.monitor.progress(self)))
    }

    /// A worker begins a block.
    func begins(_ block: UInt64) {
        forget(but: mix(0xB10C, block))
    }

    /// It is stopped where it is, for good.
    func abandon() {
        isFinished = true
        (body, queue, waiter, task, locals) = (nil, nil, nil, nil, [:])
        next = .never
    }

    private static func enter(_ context: UnsafeMutableRawPointer) {
        let thread = unsafe Unmanaged<VirtualThread>.fromOpaque(context).takeUnretainedValue()
        thread.runBody()
        thread.isFinished = true
        thread.next = .never
        world.leave()
        fatalError("A finished thread goes on.")
    }

    // A function of its own, so that nothing of the body stays on the stack.
    @inline(never)
    private func runBody() {
        let body = self.body!
        self.body = nil
        body()
    }
}

/// A good mixture of two words; the order counts.
@inline(__always)
func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
    var word = (left &* 0x9E37_79B9_7F4A_7C15) ^ (right &+ 0x2545_F491_4F6C_DD1D)
    word = (word ^ (word >> 32)) &* 0xD6E8_FEB8_6659_FD93
    word = (word ^ (word >> 29)) &* 0xBF58_476D_1CE4_E5B9
    return word ^ (word >> 32)
}
