#pragma once

#include "tools/doctor/doctor.h"
#include <vulkan/vulkan.h>

/* How draws can be timed on the device. false: it hangs, and its instance must be left alone. */
bool pm_doctor_timing(struct pm_doctor *doctor, VkPhysicalDevice physical, const char *name);
