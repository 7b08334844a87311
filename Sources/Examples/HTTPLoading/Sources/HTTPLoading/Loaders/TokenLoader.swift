//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

public import Dispatch
public import Foundation
import ThreadSafeValue

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Shows the server the token that it gave, and remembers it in a file; a reset drops it.
///
/// The token is in the header `X-Token` of a response, and goes into `Authorization` of the requests after it.
public final class TokenLoader: HTTPLoader {
    private struct Token {
        var text: String?
        /// How many resets there were.
        var era = 0
    }

    /// Gets the requests with the token.
    public let nextLoader: (any HTTPLoader)?

    /// What counts. Read for every request, so it is never locked for longer than a copy takes.
    private let token: Protected<Token>
    /// What is in the file. A command has it to itself while it writes, on a queue where nobody waits for the disk.
    private let saved: QueueSafeAsyncedValue<String?>
    private let file: URL

    /// Starts with the token in a file, if there is one.
    public init(file: URL, next: any HTTPLoader) {
        self.file = file
        nextLoader = next
        let text = try? String(contentsOf: file, encoding: .utf8)
        token = Protected(Token(text: text))
        saved = QueueSafeAsyncedValue(value: text, queue: DispatchQueue(label: "HTTPLoading.disk"))
    }
}

extension TokenLoader {
    /// Loads the request with the token, and keeps the token that comes back.
    public func load(request: URLRequest, completion: @escaping Completion) {
        let token = token.wrappedValue
        var request = request
        if let text = token.text { request.setValue("Bearer \(text)", forHTTPHeaderField: "Authorization") }
        nextLoader?.load(request: request) { [self] result in
            if case .success(let response) = result, let text = response.headers["x-token"] {
                keep(text, from: token.era)
            }
            completion(result)
        }
    }

    /// Drops the token, and ends when the file is gone.
    public func reset(with group: DispatchGroup) {
        token.write { token in
            token.text = nil
            token.era += 1
        }
        group.enter()
        save { group.leave() }
        nextLoader?.reset(with: group)
    }

    /// Calls a closure when what was kept or dropped so far is on disk.
    public func whenSaved(completion: @escaping @Sendable () -> Void) {
        saved.lowestPriority.get { _ in completion() }
    }

    /// Keeps a token, unless the request that brought it was sent before a reset.
    private func keep(_ text: String, from era: Int) {
        let isNew = token.write { token in
            guard token.era == era, token.text != text else { return false }
            token.text = text
            return true
        }
        if isNew { save {} }
    }

    /// Writes what counts by then, not what counted when this was called: so the last writing is always right.
    private func save(completion: @escaping @Sendable () -> Void) {
        saved.lowestPriority.set(
            accessClosure: { [token, file] saved in
                let text = token.text
                guard text != saved else { return }
                if let text {
                    try Data(text.utf8).write(to: file, options: .atomic)
                } else {
                    try FileManager.default.removeItem(at: file)
                }
                saved = text
            },
            completion: { result in
                // A token that cannot be written is asked for again; one that cannot be removed is found again.
                if case .failure(let error) = result { NSLog("Token file: %@", error.description) }
                completion()
            }
        )
    }
}
