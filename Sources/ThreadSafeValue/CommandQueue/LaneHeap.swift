//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Lanes that have commands and a place in line, ordered by the first command of each. The front is O(1), all else
/// O(log number of lanes), so that a value may have many target queues.
///
/// A binary heap; each lane knows its own place. Invariant (heap): no lane's first command precedes that of the lane
/// above.
struct LaneHeap {
    private var lanes: [Lane] = []
}

extension LaneHeap {
    var count: Int { lanes.count }

    /// The command that goes before all others.
    @inline(__always)
    var frontLink: PendingCommand.Link? { lanes.isEmpty ? nil : unsafe lanes[0].firstLink }

    /// Makes the invariant true after the lane's first command has changed, or its right to a place.
    mutating func update(_ lane: Lane) {
        let belongs = !lane.isEmpty && !lane.isOverdue
        switch (lane.place, belongs) {
        case (nil, false): return
        case (nil, true):
            lane.place = lanes.count
            lanes.append(lane)
            moveUp(lane, from: lanes.count - 1)
        case (let place?, true):
            moveUp(lane, from: place)
            if let place = lane.place { moveDown(lane, from: place) }
        case (let place?, false):
            lane.place = nil
            let last = lanes.removeLast()
            guard last !== lane else { return }
            put(last, at: place)
            moveUp(last, from: place)
            if let place = last.place { moveDown(last, from: place) }
        }
    }

    func forEach(_ body: (Lane) -> Void) {
        lanes.forEach(body)
    }

    private mutating func put(_ lane: Lane, at place: Int) {
        lanes[place] = lane
        lane.place = place
    }

    private mutating func moveUp(_ lane: Lane, from start: Int) {
        var place = start
        while place > 0, precedes(lane, lanes[(place - 1) / 2]) {
            put(lanes[(place - 1) / 2], at: place)
            place = (place - 1) / 2
        }
        if place != start { put(lane, at: place) }
    }

    private mutating func moveDown(_ lane: Lane, from start: Int) {
        var place = start
        while true {
            var child = 2 * place + 1
            guard child < lanes.count else { break }
            if child + 1 < lanes.count, precedes(lanes[child + 1], lanes[child]) { child += 1 }
            guard precedes(lanes[child], lane) else { break }
            put(lanes[child], at: place)
            place = child
        }
        if place != start { put(lane, at: place) }
    }

    private func precedes(_ lane: Lane, _ other: Lane) -> Bool {
        guard let first = lane.first, let otherFirst = other.first else { return other.first == nil }
        return first.precedes(otherFirst)
    }
}
