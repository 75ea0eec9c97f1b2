import { useSignal } from '@preact/signals'
import { EntryField } from '../../kit/entry-field.tsx'
import { EntryDialog, EntryAlert } from '../../kit/entry-controls.tsx'
import { TextField } from '../../kit/field.tsx'
import { formatAmountInput, parseAmount } from './amounts.ts'
import { accounts, categories, entries, kinds, type Transaction } from './store.ts'
import { words } from './words.ts'

function Amount({ transaction }: { transaction: Transaction }) {
  const entered = useSignal<string | undefined>(undefined)
  const isBad = entered.value !== undefined && entered.value !== '' && parseAmount(entered.value) === undefined
  const shown =
    transaction.amount_cents === 0 && entries.isNew(transaction) ? '' : formatAmountInput(transaction.amount_cents)
  return (
    <TextField
      label={words('amount_cents')}
      inputMode="decimal"
      autocomplete="off"
      placeholder={formatAmountInput(0)}
      data-first
      value={entered.value ?? shown}
      problem={isBad ? words('bad_amount') : undefined}
      onInput={({ currentTarget }) => {
        entered.value = currentTarget.value
        const cents = parseAmount(currentTarget.value)
        if (cents !== undefined) entries.write(transaction, { amount_cents: cents })
      }}
      onBlur={() => {
        if (!isBad) entered.value = undefined
      }}
    />
  )
}

export function TransactionDialog({ transaction }: { transaction: Transaction }) {
  const entryProps = { of: entries, entry: transaction }
  return (
    <EntryDialog {...entryProps} name={transaction.description ?? words('no_description')} title={words('transaction')}>
      <EntryAlert {...entryProps} label={(name) => words(name as 'kind')} />
      <div class="form">
        <div class="two">
          <EntryField
            {...entryProps}
            name="kind"
            label={words('kind')}
            options={kinds.map((kind) => ({ value: kind, label: words(kind) }))}
          />
          <EntryField {...entryProps} name="booked_on" label={words('booked_on')} />
        </div>
        <div class="two">
          <Amount transaction={transaction} />
          <EntryField {...entryProps} name="currency" label={words('currency')} hint={words('currency_hint')} />
        </div>
        <EntryField {...entryProps} name="description" label={words('description')} />
        <div class="two">
          <EntryField {...entryProps} name="category" label={words('category')} list="categories" autocomplete="off" />
          <EntryField {...entryProps} name="account" label={words('account')} list="accounts" autocomplete="off" />
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
