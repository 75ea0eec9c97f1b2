import { useEffect, useRef, useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button } from '../../kit/button.tsx'
import { TextField } from '../../kit/field.tsx'
import { formatDateTime, formatSize } from '../../kit/formats.ts'
import { useMutation } from '../../kit/query.ts'
import type { AnswerOf } from '../../wire/actions.ts'
import { Badge } from './controls.tsx'
import { describeAdminError } from './error-texts.ts'
import { FormDialog } from './form-dialog.tsx'
import { useLiveQuery } from './live-query.ts'
import { words } from './words.ts'

type Job = NonNullable<AnswerOf<'admin.backup_job'>['job']>

const isRunning = (job: Job | null | undefined): boolean => job?.state === 'running' || job?.state === 'stopping'

const tones = { succeeded: 'good', warning: 'warn', failed: 'bad', stopped: 'plain', interrupted: 'bad' } as const

function RunningJob({ job, onStop }: { job: Job; onStop: () => Promise<void> }) {
  const stop = useMutation(async () => {
    await bridge.call('admin.stop_backup_job', {})
    await onStop()
  })
  const { done_bytes: done, total_bytes: total } = job
  return (
    <section class="standing warn">
      <p role="status">
        <strong>{words(job.state === 'stopping' ? 'job_stopping' : `job_${job.job}_running`)}</strong>
      </p>
      <progress
        aria-label={words('job_progress')}
        {...(total === null ? {} : { value: Math.min(done, total), max: total })}
      />
      <p class="soft">
        {words('job_started', job.by, formatDateTime(job.started_at))}
        {total !== null && ` ${words('used_of', formatSize(Math.min(done, total)), formatSize(total))}`}
      </p>
      <div class="action-row">
        <Button busy={stop.busy} disabled={job.state === 'stopping'} onClick={stop.start}>
          {words('job_stop')}
        </Button>
      </div>
      {stop.error !== undefined && <p class="problem">{describeAdminError(stop.error)}</p>}
    </section>
  )
}

const EndedJob = ({ job }: { job: Job }) => (
  <section>
    <p role="status">
      {words(`job_${job.job}`)}{' '}
      <Badge tone={tones[job.state as keyof typeof tones]}>{words(`job_${job.state as keyof typeof tones}`)}</Badge>{' '}
      <span class="soft">{words('job_started', job.by, formatDateTime(job.started_at))}</span>
    </p>
    {job.messages.length > 0 && (
      <ul class="commands" lang="en">
        {job.messages.map((message) => (
          <li key={message}>{message}</li>
        ))}
      </ul>
    )}
  </section>
)

function TestRestore({ onStart, onClose }: { onStart: (passphrase: string) => Promise<void>; onClose: () => void }) {
  const [passphrase, setPassphrase] = useState('')
  return (
    <FormDialog
      title={words('job_drill')}
      text={words('drill_text')}
      action={words('begin')}
      onClose={onClose}
      run={() => onStart(passphrase)}
    >
      {() => (
        <TextField
          label={words('passphrase')}
          hint={words('passphrase_hint')}
          type="password"
          value={passphrase}
          maxLength={1024}
          autocomplete="off"
          data-first
          onText={setPassphrase}
        />
      )}
    </FormDialog>
  )
}

/** Starts jobs on the backups, and shows the running or last one. */
export function BackupJobs(props: { hasPlace: boolean; hasBackups: boolean; onEnd: () => Promise<void> }) {
  const [isBusy, setBusy] = useState(false)
  const [isTesting, setTesting] = useState(false)
  const shown = useLiveQuery(() => bridge.call('admin.backup_job', {}), { interval: isBusy ? 1_000 : 10_000 })
  const job = shown.value?.job
  const wasRunning = useRef(false)
  useEffect(() => {
    const now = isRunning(job)
    if (wasRunning.current && !now) void props.onEnd()
    wasRunning.current = now
    setBusy(now)
  }, [job])
  const start = async (wanted: { job: 'create' | 'verify' | 'drill'; passphrase?: string }): Promise<void> => {
    await bridge.call('admin.start_backup_job', wanted)
    wasRunning.current = true
    await shown.reload()
  }
  const create = useMutation(() => start({ job: 'create' }))
  const verify = useMutation(() => start({ job: 'verify' }))
  const error = create.error ?? verify.error
  return (
    <>
      {job && (isRunning(job) ? <RunningJob job={job} onStop={shown.reload} /> : <EndedJob job={job} />)}
      {!isRunning(job) && props.hasPlace && (
        <div class="action-row">
          <Button kind="main" busy={create.busy} onClick={create.start}>
            {words('create_backup')}
          </Button>
          {props.hasBackups && (
            <>
              <Button busy={verify.busy} onClick={verify.start}>
                {words('job_verify')}
              </Button>
              <Button onClick={() => setTesting(true)}>{words('job_drill')}</Button>
            </>
          )}
        </div>
      )}
      {error !== undefined && <p class="problem">{describeAdminError(error)}</p>}
      {isTesting && (
        <TestRestore
          onClose={() => setTesting(false)}
          onStart={(passphrase) => start({ job: 'drill', ...(passphrase === '' ? {} : { passphrase }) })}
        />
      )}
    </>
  )
}
