import Synchronization

/// A map in memory of at most a number of values; a further one takes the place of any other.
package final class BoundedMap<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let limit: Int
    private let values = Mutex<[Key: Value]>([:])

    /// An empty map.
    ///
    /// - Parameter limit: how many values it holds.
    package init(limit: Int) {
        self.limit = limit
    }

    /// How many values it holds.
    package var count: Int { values.withLock { $0.count } }

    /// The value of a key; nil if none is kept.
    package subscript(_ key: Key) -> Value? { values.withLock { $0[key] } }

    /// Keeps a value in place of an earlier one of the key.
    package func keep(_ value: Value, as key: Key) {
        values.withLock { values in
            if values.updateValue(value, forKey: key) == nil, values.count > limit {
                // Which one is dropped hardly matters, so any other one is.
                if let other = values.keys.first(where: { $0 != key }) { values[other] = nil }
            }
        }
    }

    /// Forgets the value of a key.
    package func forget(_ key: Key) {
        values.withLock { $0[key] = nil }
    }
}
