//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule
extension Run {
    /// Which two accesses nest in both orders, if some do. What is held around both keeps them apart.
    var orderFailure: String? {
        let nestings = steps.flatMap { inner in inner.outer.map { (outer: $0, inner: inner) } }
        for (index, one) in nestings.enumerated() {
            for other in nestings[..<index] where one.outer.entry === other.inner.entry {
                let held = other.inner.outer.map(\.entry)
                let isGuarded = one.inner.outer.contains { guardian in held.contains { $0 === guardian.entry } }
                if isGuarded || one.inner.entry !== other.outer.entry { continue }
                let texts = [other, one].map { "\($0.outer.runner): \(placed($0.outer)), then \(placed($0.inner))" }
                return "opposite orders: \(texts.joined(separator: "; "))"
            }
        }
        return nil
    }
}
#endif
