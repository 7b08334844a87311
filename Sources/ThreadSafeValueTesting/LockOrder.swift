//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule
/// One access inside another one.
struct LockOrder: Hashable {
    let outer: ObjectIdentifier
    let inner: ObjectIdentifier
}

/// Where that was seen first. It keeps both entries, so that their identities stay.
struct Nesting {
    let outer: (step: Int, entry: Entry)
    let inner: (step: Int, entry: Entry)

    /// All that was held: one that is held in each nesting keeps them apart.
    let guards: [Entry]
}

extension Run {
    /// An access begins inside others. With the mutex.
    func noteOrder(of taken: [(step: Int, entry: Entry)], before entry: Entry) {
        for outer in taken {
            let order = LockOrder(outer: ObjectIdentifier(outer.entry), inner: ObjectIdentifier(entry))
            if edges[order] != nil { continue }
            let guards = taken.map(\.entry).filter { $0 !== outer.entry }
            edges[order] = Nesting(outer: outer, inner: (steps.count - 1, entry), guards: guards)
            if orderSteps.isEmpty, let way = way(from: entry, to: outer.entry), !isGuarded(way + [edges[order]!]) {
                let circle = way + [edges[order]!]
                // Both places are known when the run is over.
                orderSteps = circle.map { ($0.outer.step, $0.inner.step) }
            }
        }
    }

    /// Nestings that lead from one entry to another.
    private func way(from start: Entry, to end: Entry) -> [Nesting]? {
        var (ways, known): ([[Nesting]], Set<ObjectIdentifier>) = ([[]], [])
        while let way = ways.popLast() {
            let at = way.last?.inner.entry ?? start
            if at === end { return way }
            if !known.insert(ObjectIdentifier(at)).inserted { continue }
            ways += edges.values.filter { $0.outer.entry === at }.sorted { $0.inner.step > $1.inner.step }.map {
                way + [$0]
            }
        }
        return nil
    }

    /// Which accesses nest in opposite orders, if some do.
    var orderFailure: String? {
        if orderSteps.isEmpty { return nil }
        let texts = orderSteps.map { "\(steps[$0.outer].runner): \(text($0.outer)), then \(text($0.inner))" }
        return "opposite orders: " + texts.joined(separator: "; ")
    }

    private func text(_ number: Int) -> String {
        let (name, place) = (name(steps[number].entry!), steps[number].place)
        return place.isEmpty ? name : "\(name) at \(place)"
    }

    private func isGuarded(_ circle: [Nesting]) -> Bool {
        circle[0].guards.contains { entry in circle.allSatisfy { $0.guards.contains { $0 === entry } } }
    }
}
#endif
