/** Wallpapers of the desktop by name; the first one is the default. */
export const wallpapers = ['dawn', 'sea', 'forest', 'sand', 'dusk', 'plain'] as const
