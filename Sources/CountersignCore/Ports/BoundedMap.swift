import Synchronization

/// A map in memory of at most a number of values; a further one takes the place of values that were not used lately.
package final class BoundedMap<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Generations {
        /// What was kept or used lately.
        var young: [Key: Value] = [:]
        /// What was not used since `young` was empty.
        var old: [Key: Value] = [:]
    }

    private let half: Int
    private let generations = Mutex(Generations())

    /// An empty map.
    ///
    /// - Parameter limit: how many values it holds, at least two.
    package init(limit: Int) {
        half = limit / 2
    }

    /// How many values it holds.
    package var count: Int { generations.withLock { $0.young.count + $0.old.count } }

    /// The value of a key; nil if none is kept.
    package subscript(_ key: Key) -> Value? {
        generations.withLock { generations in
            if let value = generations.young[key] { return value }
            guard let value = generations.old.removeValue(forKey: key) else { return nil }
            insert(value, as: key, into: &generations)
            return value
        }
    }

    /// The value of a key, which is made and kept if there is none.
    package func value(of key: Key, orKeep make: () -> Value) -> Value {
        generations.withLock { generations in
            if let value = generations.young[key] { return value }
            let value = generations.old.removeValue(forKey: key) ?? make()
            insert(value, as: key, into: &generations)
            return value
        }
    }

    /// Keeps a value in place of an earlier one of the key.
    package func keep(_ value: Value, as key: Key) {
        generations.withLock { generations in
            generations.old[key] = nil
            insert(value, as: key, into: &generations)
        }
    }

    /// Forgets the value of a key.
    package func forget(_ key: Key) {
        generations.withLock { generations in
            generations.young[key] = nil
            generations.old[key] = nil
        }
    }

    private func insert(_ value: Value, as key: Key, into generations: inout Generations) {
        if generations.young.count >= half, generations.young[key] == nil {
            swap(&generations.old, &generations.young)
            generations.young.removeAll(keepingCapacity: true)
        }
        generations.young[key] = value
    }
}
