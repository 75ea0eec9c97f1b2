import { CircleCheck, Wrench } from 'lucide'
import { useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { Problem, Select, TextField } from '../../kit/field.tsx'
import { formatDateTime } from '../../kit/formats.ts'
import { Icon } from '../../kit/icon.tsx'
import { useMutation } from '../../kit/query.ts'
import { toast } from '../../kit/toast.tsx'
import type { AnswerOf } from '../../wire/actions.ts'
import { QueryResult } from './controls.tsx'
import { describeAdminError } from './error-texts.ts'
import { useLiveQuery } from './live-query.ts'
import { words } from './words.ts'

type State = AnswerOf<'admin.maintenance'>

const MESSAGE_LENGTH = 500

function stateText({ maintenance, read_only, until }: State): string {
  if (!maintenance) return words('maintenance_off')
  const what = words(read_only ? 'maintenance_read_only' : 'maintenance_on')
  return until === null ? what : `${what} ${words('ends_at', formatDateTime(until))}`
}

/** An ISO time as the value of a `datetime-local` input, in the browser's time zone. */
function toLocalInput(iso: string | null): string {
  if (iso === null) return ''
  const date = new Date(iso)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

function MaintenanceForm({ state, onDone }: { state: State; onDone: () => Promise<void> }) {
  const [fields, setFields] = useState({
    kind: state.read_only ? 'read_only' : 'closed',
    message: state.message,
    until: toLocalInput(state.until),
  })
  const isReadOnly = fields.kind === 'read_only'
  // Closing an open server ends all sessions, including this one.
  const endsSessions = !isReadOnly && (!state.maintenance || state.read_only)
  const task = useMutation(async () => {
    const isConfirmed = await confirm({
      title: words(isReadOnly ? 'read_only_title' : 'close_title'),
      text: words(isReadOnly ? 'read_only_text' : endsSessions ? 'close_text' : 'still_closed_text'),
      action: words(state.maintenance ? 'change' : 'begin'),
      danger: true,
    })
    if (!isConfirmed) return
    await bridge.call('admin.begin_maintenance', {
      read_only: isReadOnly,
      message: fields.message.trim(),
      ...(fields.until === '' ? {} : { until: new Date(fields.until).toISOString() }),
    })
    toast(words('maintenance_begun'))
    await onDone()
  })
  return (
    <form class="form" onSubmit={task.start}>
      <h3>{words(state.maintenance ? 'change_maintenance' : 'begin_maintenance')}</h3>
      <Select
        label={words('kind')}
        value={fields.kind}
        options={(['closed', 'read_only'] as const).map((value) => ({ value, label: words(`kind_${value}`) }))}
        onChange={({ currentTarget }) => setFields({ ...fields, kind: currentTarget.value })}
      />
      <TextField
        label={words('message')}
        hint={words('message_hint')}
        value={fields.message}
        maxLength={MESSAGE_LENGTH}
        onText={(value) => setFields({ ...fields, message: value })}
      />
      <TextField
        label={words('until_when')}
        hint={words('until_hint')}
        type="datetime-local"
        value={fields.until}
        onText={(value) => setFields({ ...fields, until: value })}
      />
      {task.error !== undefined && <Problem>{describeAdminError(task.error)}</Problem>}
      <div class="actions">
        <Button kind={state.maintenance ? 'plain' : 'danger'} type="submit" busy={task.busy}>
          {words(state.maintenance ? 'change' : 'begin')}
        </Button>
      </div>
    </form>
  )
}

/** The maintenance mode and its switch. */
export function Maintenance() {
  const shown = useLiveQuery(() => bridge.call('admin.maintenance', {}), { interval: 15_000 })
  const end = useMutation(async () => {
    await bridge.call('admin.end_maintenance', {})
    toast(words('maintenance_ended'))
    await shown.reload()
  })
  return (
    <QueryResult of={shown}>
      {(state) => (
        <>
          <section class={`standing ${state.maintenance ? 'warn' : 'good'}`}>
            <p role="status">
              <Icon of={state.maintenance ? Wrench : CircleCheck} size={22} />
              <strong>{stateText(state)}</strong>
            </p>
            {state.message && <blockquote>{state.message}</blockquote>}
            {state.maintenance && (
              <div class="action-row">
                <Button kind="main" busy={end.busy} onClick={end.start}>
                  {words('end_maintenance')}
                </Button>
              </div>
            )}
            {end.error !== undefined && <p class="problem">{describeAdminError(end.error)}</p>}
          </section>
          <MaintenanceForm key={JSON.stringify(state)} state={state} onDone={shown.reload} />
        </>
      )}
    </QueryResult>
  )
}
