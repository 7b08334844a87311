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

@Suite("Loaders")
struct LoaderTests {
    @Test("Header fields are added, and those of the request win")
    func headers() {
        let mock = MockLoader()
        let chain = HeaderLoader(["Accept": "text/plain", "X-Name": "loader"], next: mock)
        var request = anyRequest
        request.setValue("request", forHTTPHeaderField: "X-Name")
        _ = chain.result(of: request)
        #expect(mock.requests.first?.value(forHTTPHeaderField: "Accept") == "text/plain")
        #expect(mock.requests.first?.value(forHTTPHeaderField: "X-Name") == "request")
    }

    @Test("The mock answers in the order told, and a chain without more answers fails")
    func mock() {
        let mock = MockLoader()
        mock.then { _, completion in completion(.success(HTTPResponse(status: 201))) }
        mock.then { _, completion in DispatchQueue.global().async { completion(.failure(.cancelled)) } }
        #expect(mock.result(of: anyRequest) == "201")
        #expect(mock.result(of: anyRequest) == "cancelled")
        #expect(mock.result(of: anyRequest) == "no loader answers it")
    }

    @Test("A token is sent after it was given, survives on disk, and a reset drops it there too")
    func token() {
        let file = temporaryFile()
        let mock = MockLoader()
        let loader = TokenLoader(file: file, next: mock)
        mock.then { _, completion in completion(.success(HTTPResponse(headers: ["x-token": "secret"]))) }
        _ = loader.result(of: anyRequest)
        _ = loader.result(of: anyRequest)
        #expect(mock.authorizations == [nil, "Bearer secret"])

        let written = Door()
        loader.whenSaved { written.open() }
        #expect(written.isOpenSoon())
        #expect((try? String(contentsOf: file, encoding: .utf8)) == "secret")
        let mockOfNext = MockLoader()
        let next = TokenLoader(file: file, next: mockOfNext)
        _ = next.result(of: anyRequest)
        #expect(mockOfNext.authorizations == ["Bearer secret"])

        next.resetAndWait()
        #expect(mockOfNext.resets == 1)
        #expect(!FileManager.default.fileExists(atPath: file.path))
        _ = next.result(of: anyRequest)
        #expect(mockOfNext.authorizations.last == .some(nil))
    }

    @Test("A token that arrives for a request from before a reset is not kept")
    func lateToken() {
        let file = temporaryFile()
        let (mock, answer) = (MockLoader(), Protected<HTTPLoader.Completion?>(nil))
        let loader = TokenLoader(file: file, next: mock)
        mock.then { _, completion in answer.write(completion) }
        loader.load(request: anyRequest) { _ in }
        loader.resetAndWait()
        answer.wrappedValue?(.success(HTTPResponse(headers: ["x-token": "old"])))
        _ = loader.result(of: anyRequest)
        #expect(mock.authorizations == [nil, nil])
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }
}
