/* The folders that the layer and the tools keep things in. */
#pragma once

#include "tools/doctor/doctor.h"

/* Whether they can be written to, and how much room there is. */
void pm_doctor_places(struct pm_doctor *doctor);
