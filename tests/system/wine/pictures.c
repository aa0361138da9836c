/* vkcube for Windows, as it stands. Behind four of its frames the screen is copied, which Xvfb
 * keeps in a file: PM_WINE_SCREEN, to the folder PM_WINE_PICTURES. */
#define _GNU_SOURCE
#include "cube_functions.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

static VkResult present_and_look(VkQueue queue, const VkPresentInfoKHR *info)
{
    static int frame;
    const VkResult result = vkQueuePresentKHR(queue, info);
    frame++;
    if (frame != 5 && frame != 20 && frame != 40 && frame != 60)
        return result;
    Sleep(1500); /* until it is on the screen */
    char screen[MAX_PATH] = "", folder[MAX_PATH] = "", picture[MAX_PATH + 32];
    GetEnvironmentVariableA("PM_WINE_SCREEN", screen, sizeof screen);
    GetEnvironmentVariableA("PM_WINE_PICTURES", folder, sizeof folder);
    snprintf(picture, sizeof picture, "%s\\%d.xwd", folder, frame);
    CopyFileA(screen, picture, FALSE);
    return result;
}

#define vkQueuePresentKHR present_and_look
#include "cube_without_functions.c"
