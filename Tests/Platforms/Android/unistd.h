// As the NDK declares it, with the same nullability.
#pragma once
#include <stddef.h>
#define STDERR_FILENO 2
#define _SC_NPROCESSORS_ONLN 97
long sysconf(int name);
__PTRDIFF_TYPE__ write(int file, const void *_Null_unspecified bytes, size_t count);
