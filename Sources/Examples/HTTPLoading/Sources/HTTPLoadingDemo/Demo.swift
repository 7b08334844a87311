//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import HTTPLoading
import ThreadSafeValue

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Loads pages through a chain of loaders, resets it when half of them have come, and loads the others again.
struct Demo: Sendable {
    private let urls: [URL]
    private let chain: any HTTPLoader
    private let tokenFile: URL
    /// Every request that was started, in order.
    private let requests: Protected<[Request]>
    /// What has come of each page, once it was not cancelled.
    private let results = Protected<[URL: HTTPResult]>([:])

    init(_ urls: [URL]) {
        self.urls = urls
        let requests = Protected<[Request]>([])
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 10
        let session = Session {
            URLSessionTransport($0, configuration: configuration)
        } observer: { request, state in
            if state == .resumed { requests.append(request) }
        }
        self.requests = requests

        tokenFile = FileManager.default.temporaryDirectory.appendingPathComponent("token-\(UUID().uuidString)")
        let sender = URLSessionLoader(session, completingOn: DispatchQueue(label: "HTTPLoadingDemo.completions"))
        let headers = HeaderLoader(["Accept": "text/plain, text/html"], next: sender)
        chain = ResetGuard(next: TokenLoader(file: tokenFile, next: headers))
    }

    /// Returns whether all pages were loaded.
    func run() -> Bool {
        defer { try? FileManager.default.removeItem(at: tokenFile) }
        let (middle, all) = (DispatchSemaphore(value: 0), DispatchGroup())
        say("Loading \(urls.count) of \(urls.count) pages; a reset comes in the middle.")
        load(urls, in: all) { count in
            if count == urls.count / 2 { middle.signal() }
        }
        if urls.count > 1 { middle.wait() }
        chain.reset(on: .global()) { middle.signal() }
        middle.wait()
        all.wait()

        let missing = urls.filter { results.wrappedValue[$0] == nil }
        say("\nThe reset is done: the token is dropped, \(missing.count) requests were cancelled. Loading them again.")
        load(missing, in: all) { _ in }
        all.wait()

        say("\n\(RequestTable(requests.wrappedValue))")
        return report()
    }
}

extension Demo {
    /// Starts to load pages, and says after each how many have come by then.
    private func load(_ urls: [URL], in group: DispatchGroup, progress: @escaping @Sendable (Int) -> Void) {
        for url in urls {
            group.enter()
            chain.load(request: URLRequest(url: url)) { result in
                defer { group.leave() }
                if case .failure(.cancelled) = result { return }
                let count = results.write { results in
                    results[url] = result
                    return results.count
                }
                sayProgress(count, of: self.urls.count)
                progress(count)
            }
        }
    }

    /// Says in a line each which pages could not be loaded, and returns whether there are none.
    private func report() -> Bool {
        var allAreLoaded = true
        for url in urls {
            guard case .failure(let error) = results.wrappedValue[url] else { continue }
            say("\(url.absoluteString): \(error)")
            allAreLoaded = false
        }
        return allAreLoaded
    }
}
