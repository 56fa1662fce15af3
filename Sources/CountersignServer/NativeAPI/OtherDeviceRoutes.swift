import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import OpenPGP

/// The routes of a device for the other devices of its user.
extension NativeAPI {
    func addOtherDevices(to routes: inout NativeRoutes) {
        let path = "/v1/enrollments/self/others"
        routes.device(.get, path) { [ports, self] call, _ in
            try await reply(ShowOtherDevices.show(to: call, ports: ports))
        }
        for kind in DeviceAct.Kind.allCases {
            routes.device(.post, "\(path)/:enrollment/\(kind.rawValue)") { [ports, self] call, incoming in
                let id = try incoming.enrollment()
                let request = try DeviceActRequest(incoming.json())
                return try await reply(
                    ActOnDevice.act(kind, on: id, request.authorization, by: call, ports: ports))
            }
        }
        routes.device(.delete, "\(path)/:enrollment/methods/:method") { [ports, self] call, incoming in
            let id = try incoming.enrollment()
            guard let method = incoming.parameter("method").flatMap({ AnswerMethod(rawValue: $0) }) else {
                throw RequestRefusal.noSuch(.enrollment)
            }
            return try await reply(UndoMethod.undo(method, of: id, by: call, ports: ports))
        }
    }
}

extension ShowOtherDevices.List {
    var json: JSONValue {
        OtherDevicesReply(nonce: nonce, needsMethod: needsMethod, devices: enrollments.map { $0.other(at: now) }).json
    }
}

extension Enrollment {
    fileprivate func other(at now: Timestamp) -> OtherDevice {
        var suspendedAt: Timestamp?
        if case .suspended(let time) = state { suspendedAt = time }
        let isWaiting = !counts(at: now)
        return OtherDevice(
            enrollment: id, device: device, fingerprint: fingerprint,
            state: isWaiting ? .waiting : suspendedAt == nil ? .active : .suspended, createdAt: createdAt,
            waitingUntil: isWaiting ? countsFrom : nil, suspendedAt: suspendedAt, methods: methods,
            waiting: Dictionary(uniqueKeysWithValues: waiting(at: now).map { ($0, $1) }))
    }
}
