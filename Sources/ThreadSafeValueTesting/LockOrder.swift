//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule
/// One access inside another one, as it was seen first.
struct Nesting {
    let outer: (step: Int, entry: Entry)
    let inner: (step: Int, entry: Entry)

    /// What else was held: what is held in each nesting of a circle keeps them apart.
    let guards: [Entry]
}

extension Run {
    /// An access begins inside others. With the mutex.
    func noteOrder(of taken: [(step: Int, entry: Entry)], before entry: Entry) {
        for outer in taken
        where !nestings.contains(where: { $0.outer.entry === outer.entry && $0.inner.entry === entry }) {
            let guards = taken.map(\.entry).filter { $0 !== outer.entry }
            nestings.append(Nesting(outer: outer, inner: (steps.count - 1, entry), guards: guards))
            guard circle.isEmpty, let way = way(from: entry, to: outer.entry) else { continue }
            let all = way + [nestings.last!]
            if !guards.contains(where: { entry in all.allSatisfy { $0.guards.contains { $0 === entry } } }) {
                circle = all
            }
        }
    }

    /// Nestings that lead from one entry to another.
    private func way(from start: Entry, to end: Entry) -> [Nesting]? {
        var (ways, known): ([[Nesting]], [Entry]) = ([[]], [])
        while let way = ways.popLast() {
            let at = way.last?.inner.entry ?? start
            if at === end { return way }
            if known.contains(where: { $0 === at }) { continue }
            known.append(at)
            ways += nestings.reversed().filter { $0.outer.entry === at }.map { way + [$0] }
        }
        return nil
    }

    /// Which accesses nest in opposite orders, if some do.
    var orderFailure: String? {
        let texts = circle.map {
            "\(steps[$0.outer.step].runner): \(placed(steps[$0.outer.step])), then \(placed(steps[$0.inner.step]))"
        }
        return texts.isEmpty ? nil : "opposite orders: \(texts.joined(separator: "; "))"
    }
}
#endif
