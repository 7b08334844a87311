// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//
// SwiftPM wants one source file in a C target; all of it is in the header.

#include "CAtomicWord.h"
