// Part of ThreadSafeValue. SPDX-License-Identifier: MIT

#include "CFiber.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

// The names as the assembler sees them, which systems decorate differently.
void cfiber_swap(void **saved, void *next) __asm__("cfiber_swap");
void cfiber_start(void) __asm__("cfiber_start");

#if defined(__x86_64__)
// What a C function preserves: six registers. The new stack's first "return" goes to `cfiber_start`.
__asm__(
    ".text\n.globl cfiber_swap\ncfiber_swap:\n"
    "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
    "movq %rsp, (%rdi)\nmovq %rsi, %rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret\n"
    ".globl cfiber_start\ncfiber_start:\n"
    "movq %r12, %rdi\ncallq *%rbx\nud2\n");

static void *prepared_stack(uintptr_t top, cfiber_entry entry, void *context) {
    void **stack = (void **)top;
    *--stack = 0;
    *--stack = 0;
    *--stack = (void *)cfiber_start;
    *--stack = 0;              // rbp
    *--stack = (void *)entry;  // rbx
    *--stack = context;        // r12
    *--stack = 0;              // r13
    *--stack = 0;              // r14
    *--stack = 0;              // r15
    return stack;
}
#elif defined(__aarch64__)
__asm__(
    ".text\n.globl cfiber_swap\n.p2align 2\ncfiber_swap:\n"
    "sub sp, sp, #160\n"
    "stp x19, x20, [sp, #0]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\nstp x25, x26, [sp, #48]\n"
    "stp x27, x28, [sp, #64]\nstp x29, x30, [sp, #80]\n"
    "stp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\nstp d12, d13, [sp, #128]\nstp d14, d15, [sp, #144]\n"
    "mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
    "ldp x19, x20, [sp, #0]\nldp x21, x22, [sp, #16]\nldp x23, x24, [sp, #32]\nldp x25, x26, [sp, #48]\n"
    "ldp x27, x28, [sp, #64]\nldp x29, x30, [sp, #80]\n"
    "ldp d8, d9, [sp, #96]\nldp d10, d11, [sp, #112]\nldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\n"
    "add sp, sp, #160\nret\n"
    ".globl cfiber_start\n.p2align 2\ncfiber_start:\n"
    "mov x0, x20\nblr x19\nbrk #1\n");

static void *prepared_stack(uintptr_t top, cfiber_entry entry, void *context) {
    void **stack = (void **)(top - 160);
    for (int i = 0; i < 20; i++) stack[i] = 0;
    stack[0] = (void *)entry;           // x19
    stack[1] = context;                 // x20
    stack[11] = (void *)cfiber_start;   // x30
    return stack;
}
#else
#error "CFiber knows x86-64 and 64-bit ARM"
#endif

void cfiber_allocate(cfiber *fiber, size_t size) {
    void *memory = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    // The lowest page stays out of reach: an overflow crashes instead of spoiling a neighbour.
    if (memory == MAP_FAILED || mprotect(memory, 16384, PROT_NONE) != 0) {
        perror("cfiber_allocate");
        abort();
    }
    fiber->memory = memory;
    fiber->size = size;
    fiber->stack_pointer = 0;
}

void cfiber_prepare(cfiber *fiber, cfiber_entry entry, void *context) {
    uintptr_t top = ((uintptr_t)fiber->memory + fiber->size) & ~(uintptr_t)15;
    fiber->stack_pointer = prepared_stack(top, entry, context);
}

void cfiber_switch(cfiber *from, cfiber *to) {
    cfiber_swap(&from->stack_pointer, to->stack_pointer);
}

static void (*crash_report)(int);

static void crashed(int number) {
    crash_report(number);
    _Exit(128 + number);
}

void cfiber_on_crash(void (*report)(int)) {
    crash_report = report;
    stack_t stack = {.ss_size = 1 << 20};
    stack.ss_sp = malloc(stack.ss_size);
    sigaltstack(&stack, 0);
    struct sigaction action = {.sa_handler = crashed, .sa_flags = (int)(SA_ONSTACK | SA_RESETHAND)};
    int numbers[] = {SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGALRM, SIGTERM};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(int); i++) sigaction(numbers[i], &action, 0);
}
