import { computed, signal } from '@preact/signals'
import { openEntries, type Entry } from '../../kit/entries.ts'

export type Contact = Entry<'svc_contacts'>

export const entries = openEntries('svc_contacts', {
  blank: { name: '', email: null, phone: null, company: null, note: null },
  isComplete: ({ name }) => name.trim() !== '',
})

export const sought = signal('')

/** Contacts of the list, by name. */
export const contacts = computed(() => {
  const words = sought.value.toLowerCase().split(/\s+/)
  return entries.all.value
    .filter(({ name, email, phone, company, note }) => {
      const text = [name, email, phone, company, note].join('\n').toLowerCase()
      return words.every((word) => text.includes(word))
    })
    .toSorted((a, b) => a.name.localeCompare(b.name))
})

/** An address that a program for mail understands; nothing else gets into the link. */
export const mailLink = (email: string): string | undefined =>
  isEmail(email) ? `mailto:${encodeURIComponent(email).replace('%40', '@')}` : undefined

export const isEmail = (text: string): boolean => /^[^\s@<>?&,;:"]+@[^\s@<>?&,;:"]+$/u.test(text)

/** The digits of a telephone number (RFC 3966); undefined where there are none. */
export function phoneLink(phone: string): string | undefined {
  const number = phone.replace(/[^\d+*#]/g, '')
  return /\d/.test(number) ? `tel:${number.replaceAll('#', '%23')}` : undefined
}
