//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule
/// One access inside another one.
private struct Nesting {
    let outer: Step
    let inner: Step

    /// What else was held: what is held in each nesting of a circle keeps them apart.
    var guards: Set<ObjectIdentifier> {
        Set(inner.outer.map { ObjectIdentifier($0.entry!) }).subtracting([ObjectIdentifier(outer.entry!)])
    }
}

extension Run {
    /// Which accesses nest in opposite orders, if some do.
    var orderFailure: String? {
        let nestings = steps.flatMap { inner in inner.outer.map { Nesting(outer: $0, inner: inner) } }
        guard let circle = nestings.lazy.compactMap({ self.circle(from: $0, in: nestings) }).first else { return nil }
        let texts = circle.map { "\($0.outer.runner): \(placed($0.outer)), then \(placed($0.inner))" }
        return "opposite orders: \(texts.joined(separator: "; "))"
    }

    /// Nestings that lead from the inner access back to the outer one.
    private func circle(from first: Nesting, in nestings: [Nesting]) -> [Nesting]? {
        var (ways, seen): ([[Nesting]], Set<ObjectIdentifier>) = ([[first]], [])
        while let way = ways.popLast() {
            let end = way.last!.inner.entry!
            if end === first.outer.entry {
                if way.reduce(first.guards, { $0.intersection($1.guards) }).isEmpty { return way }
            } else if seen.insert(ObjectIdentifier(end)).inserted {
                ways += nestings.filter { $0.outer.entry === end }.map { way + [$0] }
            }
        }
        return nil
    }
}
#endif
