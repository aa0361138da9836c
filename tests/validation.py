"""What tests share that run under the validation layer: what it is told, how it says something, and what may be said."""

import re

LAYER = "VK_LAYER_KHRONOS_validation"
# Information, since it says of itself that it is there.
SETTINGS = """khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG
khronos_validation.report_flags = error,warn,info
khronos_validation.enable_message_limit = false
khronos_validation.unique_handles = false
"""  # tests look for handles as the driver gave them
IS_THERE = "Khronos Validation Layer Active"

# The kind of a message, on whose first line it is: Debian 12's layer says it twice.
SAID = re.compile(r"^(?:[\w-]+\(\w+ / \w+\): msgNum: -?\d+ - )?Validation (?:Error|Warning): \[ ([\w-]+) \]", re.M)

# What may be said of us, and why.
KNOWN = {
    # Both timestamps are there, so the commands that wrote them have completed, and the query is reset; the validation
    # layer learns of it when the game waits for the whole submission, and then takes the query for written again.
    "VUID-vkCmdWriteTimestamp-None-00830",
    # Ours are defined as the game's are, which is all that is asked for; it compares handles.
    "VUID-vkCmdDraw-None-08879",
}
