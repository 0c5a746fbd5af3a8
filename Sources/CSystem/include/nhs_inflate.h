// Checksums by ISA-L.
#ifndef NHS_INFLATE_H
#define NHS_INFLATE_H

#include <stddef.h>
#include <stdint.h>

// CRC-32 as in PNG and zlib; begin with 0.
uint32_t nhs_crc32(uint32_t crc, const void *bytes, size_t count);

#endif
