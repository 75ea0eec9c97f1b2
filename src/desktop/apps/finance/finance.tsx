import { useSignal } from '@preact/signals'
import { ChartPie, Download, Plus } from 'lucide'
import { Button, IconButton } from '../../kit/button.tsx'
import { EntriesView } from '../../kit/entry-controls.tsx'
import { FilterSelect, SearchField } from '../../kit/field.tsx'
import { formatDate, formatNumber } from '../../kit/formats.ts'
import { today } from '../../kit/local-day.ts'
import { saveFile } from '../../kit/save-file.ts'
import { FileMenu } from '../../kit/row-files/file-menu.tsx'
import { Toolbar } from '../../kit/split-view.tsx'
import { FirstUse, OfflineBanner } from '../../kit/empty-state.tsx'
import { common } from '../../kit/words.ts'
import { formatAmount } from './amounts.ts'
import { TransactionDialog } from './transaction-dialog.tsx'
import { Chart } from './chart.tsx'
import {
  transactions,
  categories,
  category,
  csv,
  currencies,
  entries,
  month,
  months,
  searchText,
  totalsOf,
  type Transaction,
  type Kind,
} from './store.ts'
import { words } from './words.ts'

/** Transactions rendered at first, and added on each request. */
const PAGE_SIZE = 200

const create = (): void =>
  entries.create({ booked_on: today(), currency: currencies.value[0] ?? 'EUR', category: category.value || null })

/** Downloads the visible transactions. */
const save = (): void =>
  saveFile(
    new Blob([csv()], { type: 'text/csv' }),
    `${words('finance').toLowerCase()}${month.value ? `-${month.value}` : ''}.csv`,
  )

const Totals = () => (
  <div class="totals">
    {totalsOf(transactions.value).map(({ currency, income, expense }) => (
      <dl key={currency} class="total">
        {(
          [
            ['income', income],
            ['expense', expense],
            ['balance', income - expense],
          ] as const
        ).map(([name, cents]) => (
          <div key={name}>
            <dt>{words(name)}</dt>
            <dd class={name === 'balance' && cents < 0n ? 'is-minus' : ''}>{formatAmount(cents, currency)}</dd>
          </div>
        ))}
      </dl>
    ))}
  </div>
)

function Row({ transaction }: { transaction: Transaction }) {
  const { kind, amount_cents, currency } = transaction
  const amount = BigInt(amount_cents)
  return (
    <tr class={`transaction-row is-${kind}`}>
      <td>{formatDate(`${transaction.booked_on}T12:00`)}</td>
      <td>
        <button type="button" class="transaction" onClick={() => void (entries.open.value = transaction.key)}>
          {transaction.description || words('no_description')}
        </button>
      </td>
      <td class="only-wide">{words(kind as Kind)}</td>
      <td class="only-wide">{transaction.category}</td>
      <td class="only-wide">{transaction.account}</td>
      <td class="amount">{formatAmount(kind === 'expense' ? -amount : amount, currency)}</td>
    </tr>
  )
}

function Transactions() {
  const limit = useSignal(PAGE_SIZE)
  const all = transactions.value
  return (
    <>
      <table class="transactions">
        <thead>
          <tr>
            <th scope="col">{words('booked_on')}</th>
            <th scope="col">{words('description')}</th>
            <th scope="col" class="only-wide">
              {words('kind')}
            </th>
            <th scope="col" class="only-wide">
              {words('category')}
            </th>
            <th scope="col" class="only-wide">
              {words('account')}
            </th>
            <th scope="col" class="amount">
              {words('amount_cents')}
            </th>
          </tr>
        </thead>
        <tbody>
          {all.slice(0, limit.value).map((transaction) => (
            <Row key={transaction.key} transaction={transaction} />
          ))}
        </tbody>
      </table>
      {all.length > limit.value && (
        <Button kind="quiet" onClick={() => void (limit.value += PAGE_SIZE)}>
          {common('more')} ({formatNumber(all.length - limit.value)})
        </Button>
      )}
    </>
  )
}

const Filters = () => (
  <div class="filters">
    <FilterSelect
      aria-label={words('month')}
      value={month.value}
      options={[['', words('all_months')], ...months.value.map((name) => [name, name] as const)]}
      onPick={(name) => void (month.value = name)}
    />
    <FilterSelect
      aria-label={words('category')}
      value={category.value}
      options={[['', words('all_categories')], ...categories.value.map((name) => [name, name] as const)]}
      onPick={(name) => void (category.value = name)}
    />
  </div>
)

export function Finance() {
  const transaction = entries.current.value
  const isFiltered = searchText.value !== '' || month.value !== '' || category.value !== ''
  const none = <FirstUse icon={ChartPie} words={words} onAdd={create} />
  return (
    <>
      <h1 class="unseen">{words('finance')}</h1>
      <OfflineBanner />
      <main class="finance">
        <Toolbar label={words('finance')}>
          <SearchField label={words('search')} of={searchText} />
          <IconButton icon={Download} label={words('export')} onClick={save} />
          <IconButton icon={Plus} label={words('new')} onClick={create} />
          <FileMenu of={entries} name={words('finance')} />
        </Toolbar>
        {entries.all.value.length > 0 && <Filters />}
        <div class="finance-body" tabIndex={0} role="region" aria-label={words('finance')}>
          <EntriesView
            of={entries}
            icon={ChartPie}
            count={transactions.value.length}
            isFiltered={isFiltered}
            empty={none}
          >
            <Totals />
            <Chart currency={totalsOf(transactions.value)[0]?.currency ?? currencies.value[0] ?? 'EUR'} />
            <Transactions />
          </EntriesView>
        </div>
      </main>
      {transaction && <TransactionDialog key={entries.open.value} transaction={transaction} />}
    </>
  )
}
