// As the NDK declares it, with the same nullability.
#pragma once
#include <stdint.h>

typedef long pthread_t;
typedef struct {
    long opaque[7];
} pthread_attr_t;
typedef long pthread_mutexattr_t;
typedef int pthread_key_t;
typedef struct {
    int32_t parts[10];
} pthread_mutex_t;

pthread_t pthread_self(void);
int pthread_create(
    pthread_t *_Nonnull, const pthread_attr_t *_Nullable, void *_Nullable (*_Nonnull)(void *_Nullable), void *_Nullable);
int pthread_key_create(pthread_key_t *_Nonnull key, void (*_Nullable end)(void *_Nullable));
void *_Nullable pthread_getspecific(pthread_key_t key);
int pthread_setspecific(pthread_key_t key, const void *_Nullable object);
int pthread_mutex_init(pthread_mutex_t *_Nonnull mutex, const pthread_mutexattr_t *_Nullable attributes);
int pthread_mutex_destroy(pthread_mutex_t *_Nonnull mutex);
int pthread_mutex_lock(pthread_mutex_t *_Nonnull mutex);
int pthread_mutex_trylock(pthread_mutex_t *_Nonnull mutex);
int pthread_mutex_unlock(pthread_mutex_t *_Nonnull mutex);
