#pragma once
#include <pthread.h>
#define EBUSY 16
