import { useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { SearchField, Select, Switch, TextField } from '../../kit/field.tsx'
import { formatNumber, formatSize } from '../../kit/formats.ts'
import { toast } from '../../kit/toast.tsx'
import type { AnswerOf } from '../../wire/actions.ts'
import { FormDialog } from './form-dialog.tsx'
import { QueryResult } from './controls.tsx'
import { useLiveQuery } from './live-query.ts'
import type { User } from './user-dialog-props.ts'
import { words } from './words.ts'

/** Accounts offered as recipients; if there are more, the field searches. */
const MAX_OPTIONS = 100

const kinds = [
  'files',
  'folders',
  'trash',
  'room_files',
  'rows',
  'messages',
  'rooms',
  'rooms_alone',
  'devices',
  'sessions',
] as const

function RemovalPlan({ plan: { has: held, messages_kept, hands_over } }: { plan: AnswerOf<'admin.removal'> }) {
  const has = { ...held, messages: held.messages - messages_kept }
  const some = kinds.filter((kind) => has[kind] > 0)
  return (
    <>
      {some.length === 0 && messages_kept === 0 && <p>{words('nothing_goes')}</p>}
      <dl class="facts small">
        {some.map((kind) => (
          <div key={kind}>
            <dt>{words(`has_${kind}`)}</dt>
            <dd>
              {formatNumber(has[kind])}
              {kind === 'files' && ` (${formatSize(has.bytes)})`}
              {kind === 'room_files' && ` (${formatSize(has.room_bytes)})`}
            </dd>
          </div>
        ))}
      </dl>
      {messages_kept > 0 && <p>{words('messages_stay', formatNumber(messages_kept))}</p>}
      {hands_over && (
        <p>
          {words('heir_gets', hands_over.username, hands_over.folder ?? '–', formatSize(hands_over.used_bytes))}
          {hands_over.quota_bytes !== null && hands_over.used_bytes > hands_over.quota_bytes && (
            <strong> {words('heir_exceeds', formatSize(hands_over.quota_bytes))}</strong>
          )}
        </p>
      )}
    </>
  )
}

interface Recipient {
  id: number
  label: string
}

/** The account that receives the files. */
function RecipientField({
  of,
  recipient,
  onChange,
}: {
  of: User
  recipient: Recipient | undefined
  onChange: (recipient: Recipient | undefined) => void
}) {
  const [searchText, setSearchText] = useState('')
  const search = searchText.trim()
  const params = { state: 'enabled', limit: MAX_OPTIONS, ...(search === '' ? {} : { search }) }
  const { value } = useLiveQuery(() => bridge.call('admin.users', params), { key: search })
  const found = (value?.users ?? [])
    .filter(({ id }) => id !== of.id)
    .map(({ id, display_name, username }) => ({ id, label: `${display_name} (${username})` }))
  // Keep the selected account in the list, whatever the search.
  const options = recipient && !found.some(({ id }) => id === recipient.id) ? [recipient, ...found] : found
  return (
    <>
      {(searchText !== '' || (value?.total ?? 0) > MAX_OPTIONS) && (
        <SearchField label={words('search_heir')} value={searchText} maxLength={100} onText={setSearchText} />
      )}
      <Select
        label={words('files_to')}
        value={recipient === undefined ? '' : String(recipient.id)}
        options={[
          { value: '', label: words('nobody_gets') },
          ...options.map(({ id, label }) => ({ value: String(id), label })),
        ]}
        onChange={({ currentTarget }) => onChange(options.find(({ id }) => String(id) === currentTarget.value))}
      />
    </>
  )
}

/** Removes an account permanently, after showing what is deleted and asking for its name. */
export function RemoveUser({ user, onClose, onRemoved }: { user: User; onClose: () => void; onRemoved: () => void }) {
  const [recipient, setRecipient] = useState<Recipient | undefined>(undefined)
  const [name, setName] = useState('')
  const [keepsMessages, setKeepsMessages] = useState(false)
  const options = { ...(recipient && { files_to: recipient.id }), keep_messages: keepsMessages }
  const plan = useLiveQuery(() => bridge.call('admin.removal', { user_id: user.id, ...options }), {
    key: JSON.stringify(options),
  })

  async function remove(current_password: string): Promise<void> {
    await bridge.call('admin.remove_user', { user_id: user.id, ...options, current_password })
    toast(words('removed', user.username))
    onRemoved()
  }

  return (
    <FormDialog
      title={words('remove_title', user.username)}
      text={words('remove_text')}
      action={words('remove_for_good')}
      danger
      asksPassword
      ready={plan.value !== undefined && name.trim().toLowerCase() === user.username}
      onClose={onClose}
      run={remove}
    >
      {() => (
        <>
          <QueryResult of={plan}>{(value) => <RemovalPlan plan={value} />}</QueryResult>
          <RecipientField of={user} recipient={recipient} onChange={setRecipient} />
          <Switch label={words('keep_messages')} checked={keepsMessages} onSwitch={setKeepsMessages} />
          <TextField
            label={words('type_name', user.username)}
            value={name}
            required
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            data-first
            onText={setName}
          />
        </>
      )}
    </FormDialog>
  )
}
