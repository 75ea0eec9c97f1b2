import { computed, effect, signal } from '@preact/signals'
import { browserLanguage, language } from '../kit/language.ts'
import { wallpapers, type Preferences, type Theme } from '../wire/protocol.ts'
import { readStored, store } from './stored.ts'

const KEY = 'svc.preferences'

const chosenBefore = readStored<Partial<Preferences>>(KEY, {})
const isOneOf = <T extends string>(value: unknown, values: readonly T[], otherwise: T): T =>
  values.find((one) => one === value) ?? otherwise

/** Longest path of a picture. */
const LONGEST_PATH = 4_096

/** A wallpaper by its name, or the path of a picture among the user's files. */
const soundWallpaper = (value: unknown): string =>
  typeof value === 'string' && value.startsWith('/') && value.length <= LONGEST_PATH
    ? value
    : isOneOf(value, wallpapers, 'dawn')

const sound = (wanted: Partial<Preferences>): Preferences => ({
  theme: isOneOf(wanted.theme, ['light', 'dark', 'system'], 'system'),
  language: isOneOf(wanted.language, ['de', 'en', 'system'], 'system'),
  wallpaper: soundWallpaper(wanted.wallpaper),
})

/** What was chosen for this browser, signed in or not. */
export const preferences = signal<Preferences>(sound(chosenBefore))

/** Changes some of it; what is not one of the values there are is left out. */
export function prefer(wanted: Partial<Preferences>): void {
  preferences.value = sound({ ...preferences.value, ...wanted })
  store(KEY, preferences.value)
}

const darkness = matchMedia('(prefers-color-scheme: dark)')
const systemIsDark = signal(darkness.matches)
darkness.addEventListener('change', ({ matches }) => void (systemIsDark.value = matches))

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
