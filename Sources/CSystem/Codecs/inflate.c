#include "nhs_inflate.h"

#include <isa-l/crc.h>

uint32_t nhs_crc32(uint32_t crc, const void *bytes, size_t count) {
    return crc32_gzip_refl(crc, bytes, count);
}
