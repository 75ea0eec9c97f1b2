import { ContactRound, Mail, Phone, Plus } from 'lucide'
import { useEffect, useRef } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { IconButton } from '../../kit/button.tsx'
import { EntryField } from '../../kit/entry-field.tsx'
import { EntryList } from '../../kit/entry-list.tsx'
import { EntriesView, EntryBar, EntryAlert } from '../../kit/entry-controls.tsx'
import { SearchField } from '../../kit/field.tsx'
import { Icon } from '../../kit/icon.tsx'
import { FileMenu } from '../../kit/row-files/file-menu.tsx'
import { SplitView, Toolbar } from '../../kit/split-view.tsx'
import { EmptyState, FirstUse, OfflineBanner } from '../../kit/empty-state.tsx'
import { contacts, entries, isEmail, mailLink, phoneLink, searchText, type Contact } from './store.ts'
import { words } from './words.ts'

/** Initials of the first and the last name. */
function initials(name: string): string {
  const parts = name.trim().split(/\s+/)
  const ends = parts.length > 1 ? [parts[0]!, parts.at(-1)!] : [parts[0]!]
  return ends
    .map((part) => [...part][0] ?? '')
    .join('')
    .toUpperCase()
}

const Picture = ({ name, class: className = '' }: { name: string; class?: string }) => {
  const hue = [...name].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)!) % 360, 7)
  return (
    <span class={`contact-picture ${className}`} style={{ '--hue': `${hue}` }} aria-hidden="true">
      {initials(name) || '?'}
    </span>
  )
}

const Line = ({ contact: { name, company, email, phone } }: { contact: Contact }) => (
  <div class="contact-line">
    <Picture name={name} />
    <strong>{name || words('unnamed')}</strong>
    <p>{company ?? email ?? phone}</p>
  </div>
)

/** Links that write to the contact or call it. */
function Ways({ contact: { email, phone, other_emails, other_phones } }: { contact: Contact }) {
  const waysOf = (first: string | null, others: string[] | null, linkOf: (text: string) => string | undefined) =>
    [first, ...(others ?? [])].flatMap((text) => {
      const link = text === null ? undefined : linkOf(text)
      return text === null || link === undefined ? [] : [{ text, link }]
    })
  const [mails, phones] = [waysOf(email, other_emails, mailLink), waysOf(phone, other_phones, phoneLink)]
  if (mails.length + phones.length === 0) return null
  const labelOf = (label: string, text: string, count: number): string => (count > 1 ? `${label}: ${text}` : label)
  return (
    <div class="contact-ways">
      {mails.map(({ text, link }) => (
        <a key={link} class="button" href={link}>
          <Icon of={Mail} />
          {labelOf(words('write_mail'), text, mails.length)}
        </a>
      ))}
      {phones.map(({ text, link }) => (
        <a key={link} class="button" href={link}>
          <Icon of={Phone} />
          {labelOf(words('call'), text, phones.length)}
        </a>
      ))}
    </div>
  )
}

function Details({ contact }: { contact: Contact }) {
  const entryProps = { of: entries, entry: contact }
  const name = contact.name || words('unnamed')
  const form = useRef<HTMLDivElement>(null)
  useEffect(() => bridge.setTitle(contact.name && `${contact.name} – ${words('contacts')}`), [contact.name])
  useEffect(() => {
    if (contact.name === '') form.current?.querySelector('input')?.focus()
    return () => entries.drafts.flush()
  }, [])
  return (
    <article class="contact" aria-label={name}>
      <EntryBar {...entryProps} name={name} />
      <EntryAlert {...entryProps} label={(column) => words(column as 'name')} />
      <div class="page">
        <header class="contact-head">
          <Picture name={contact.name} class="large" />
          <div>
            <h2>{name}</h2>
            {contact.company && <p>{contact.company}</p>}
          </div>
        </header>
        <Ways contact={contact} />
        <div class="form" ref={form}>
          <EntryField {...entryProps} name="name" label={words('name')} autocomplete="off" />
          <EntryField
            {...entryProps}
            name="email"
            label={words('email')}
            type="email"
            autocomplete="off"
            check={(text) => (isEmail(text.trim()) ? undefined : words('bad_email'))}
          />
          <EntryField {...entryProps} name="other_emails" label={words('other_emails')} hint={words('one_a_line')} />
          <EntryField {...entryProps} name="phone" label={words('phone')} type="tel" autocomplete="off" />
          <EntryField {...entryProps} name="other_phones" label={words('other_phones')} hint={words('one_a_line')} />
          <EntryField {...entryProps} name="company" label={words('company')} autocomplete="off" />
          <EntryField {...entryProps} name="note" label={words('note')} />
        </div>
      </div>
    </article>
  )
}

function List() {
  const none = <FirstUse icon={ContactRound} words={words} onAdd={() => entries.create()} />
  return (
    <EntriesView
      of={entries}
      icon={ContactRound}
      count={contacts.value.length}
      isFiltered={searchText.value !== ''}
      empty={none}
    >
      <EntryList of={entries} items={contacts.value} rowHeight={60} label={words('contacts')}>
        {(contact) => <Line contact={contact} />}
      </EntryList>
    </EntriesView>
  )
}

export function Contacts() {
  const contact = entries.current.value
  return (
    <>
      <h1 class="unseen">{words('contacts')}</h1>
      <OfflineBanner />
      <SplitView
        label={words('contacts')}
        shows={contact ? 'main' : 'side'}
        back={contact && entries.close}
        side={
          <>
            <Toolbar label={words('contacts')}>
              <SearchField label={words('search')} of={searchText} />
              <IconButton icon={Plus} label={words('new')} onClick={() => entries.create()} />
              <FileMenu of={entries} formats={['vcf']} name={words('contacts')} />
            </Toolbar>
            <List />
          </>
        }
        main={
          contact ? (
            <Details key={entries.open.value} contact={contact} />
          ) : (
            <EmptyState icon={ContactRound} title={words('none_open')}>
              <p>{words('none_open_text')}</p>
            </EmptyState>
          )
        }
      />
    </>
  )
}
