//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Telling those who listen what the value is after each change.

extension CommandQueue {
    /// Those who listen. Made when somebody does for the first time.
    var listeners: ChangeBroadcaster<Value> {
        storage.listeners.object {
            let reference = withTurnQueue { $0.weakReference() }
            return ChangeBroadcaster { isListenedTo in _ = reference.withTurns { $0.observe(isListenedTo) } }
        }
    }
}
