/*
 * CSystem: C functions for the Swift rooms and for CUnpacking. Nothing here is public.
 *
 * It holds calls that Swift can't make (variadic functions, longjmp), thread-local storage, fork handlers, and the
 * inner loops that are faster in C. It must not call the rooms above. One header for each subject.
 */
#ifndef NUTHATCH_CSYSTEM_H
#define NUTHATCH_CSYSTEM_H

#include "nhs_alpha.h"
#include "nhs_av1_decode.h"
#include "nhs_average.h"
#include "nhs_close_alert.h"
#include "nhs_command.h"
#include "nhs_curl.h"
#include "nhs_decoder.h"
#include "nhs_digest.h"
#include "nhs_encode.h"
#include "nhs_fault.h"
#include "nhs_heic.h"
#include "nhs_icc.h"
#include "nhs_inflate.h"
#include "nhs_libraries.h"
#include "nhs_jpeg_decode.h"
#include "nhs_linux.h"
#include "nhs_mapping.h"
#include "nhs_memory.h"
#include "nhs_png_decode.h"
#include "nhs_process.h"
#include "nhs_resample.h"
#include "nhs_samples.h"
#include "nhs_store.h"
#include "nhs_svg.h"
#include "nhs_text.h"
#include "nhs_tone.h"
#include "nhs_unpack.h"
#include "nhs_webp_decode.h"
#include "nhs_yuv.h"

#endif
