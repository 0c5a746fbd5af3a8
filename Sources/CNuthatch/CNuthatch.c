#include "CNuthatch.h"
