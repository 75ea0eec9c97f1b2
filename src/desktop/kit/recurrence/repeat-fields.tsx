import { useState } from 'preact/hooks'
import { Problem, Select, TextField } from '../field.tsx'
import { formatWeekday } from '../formats.ts'
import { firstWeekday } from '../first-weekday.ts'
import { addDays, noonOf } from '../days.ts'
import './repeat-fields.css'
import {
  frequencies,
  ordinalOf,
  readRule,
  WEEKDAYS,
  weekdayOf,
  writeRule,
  type Frequency,
  type Rule,
  type Weekday,
} from './rule.ts'
import { words } from './words.ts'

/** A Sunday, to name weekdays. */
const SUNDAY = '2026-11-22'

const MAX_NUMBER = 999

/** Days between the first and the last one that is proposed. */
const PROPOSED_DAYS = 90

function labelOf(frequency: Frequency, first: string): string {
  if (frequency === 'MONTHLY') return words('repeat_MONTHLY', Number(first.slice(8)))
  if (frequency !== 'MONTHLY_WEEKDAY') return words(`repeat_${frequency}`)
  const weekday = new Intl.DateTimeFormat(document.documentElement.lang, { weekday: 'long' }).format(noonOf(first))
  return words('repeat_MONTHLY_WEEKDAY', ordinalOf(first), weekday)
}

/** A whole number; while it is not valid, what was entered stays and nothing is written. */
function NumberField({ label, value, onNumber }: { label: string; value: number; onNumber: (value: number) => void }) {
  const [entered, setEntered] = useState<string | undefined>(undefined)
  const isValid = (text: string): boolean => /^[1-9]\d*$/.test(text) && Number(text) <= MAX_NUMBER
  return (
    <TextField
      label={label}
      type="number"
      min={1}
      max={MAX_NUMBER}
      value={entered ?? `${value}`}
      problem={entered === undefined || isValid(entered) ? undefined : words('no_interval')}
      onText={(text) => {
        setEntered(text)
        if (isValid(text)) onNumber(Number(text))
      }}
      onBlur={() => entered !== undefined && isValid(entered) && setEntered(undefined)}
    />
  )
}

function Weekdays({ rule, first, write }: { rule: Rule; first: string; write: (rule: Rule) => void }) {
  const own = weekdayOf(first)
  const toggle = (day: Weekday, isOn: boolean): void => {
    const chosen = WEEKDAYS.filter((other) => (other === day ? isOn : rule.weekdays.includes(other)))
    write({ ...rule, weekdays: chosen.length > 0 ? chosen : [own] })
  }
  return (
    <fieldset class="weekdays">
      <legend>{words('weekdays')}</legend>
      {WEEKDAYS.map((_, index) => (index + firstWeekday.value) % 7).map((index) => {
        const day = WEEKDAYS[index]!
        return (
          <label key={day}>
            <input
              type="checkbox"
              checked={rule.weekdays.includes(day)}
              disabled={day === own}
              onChange={({ currentTarget }) => toggle(day, currentTarget.checked)}
            />
            <span>{formatWeekday(noonOf(addDays(SUNDAY, index)))}</span>
          </label>
        )
      })}
    </fieldset>
  )
}

function EndFields({ rule, first, write }: { rule: Rule; first: string; write: (rule: Rule) => void }) {
  const { until, count, ...endless } = rule
  const kind = until === undefined ? (count === undefined ? 'never' : 'count') : 'until'
  const [entered, setEntered] = useState<string | undefined>(undefined)
  const choose = (to: string): void => {
    if (to === 'until') write({ ...endless, until: addDays(first, PROPOSED_DAYS) })
    else write(to === 'count' ? { ...endless, count: 10 } : endless)
  }
  return (
    <div class="two">
      <Select
        label={words('ends')}
        options={(['never', 'until', 'count'] as const).map((value) => ({ value, label: words(`ends_${value}`) }))}
        value={kind}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      />
      {count !== undefined && (
        <NumberField label={words('count')} value={count} onNumber={(to) => write({ ...endless, count: to })} />
      )}
      {until !== undefined && (
        <TextField
          label={words('until')}
          type="date"
          max="9998-12-31"
          value={entered ?? until}
          problem={entered !== undefined && entered < first ? words(entered ? 'early_until' : 'no_day') : undefined}
          onText={(text) => {
            setEntered(text)
            if (text >= first) write({ ...endless, until: text })
          }}
          onBlur={() => entered !== undefined && entered >= first && setEntered(undefined)}
        />
      )}
    </div>
  )
}

/** The series whose rule is edited. */
export interface RepeatProps {
  rrule: string | null
  /** How many dates it has beside the first one and those of a rule. */
  addedDates?: number | undefined
  /** Its first day. */
  first: string
  /** Whether its starts are days; otherwise they are moments. */
  isAllDay: boolean
  /** The last day that an end includes, and the last moment of a day, in the zone of the series. */
  toDay: (moment: string) => string
  endOf: (day: string) => number
  /** Why the rule cannot be followed. */
  problem: string | false
  onRule: (rrule: string | null) => void
}

/** What is shown of a rule that the fields cannot show, or of a series without a rule. */
const otherLabel = (rrule: string | null, addedDates: number): string =>
  rrule === null ? words('repeat_dates', addedDates) : words('repeat_other', rrule)

/** How something repeats. A rule that has more than these fields is kept as it is. */
export function RepeatFields({ rrule, addedDates = 0, first, isAllDay, toDay, endOf, problem, onRule }: RepeatProps) {
  const rule = rrule === null ? undefined : readRule(rrule, first, toDay)
  const other = rule || (rrule ?? addedDates) === 0 ? undefined : otherLabel(rrule, addedDates)
  const write = (to: Rule): void => onRule(writeRule(to, first, isAllDay, endOf))
  const choose = (to: string): void => {
    if (to === 'never') onRule(null)
    else if (to !== 'other') {
      const frequency = to as Frequency
      const weekdays = frequency === 'WEEKLY' ? [weekdayOf(first)] : []
      write({ interval: 1, ...rule, frequency, weekdays })
    }
  }
  const unit = rule?.frequency === 'MONTHLY_WEEKDAY' ? 'MONTHLY' : rule?.frequency
  return (
    <>
      <Select
        label={words('repeats')}
        options={[
          { value: 'never', label: words('repeat_never') },
          ...frequencies.map((value) => ({ value, label: labelOf(value, first) })),
          ...(other === undefined ? [] : [{ value: 'other', label: other }]),
        ]}
        value={rule?.frequency ?? (other === undefined ? 'never' : 'other')}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      />
      {rrule !== null && problem && <Problem>{problem}</Problem>}
      {rule && unit && (
        <>
          <NumberField
            label={words(`interval_${unit}`)}
            value={rule.interval}
            onNumber={(interval) => write({ ...rule, interval })}
          />
          {rule.frequency === 'WEEKLY' && <Weekdays rule={rule} first={first} write={write} />}
          <EndFields rule={rule} first={first} write={write} />
        </>
      )}
    </>
  )
}
