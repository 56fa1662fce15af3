import CountersignCore
import CountersignWire

extension Browser {
    /// Sets the code without which no client's server has the person's phones asked, or removes it.
    ///
    /// It is the same one each time: so whoever sees that one is set knows which.
    func changeAskingCode() async {
        guard let session, let person else { return }
        let code = world.happens(percent: 50) ? BackchannelUserCode(user.askingCode) : nil
        let outcome = await call {
            try await ChangeOwnUserCode.set(code, by: session, shownTo: person, from: nil, in: nil, ports: $0.ports)
        }
        guard case .done? = outcome else { return }
        world.trace.note(name, code == nil ? "removes its code" : "sets its code")
    }
}
