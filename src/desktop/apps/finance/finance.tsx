import { useSignal } from '@preact/signals'
import { ChartPie, Download, Plus } from 'lucide'
import { Button, IconButton } from '../../kit/button.tsx'
import { EntriesOr } from '../../kit/entry-parts.tsx'
import { SearchField } from '../../kit/field.tsx'
import { formatDate, formatNumber, today } from '../../kit/formats.ts'
import { Toolbar } from '../../kit/split.tsx'
import { NoneYet, OfflineBanner } from '../../kit/states.tsx'
import { common } from '../../kit/words.ts'
import { showAmount } from './amounts.ts'
import { BookingDialog } from './booking-dialog.tsx'
import { Chart } from './chart.tsx'
import {
  bookings,
  categories,
  category,
  csv,
  currencies,
  entries,
  month,
  months,
  sought,
  totalsOf,
  type Booking,
  type Kind,
} from './store.ts'
import { words } from './words.ts'

/** Bookings that are drawn before somebody asks for more. */
const STEP = 200

const create = (): void =>
  entries.create({ booked_on: today(), currency: currencies.value[0] ?? 'EUR', category: category.value || null })

/** Has the browser save what the table shows. */
function save(): void {
  const url = URL.createObjectURL(new Blob([csv()], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `${words('finance').toLowerCase()}${month.value ? `-${month.value}` : ''}.csv`
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

const Totals = () => (
  <div class="totals">
    {totalsOf(bookings.value).map(({ currency, income, expense }) => (
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
            <dd class={name === 'balance' && cents < 0n ? 'is-minus' : ''}>{showAmount(cents, currency)}</dd>
          </div>
        ))}
      </dl>
    ))}
  </div>
)

function Row({ booking }: { booking: Booking }) {
  const { kind, amount_cents, currency } = booking
  const amount = BigInt(amount_cents)
  return (
    <tr class={`booking-row is-${kind}`}>
      <td>{formatDate(`${booking.booked_on}T12:00`)}</td>
      <td>
        <button type="button" class="booking" onClick={() => void (entries.open.value = booking.key)}>
          {booking.description || words('no_description')}
        </button>
      </td>
      <td class="only-wide">{words(kind as Kind)}</td>
      <td class="only-wide">{booking.category}</td>
      <td class="only-wide">{booking.account}</td>
      <td class="amount">{showAmount(kind === 'expense' ? -amount : amount, currency)}</td>
    </tr>
  )
}

function Bookings() {
  const most = useSignal(STEP)
  const all = bookings.value
  return (
    <>
      <table class="bookings">
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
          {all.slice(0, most.value).map((booking) => (
            <Row key={booking.key} booking={booking} />
          ))}
        </tbody>
      </table>
      {all.length > most.value && (
        <Button kind="quiet" onClick={() => void (most.value += STEP)}>
          {common('more')} ({formatNumber(all.length - most.value)})
        </Button>
      )}
    </>
  )
}

const Filters = () => (
  <div class="filters">
    <select
      aria-label={words('month')}
      value={month.value}
      onChange={({ currentTarget }) => void (month.value = currentTarget.value)}
    >
      <option value="">{words('all_months')}</option>
      {months.value.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
    <select
      aria-label={words('category')}
      value={category.value}
      onChange={({ currentTarget }) => void (category.value = currentTarget.value)}
    >
      <option value="">{words('all_categories')}</option>
      {categories.value.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  </div>
)

/** The app. */
export function Finance() {
  const booking = entries.current.value
  const isFiltered = sought.value !== '' || month.value !== '' || category.value !== ''
  const none = (
    <NoneYet
      icon={ChartPie}
      title={words('none_yet')}
      text={words('none_yet_text')}
      add={words('new')}
      onAdd={create}
    />
  )
  return (
    <>
      <h1 class="unseen">{words('finance')}</h1>
      <OfflineBanner />
      <main class="finance">
        <Toolbar label={words('finance')}>
          <SearchField
            label={words('search')}
            value={sought.value}
            onInput={({ currentTarget }) => void (sought.value = currentTarget.value)}
          />
          <IconButton icon={Download} label={words('export')} onClick={save} />
          <IconButton icon={Plus} label={words('new')} onClick={create} />
        </Toolbar>
        {entries.all.value.length > 0 && <Filters />}
        <div class="finance-body" tabIndex={0} role="region" aria-label={words('finance')}>
          <EntriesOr of={entries} icon={ChartPie} count={bookings.value.length} isFiltered={isFiltered} none={none}>
            <Totals />
            <Chart currency={totalsOf(bookings.value)[0]?.currency ?? currencies.value[0] ?? 'EUR'} />
            <Bookings />
          </EntriesOr>
        </div>
      </main>
      {booking && <BookingDialog key={entries.open.value} booking={booking} />}
    </>
  )
}
