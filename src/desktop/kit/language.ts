import { signal } from '@preact/signals'
import type { Language } from '../wire/protocol.ts'

/** The language the browser asks for, of those there are. */
export const browserLanguage = (): Language => (navigator.language.toLowerCase().startsWith('de') ? 'de' : 'en')

/** The language everything is shown in; what reads it is shown anew when it changes. */
export const language = signal<Language>(browserLanguage())

type Message = string | ((...values: never[]) => string)

/** The same messages in another language: the compiler misses what is not there. */
export type Translation<E> = {
  [K in keyof E]: E[K] extends (...values: infer A) => string ? (...values: A) => string : string
}

type Values<M> = M extends (...values: infer A) => string ? A : []

/** The words of a part of the desktop: `t('title')`, or with values where a message takes some, `t('left', 3)`. */
export function catalogue<const E extends Record<string, Message>>(en: E, de: Translation<E>) {
  const words = { en, de }
  return <K extends keyof E & string>(key: K, ...values: Values<E[K]>): string => {
    const message = words[language.value][key] as Message
    return typeof message === 'string' ? message : message(...(values as never[]))
  }
}
