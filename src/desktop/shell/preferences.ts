import { computed, effect, signal } from '@preact/signals'
import { browserLanguage, language } from '../kit/language.ts'
import { wallpapers, type Preferences, type Theme } from '../wire/protocol.ts'
import { readItem, writeItem } from './local-storage.ts'

const KEY = 'svc.preferences'

const stored = readItem<Partial<Preferences>>(KEY, {})
const oneOf = <T extends string>(value: unknown, values: readonly T[], fallback: T): T =>
  values.find((one) => one === value) ?? fallback

/** Longest path of an image, characters. */
const MAX_PATH_LENGTH = 4_096

/** A name of a wallpaper, or the path of an image in the user's files. */
const validWallpaper = (value: unknown): string =>
  typeof value === 'string' && value.startsWith('/') && value.length <= MAX_PATH_LENGTH
    ? value
    : oneOf(value, wallpapers, 'dawn')

const validPreferences = (wanted: Partial<Preferences>): Preferences => ({
  theme: oneOf(wanted.theme, ['light', 'dark', 'system'], 'system'),
  language: oneOf(wanted.language, ['de', 'en', 'system'], 'system'),
  wallpaper: validWallpaper(wanted.wallpaper),
})

/** Preferences of this browser, also before signing in. */
export const preferences = signal<Preferences>(validPreferences(stored))

/** Changes preferences; invalid values are ignored. */
export function setPreferences(wanted: Partial<Preferences>): void {
  preferences.value = validPreferences({ ...preferences.value, ...wanted })
  writeItem(KEY, preferences.value)
}

const darkScheme = matchMedia('(prefers-color-scheme: dark)')
const systemIsDark = signal(darkScheme.matches)
darkScheme.addEventListener('change', ({ matches }) => void (systemIsDark.value = matches))

export const theme = computed<Theme>(() => {
  const { theme: wanted } = preferences.value
  if (wanted !== 'system') return wanted
  return systemIsDark.value ? 'dark' : 'light'
})

effect(() => {
  const { language: wanted } = preferences.value
  language.value = wanted === 'system' ? browserLanguage() : wanted
  document.documentElement.lang = language.value
  document.documentElement.dataset['theme'] = theme.value
})
