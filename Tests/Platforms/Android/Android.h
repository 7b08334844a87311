#pragma once
#include "Bionic.h"
#include <sched.h>
#include <unistd.h>
