//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import HTTPLoading
import Testing
import ThreadSafeValue

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension HTTPResult {
    /// The status, or the error in words.
    var summary: String {
        switch self {
        case .success(let response): "\(response.status)"
        case .failure(let error): error.description
        }
    }
}

extension HTTPLoader {
    /// Loads and waits.
    func result(of request: URLRequest) -> String {
        let (result, done) = (Protected(""), Door())
        load(request: request) {
            result.write($0.summary)
            done.open()
        }
        #expect(done.isOpenSoon())
        return result.wrappedValue
    }

    /// Resets and waits.
    func resetAndWait() {
        let done = Door()
        reset(on: .global()) { done.open() }
        #expect(done.isOpenSoon())
    }
}

extension MockLoader {
    var authorizations: [String?] {
        requests.map { $0.value(forHTTPHeaderField: "Authorization") }
    }
}

/// Where nothing is yet.
func temporaryFile() -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
}
