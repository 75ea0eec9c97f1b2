import { signal } from '@preact/signals'
import type { Language } from '../wire/protocol.ts'

export const browserLanguage = (): Language => (navigator.language.toLowerCase().startsWith('de') ? 'de' : 'en')

/** The language of the desktop. */
export const language = signal<Language>(browserLanguage())

type Message = string | ((...values: never[]) => string)

/** A translation with the same keys and parameters. */
export type Translation<E> = {
  [K in keyof E]: E[K] extends (...values: infer A) => string ? (...values: A) => string : string
}

type Values<M> = M extends (...values: infer A) => string ? A : []

/** The messages of a part of the desktop: `t('title')`, or `t('left', 3)` if a message takes parameters. */
export function catalogue<const E extends Record<string, Message>>(en: E, de: Translation<E>) {
  const words = { en, de }
  return <K extends keyof E & string>(key: K, ...values: Values<E[K]>): string => {
    const message = words[language.value][key] as Message
    return typeof message === 'string' ? message : message(...(values as never[]))
  }
}
