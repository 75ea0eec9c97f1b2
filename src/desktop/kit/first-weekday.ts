import { computed } from '@preact/signals'
import { language } from './language.ts'

/** First day of the week: Sunday in the United States, otherwise Monday. */
export const firstWeekday = computed(() =>
  language.value === 'en' && navigator.language === 'en-US' ? (0 as const) : (1 as const),
)
