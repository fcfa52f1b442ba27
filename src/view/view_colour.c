/* SPDX-License-Identifier: Apache-2.0
 * The palette: 8 hues in 4 shades, for light and dark pages, with and without text on the cells. Hues are
 * spaced by eye, not by angle, so that neighbours stay apart for common colour-blindness too. */
#include "view/view.h"

static const uint16_t hues[8] = {210, 30, 140, 330, 265, 55, 180, 0}; /* degrees */

/* Integer HSL: saturation and lightness in percent. */
static uint32_t from_hsl(unsigned hue, unsigned saturation, unsigned lightness) {
    int l = (int)lightness * 255 / 100;
    int chroma = (l < 128 ? 2 * l : 510 - 2 * l) * (int)saturation / 100;
    int low = l - chroma / 2, part = (int)(hue % 60) * chroma / 60;
    int up = low + part, down = low + chroma - part, high = low + chroma;
    const int rgb[6][3] = {{high, up, low},   {down, high, low}, {low, high, up},
                           {low, down, high}, {up, low, high},   {high, low, down}};
    const int *c = rgb[hue / 60 % 6];
    return (uint32_t)c[0] << 16 | (uint32_t)c[1] << 8 | (uint32_t)c[2];
}

uint32_t view_colour(unsigned index, bool dark, bool picture) {
    static const uint8_t lightness[4][4] = {
        {91, 85, 78, 71}, /* light, behind dark text */
        {20, 26, 32, 38}, /* dark, behind light text */
        {80, 70, 60, 50}, /* light, alone */
        {34, 43, 52, 62}, /* dark, alone */
    };
    unsigned shade = index % 4, hue = index / 4 % 8;
    return from_hsl(hues[hue], picture ? 62 : dark ? 48 : 74, lightness[2 * picture + dark][shade]);
}
