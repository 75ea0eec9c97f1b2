import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button } from '../../kit/button.tsx'
import { Select, TextField } from '../../kit/field.tsx'
import { formatDateTime, formatWeekday } from '../../kit/formats.ts'
import { toast } from '../../kit/toast.tsx'
import type { AnswerOf } from '../../wire/actions.ts'
import { FormDialog } from './form-dialog.tsx'
import { words } from './words.ts'

type State = AnswerOf<'admin.backups'>

interface DialogProps {
  state: State
  onClose: () => void
  onDone: () => Promise<void>
}

const kinds = ['off', 'daily', 'weekly', 'own'] as const

interface ScheduleEntry {
  kind: (typeof kinds)[number]
  /** `HH:MM`. */
  time: string
  /** Day of the week; 0 is Sunday. */
  day: string
  cron: string
}

/** Monday first. */
const DAYS = ['1', '2', '3', '4', '5', '6', '0'] as const
// A Sunday.
const dayName = (day: string): string => formatWeekday(new Date(2026, 10, 22 + Number(day)), 'long')

/** The fields of a schedule. What is neither daily nor weekly at one time stays a cron expression. */
function entryOf(schedule: string | null): ScheduleEntry {
  const unset = { time: '03:30', day: '0', cron: schedule ?? '30 3 * * *' }
  if (schedule === null) return { ...unset, kind: 'off' }
  const [, minute, hour, day] = /^(\d{1,2}) (\d{1,2}) \* \* (\*|[0-7])$/.exec(schedule) ?? []
  if (minute === undefined || hour === undefined || day === undefined) return { ...unset, kind: 'own' }
  const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`
  return day === '*'
    ? { ...unset, kind: 'daily', time }
    : { ...unset, kind: 'weekly', time, day: day === '7' ? '0' : day }
}

function cronOf({ kind, time, day, cron }: ScheduleEntry): string | null {
  if (kind === 'off') return null
  if (kind === 'own') return cron
  const [hour, minute] = time.split(':').map(Number)
  return `${minute} ${hour} * * ${kind === 'daily' ? '*' : day}`
}

const fixedBy = ({ fixed }: State, setting: string): string | undefined =>
  fixed.find((one) => one.setting === setting)?.by

/** The schedule in words. */
export function ScheduleText({ state }: { state: State }) {
  const { kind, time, day, cron } = entryOf(state.schedule)
  const by = fixedBy(state, 'backup.schedule')
  return (
    <>
      {kind === 'off' && words('off')}
      {kind === 'daily' && words('daily_at', time)}
      {kind === 'weekly' && words('weekly_at', dayName(day), time)}
      {kind === 'own' && <code>{cron}</code>}
      {by !== undefined && <small> {words('fixed_by', by)}</small>}
    </>
  )
}

function ScheduleFields({
  entry,
  problem,
  onChange,
}: {
  entry: ScheduleEntry
  problem: string | undefined
  onChange: (entry: ScheduleEntry) => void
}) {
  return (
    <>
      <Select
        label={words('schedule_kind')}
        hint={words('schedule_hint')}
        value={entry.kind}
        options={kinds.map((value) => ({ value, label: words(`schedule_${value}`) }))}
        data-first
        onChange={({ currentTarget }) => onChange({ ...entry, kind: currentTarget.value as ScheduleEntry['kind'] })}
      />
      {entry.kind === 'weekly' && (
        <Select
          label={words('schedule_day')}
          value={entry.day}
          options={DAYS.map((value) => ({ value, label: dayName(value) }))}
          onChange={({ currentTarget }) => onChange({ ...entry, day: currentTarget.value })}
        />
      )}
      {(entry.kind === 'daily' || entry.kind === 'weekly') && (
        <TextField
          label={words('schedule_time')}
          type="time"
          required
          value={entry.time}
          problem={problem}
          onText={(time) => onChange({ ...entry, time })}
        />
      )}
      {entry.kind === 'own' && (
        <TextField
          label={words('schedule_cron')}
          hint={words('schedule_cron_hint')}
          required
          maxLength={200}
          autocomplete="off"
          spellcheck={false}
          value={entry.cron}
          problem={problem}
          onText={(cron) => onChange({ ...entry, cron })}
        />
      )}
    </>
  )
}

const confirmSchedule = (nextAt: string | null): void =>
  toast(nextAt === null ? words('saved') : words('schedule_saved', formatDateTime(nextAt)))

function ChangeSchedule({ state, onClose, onDone }: DialogProps) {
  const [entry, setEntry] = useState(entryOf(state.schedule))
  return (
    <FormDialog
      title={words('schedule_title')}
      {...(state.paused ? { text: words('schedule_paused') } : {})}
      action={words('save')}
      asksPassword
      onClose={onClose}
      run={async (current_password) => {
        const schedule = cronOf(entry)
        const { next_at } = await bridge.call('admin.set_backup_schedule', { schedule, current_password })
        confirmSchedule(next_at)
        await onDone()
      }}
    >
      {(problems) => <ScheduleFields entry={entry} problem={problems.schedule} onChange={setEntry} />}
    </FormDialog>
  )
}

const ResumeSchedule = ({ state, onClose, onDone }: DialogProps) => (
  <FormDialog
    title={words('resume_title')}
    text={words('resume_text', state.place ?? '')}
    action={words('resume_schedule')}
    asksPassword
    onClose={onClose}
    run={async (current_password) => {
      const { next_at } = await bridge.call('admin.resume_backup_schedule', { current_password })
      confirmSchedule(next_at)
      await onDone()
    }}
  />
)

const rules = ['last', 'daily', 'weekly', 'monthly'] as const

function ChangeRetention({ state, onClose, onDone }: DialogProps) {
  const [keep, setKeep] = useState<Record<string, string>>(() =>
    Object.fromEntries(rules.map((rule) => [rule, String(state.keep[rule])])),
  )
  const countOf = (rule: (typeof rules)[number]): number => (/^\d{1,5}$/.test(keep[rule]!) ? Number(keep[rule]) : NaN)
  const isSound = (rule: (typeof rules)[number]): boolean => countOf(rule) <= 10_000
  return (
    <FormDialog
      title={words('retention_title')}
      text={words('retention_text')}
      action={words('save')}
      ready={rules.every(isSound)}
      asksPassword
      onClose={onClose}
      run={async (current_password) => {
        const [last, daily, weekly, monthly] = rules.map(countOf) as [number, number, number, number]
        await bridge.call('admin.set_backup_retention', { last, daily, weekly, monthly, current_password })
        toast(words('saved'))
        await onDone()
      }}
    >
      {() =>
        rules.map((rule, index) => {
          const by = fixedBy(state, `backup.keep_${rule}`)
          return (
            <TextField
              key={rule}
              label={words(`keep_${rule}`)}
              hint={by === undefined ? undefined : words('fixed_by', by)}
              inputMode="numeric"
              autocomplete="off"
              required
              maxLength={5}
              disabled={by !== undefined}
              data-first={index === 0 || undefined}
              value={keep[rule]}
              problem={isSound(rule) ? undefined : words('keep_rule')}
              onText={(text) => setKeep({ ...keep, [rule]: text.trim() })}
            />
          )
        })
      }
    </FormDialog>
  )
}

const dialogs = { schedule: ChangeSchedule, resume: ResumeSchedule, retention: ChangeRetention } as const

/** Buttons that change when backups are made and how long they are kept. */
export function BackupSettings({ state, onDone }: { state: State; onDone: () => Promise<void> }) {
  const [open, setOpen] = useState<keyof typeof dialogs | undefined>(undefined)
  const buttons = useRef<HTMLDivElement>(null)
  // The button that opened the dialog may be gone when the dialog closes.
  useLayoutEffect(
    () =>
      open === undefined
        ? undefined
        : () => void (document.activeElement === document.body && buttons.current?.querySelector('button')?.focus()),
    [open],
  )
  const Open = open && dialogs[open]
  const canSchedule = state.place !== null && fixedBy(state, 'backup.schedule') === undefined
  const canRetain = rules.some((rule) => fixedBy(state, `backup.keep_${rule}`) === undefined)
  return (
    <div class="action-row" ref={buttons}>
      {canSchedule && <Button onClick={() => setOpen('schedule')}>{words('change_schedule')}</Button>}
      {canRetain && <Button onClick={() => setOpen('retention')}>{words('change_retention')}</Button>}
      {state.paused && <Button onClick={() => setOpen('resume')}>{words('resume_schedule')}</Button>}
      {Open && <Open state={state} onClose={() => setOpen(undefined)} onDone={onDone} />}
    </div>
  )
}
