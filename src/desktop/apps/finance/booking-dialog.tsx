import { useSignal } from '@preact/signals'
import { EntryField } from '../../kit/entry-field.tsx'
import { EntryDialog, EntryTrouble } from '../../kit/entry-parts.tsx'
import { TextField } from '../../kit/field.tsx'
import { editAmount, readAmount } from './amounts.ts'
import { accounts, categories, entries, kinds, type Booking } from './store.ts'
import { words } from './words.ts'

function Amount({ booking }: { booking: Booking }) {
  const entered = useSignal<string | undefined>(undefined)
  const isBad = entered.value !== undefined && entered.value !== '' && readAmount(entered.value) === undefined
  const shown = booking.amount_cents === 0 && entries.isBegun(booking) ? '' : editAmount(booking.amount_cents)
  return (
    <TextField
      label={words('amount_cents')}
      inputMode="decimal"
      autocomplete="off"
      placeholder={editAmount(0)}
      data-first
      value={entered.value ?? shown}
      flaw={isBad ? words('bad_amount') : undefined}
      onInput={({ currentTarget }) => {
        entered.value = currentTarget.value
        const cents = readAmount(currentTarget.value)
        if (cents !== undefined) entries.write(booking, { amount_cents: cents })
      }}
      onBlur={() => {
        if (!isBad) entered.value = undefined
      }}
    />
  )
}

/** The booking that is open. */
export function BookingDialog({ booking }: { booking: Booking }) {
  const at = { of: entries, entry: booking }
  return (
    <EntryDialog {...at} name={booking.description ?? words('no_description')} title={words('booking')}>
      <EntryTrouble {...at} label={(name) => words(name as 'kind')} />
      <div class="form">
        <div class="two">
          <EntryField
            {...at}
            name="kind"
            label={words('kind')}
            options={kinds.map((kind) => ({ value: kind, label: words(kind) }))}
          />
          <EntryField {...at} name="booked_on" label={words('booked_on')} />
        </div>
        <div class="two">
          <Amount booking={booking} />
          <EntryField {...at} name="currency" label={words('currency')} hint={words('currency_hint')} />
        </div>
        <EntryField {...at} name="description" label={words('description')} />
        <div class="two">
          <EntryField {...at} name="category" label={words('category')} list="categories" autocomplete="off" />
          <EntryField {...at} name="account" label={words('account')} list="accounts" autocomplete="off" />
        </div>
        <datalist id="categories">
          {categories.value.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <datalist id="accounts">
          {accounts.value.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </div>
    </EntryDialog>
  )
}
