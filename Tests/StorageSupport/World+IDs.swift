package import CountersignWire

extension World {
    /// A new id with the current time.
    package func newID<Kind>() -> ID<Kind> { ID(at: time.now, random: random.bytes(10)) }
}
