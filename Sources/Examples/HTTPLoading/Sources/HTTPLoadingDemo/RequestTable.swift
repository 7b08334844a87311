//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import HTTPLoading

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Requests, their states and times, in columns.
struct RequestTable: CustomStringConvertible {
    let description: String

    init(_ requests: [Request]) {
        let rows = requests.map { request in
            [
                request.urlRequest.url?.absoluteString ?? "",
                "\(request.state)",
                request.error?.description ?? request.status.map { "\($0)" } ?? "",
                "\(request.bytesReceived)",
                "\(Int(request.seconds * 1_000))",
            ]
        }
        let table = [["page", "state", "answer", "bytes", "ms"]] + rows
        let widths = table[0].indices.map { column in table.map { $0[column].count }.max() ?? 0 }
        description = table.map { row in
            zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}
