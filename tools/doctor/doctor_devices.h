#pragma once

#include "tools/doctor/doctor.h"

/* For each Vulkan device, what the layer can do on it, and why not. */
void pm_doctor_devices(struct pm_doctor *doctor);
