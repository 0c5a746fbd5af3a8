/*
 * CSystem: C shims for Swift. Called only from Swift; nothing here is public.
 *
 * It holds what Swift can't express (variadic calls, thread-local storage, fork handlers) and nothing else. It must not
 * know of caches, requests or any other term of the rooms above. One header for each subject.
 */
#ifndef NUTHATCH_CSYSTEM_H
#define NUTHATCH_CSYSTEM_H

#include "nhs_close_alert.h"
#include "nhs_curl.h"
#include "nhs_digest.h"
#include "nhs_encode.h"
#include "nhs_fault.h"
#include "nhs_icc.h"
#include "nhs_inflate.h"
#include "nhs_jpeg_decode.h"
#include "nhs_linux.h"
#include "nhs_mapping.h"
#include "nhs_png_decode.h"
#include "nhs_process.h"
#include "nhs_resample.h"
#include "nhs_store.h"
#include "nhs_text.h"
#include "nhs_unpack.h"

#endif
