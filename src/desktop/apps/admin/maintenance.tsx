import { CircleCheck, Wrench } from 'lucide'
import { useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { Select, TextField } from '../../kit/field.tsx'
import { formatDateTime } from '../../kit/formats.ts'
import { Icon } from '../../kit/icon.tsx'
import { useTask } from '../../kit/loaded.ts'
import { toast } from '../../kit/toast.tsx'
import type { AnswerOf } from '../../wire/actions.ts'
import { Shown } from './parts.tsx'
import { said } from './said.ts'
import { useShown } from './shown.ts'
import { words } from './words.ts'

type State = AnswerOf<'admin.maintenance'>

const MESSAGE_LENGTH = 500

function stateText({ maintenance, read_only, until }: State): string {
  if (!maintenance) return words('maintenance_off')
  const what = words(read_only ? 'maintenance_read_only' : 'maintenance_on')
  return until === null ? what : `${what} ${words('ends_at', formatDateTime(until))}`
}

/** A moment as the field for one has it, in the zone of the browser. */
function localMoment(iso: string | null): string {
  if (iso === null) return ''
  const moment = new Date(iso)
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

function Declare({ state, onDone }: { state: State; onDone: () => Promise<void> }) {
  const [fields, setFields] = useState({
    kind: state.read_only ? 'read_only' : 'closed',
    message: state.message,
    until: localMoment(state.until),
  })
  const isReadOnly = fields.kind === 'read_only'
  // Whoever closes a service that was open ends every session, the own one too.
  const closes = !isReadOnly && (!state.maintenance || state.read_only)
  const task = useTask(async () => {
    const isSure = await confirm({
      title: words(isReadOnly ? 'read_only_title' : 'close_title'),
      text: words(isReadOnly ? 'read_only_text' : closes ? 'close_text' : 'still_closed_text'),
      action: words(state.maintenance ? 'change' : 'begin'),
      danger: true,
    })
    if (!isSure) return
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
        onInput={({ currentTarget }) => setFields({ ...fields, message: currentTarget.value })}
      />
      <TextField
        label={words('until_when')}
        hint={words('until_hint')}
        type="datetime-local"
        value={fields.until}
        onInput={({ currentTarget }) => setFields({ ...fields, until: currentTarget.value })}
      />
      {task.trouble !== undefined && (
        <p class="flaw" role="alert">
          {said(task.trouble)}
        </p>
      )}
      <div class="actions">
        <Button kind={state.maintenance ? 'plain' : 'danger'} type="submit" busy={task.busy}>
          {words(state.maintenance ? 'change' : 'begin')}
        </Button>
      </div>
    </form>
  )
}

/** Whether the service is under maintenance, and the switch for it. */
export function Maintenance() {
  const shown = useShown(() => bridge.call('admin.maintenance', {}), { every: 15_000 })
  const end = useTask(async () => {
    await bridge.call('admin.end_maintenance', {})
    toast(words('maintenance_ended'))
    await shown.reload()
  })
  return (
    <Shown of={shown}>
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
            {end.trouble !== undefined && <p class="flaw">{said(end.trouble)}</p>}
          </section>
          <Declare key={JSON.stringify(state)} state={state} onDone={shown.reload} />
        </>
      )}
    </Shown>
  )
}
