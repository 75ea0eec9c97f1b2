/** Every app has one category. */
export const categories = [
  'productivity',
  'communication',
  'finance',
  'utility',
  'entertainment',
  'ai',
  'maps',
  'custom',
] as const
