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
