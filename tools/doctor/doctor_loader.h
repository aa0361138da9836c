#pragma once

#include "tools/doctor/doctor.h"

/* Manifests, the layer's library, the enabling variables, whether the loader really loads it. */
void pm_doctor_loader(struct pm_doctor *doctor);
