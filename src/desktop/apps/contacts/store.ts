import { computed, signal } from '@preact/signals'
import { openEntries, type Entry } from '../../kit/entries.ts'
import { compareNames } from '../../kit/formats.ts'
import { makeSearch } from '../../kit/overlay.ts'

export type Contact = Entry<'svc_contacts'>

export const entries = openEntries('svc_contacts', {
  blank: {
    name: '',
    email: null,
    phone: null,
    company: null,
    note: null,
    uid: null,
    other_emails: null,
    other_phones: null,
    vcard: null,
  },
  isComplete: ({ name }) => name.trim() !== '',
})

export const searchText = signal('')

const search = makeSearch<Contact>(({ name, email, phone, company, note, other_emails, other_phones }) => [
  name,
  email,
  phone,
  company,
  note,
  ...(other_emails ?? []),
  ...(other_phones ?? []),
])

export const contacts = computed(() =>
  search(entries.all.value, searchText.value).toSorted((a, b) => compareNames(a.name, b.name)),
)

/** A `mailto:` link; undefined for invalid addresses, so that nothing else gets into the link. */
export const mailLink = (email: string): string | undefined =>
  isEmail(email) ? `mailto:${encodeURIComponent(email).replace('%40', '@')}` : undefined

export const isEmail = (text: string): boolean => /^[^\s@<>?&,;:"]+@[^\s@<>?&,;:"]+$/u.test(text)

/** A `tel:` link (RFC 3966); undefined if there are no digits. */
export function phoneLink(phone: string): string | undefined {
  const number = phone.replace(/[^\d+*#]/g, '')
  return /\d/.test(number) ? `tel:${number.replaceAll('#', '%23')}` : undefined
}
