/** Pictures behind the windows that every desktop has, by name; the first is the standard one. */
export const wallpapers = ['dawn', 'sea', 'forest', 'sand', 'dusk', 'plain'] as const
