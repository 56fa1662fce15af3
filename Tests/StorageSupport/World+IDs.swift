package import CountersignWire

extension World {
    /// A new id, made at the present.
    package func newID<Kind>() -> ID<Kind> { ID(at: time.now, random: random.bytes(10)) }
}
