// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//
// One 64-bit word with C11 atomics, and the facts of the processor that go with it: which thread this is, and how to
// pause in a loop that looks at the word. Header only; Swift sees it through `AtomicWord.swift` and nothing else.

#ifndef C_ATOMIC_WORD_H
#define C_ATOMIC_WORD_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

// Swift does not import `_Atomic` members, so it sees a plain word of the same size and alignment.
typedef struct {
    _Alignas(8) uint64_t bits;
} catomic_word;

#define CATOMIC_WORD(word) ((_Atomic(uint64_t) *)&(word)->bits)

static inline uint64_t catomic_word_load_relaxed(const catomic_word *_Nonnull word) {
    return atomic_load_explicit((const _Atomic(uint64_t) *)&word->bits, memory_order_relaxed);
}

static inline uint64_t catomic_word_load_acquire(const catomic_word *_Nonnull word) {
    return atomic_load_explicit((const _Atomic(uint64_t) *)&word->bits, memory_order_acquire);
}

static inline void catomic_word_store_relaxed(catomic_word *_Nonnull word, uint64_t bits) {
    atomic_store_explicit(CATOMIC_WORD(word), bits, memory_order_relaxed);
}

// All exchanges are strong: they fail only when the word differs.
static inline bool catomic_word_exchange_acquiring(catomic_word *_Nonnull word, uint64_t expected, uint64_t desired) {
    return atomic_compare_exchange_strong_explicit(
        CATOMIC_WORD(word), &expected, desired, memory_order_acquire, memory_order_relaxed);  // fault: relaxed acquire
}

static inline bool catomic_word_exchange_releasing(catomic_word *_Nonnull word, uint64_t expected, uint64_t desired) {
    return atomic_compare_exchange_strong_explicit(
        CATOMIC_WORD(word), &expected, desired, memory_order_release, memory_order_relaxed);  // fault: relaxed release
}

// A number that no other living thread has. Its low four bits are zero, and so are its highest eight,
// which are no part of an address: where they differ, they are a tag of the memory.
static inline uint64_t catomic_word_thread_identity(void) {
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
    uintptr_t thread = (uintptr_t)__builtin_thread_pointer();
#else
    uintptr_t thread = (uintptr_t)pthread_self();
#endif
    return ((uint64_t)thread & UINT64_C(0x00FFFFFFFFFFFFF0));
}

static inline long catomic_word_processor_count(void) {
    return sysconf(_SC_NPROCESSORS_ONLN);
}

static inline void catomic_word_yield(void) {
    sched_yield();
}

// Most ARM processors do nothing at `yield`; `isb` waits until the instructions before it have ended.
static inline void catomic_word_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("isb");
#elif defined(__arm__)
    __asm__ __volatile__("yield");
#endif
}

#endif
