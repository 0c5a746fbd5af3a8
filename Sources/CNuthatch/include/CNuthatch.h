// The types of the C ABI; `make header` copies them into nuthatch.h. Swift sees them as the module CNuthatch. Types only: no functions,
// and only plain C11 and C++17.
#ifndef CNUTHATCH_H
#define CNUTHATCH_H

#include "nh_answers.h"
#include "nh_errors.h"
#include "nh_events.h"
#include "nh_frozen.h"
#include "nh_handles.h"
#include "nh_log.h"
#include "nh_option_rows.h"
#include "nh_options.h"
#include "nh_overview.h"
#include "nh_pictures.h"
#include "nh_process.h"
#include "nh_questions.h"
#include "nh_saving.h"
#include "nh_sending.h"
#include "nh_status.h"
#include "nh_swift_names.h"
#include "nh_table.h"
#include "nh_upkeep.h"
#include "nh_urls.h"
#include "nh_values.h"

#endif
