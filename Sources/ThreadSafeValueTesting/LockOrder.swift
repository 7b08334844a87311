//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if EverySchedule
extension Run {
    /// Which two accesses nest in both orders, if some do. What is held around both keeps them apart.
    var orderFailure: String? {
        for one in nestings {
            for other in nestings where one.outer.entry === other.inner.entry {
                let held = other.inner.outer.map(\.entry)
                let isGuarded = one.inner.outer.contains { guardian in held.contains { $0 === guardian.entry } }
                if isGuarded || one.inner.entry !== other.outer.entry { continue }
                let texts = [one, other].map { "\($0.outer.runner): \(placed($0.outer)), then \(placed($0.inner))" }
                return "opposite orders: \(texts.joined(separator: "; "))"
            }
        }
        return nil
    }
}
#endif
