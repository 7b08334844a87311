extension Scenario {
    static func random(seed: UInt64) -> Scenario { all[0] }
}
