import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../../kit/api-error.ts'
import { bridge } from '../../kit/bridge.ts'
import { Button } from '../../kit/button.tsx'
import { Problem, TextField } from '../../kit/field.tsx'
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

/** What the job does, or how it ended. */
const JobStatus = ({ job }: { job: Job }) =>
  isRunning(job) ? (
    <strong>{words(job.state === 'stopping' ? 'job_stopping' : `job_${job.job}_running`)}</strong>
  ) : (
    <>
      {words(`job_${job.job}`)}{' '}
      <Badge tone={tones[job.state as keyof typeof tones]}>{words(`job_${job.state as keyof typeof tones}`)}</Badge>
    </>
  )

/** Keeps the focus on the page: the status gets it when a part that has it disappears. */
function useFocusFallback(focusStatus: () => void) {
  const part = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = part.current!
    return () => element.contains(document.activeElement) && focusStatus()
  }, [])
  return part
}

interface PartProps {
  focusStatus: () => void
}

function RunningJob({ job, onStop, focusStatus }: PartProps & { job: Job; onStop: () => Promise<void> }) {
  const part = useFocusFallback(focusStatus)
  const stop = useMutation(async () => {
    await bridge.call('admin.stop_backup_job', {})
    await onStop()
  })
  const { done_bytes: done, total_bytes: total } = job
  return (
    <div ref={part}>
      <progress
        aria-label={words('job_progress')}
        {...(total === null ? {} : { value: Math.min(done, total), max: total })}
      />
      <p class="soft">
        {words('job_started', job.by, formatDateTime(job.started_at))}
        {total !== null && ` ${words('used_of', formatSize(Math.min(done, total)), formatSize(total))}`}
      </p>
      <div class="action-row">
        <Button
          busy={stop.busy}
          disabled={job.state === 'stopping'}
          onClick={() => {
            focusStatus()
            stop.start()
          }}
        >
          {words('job_stop')}
        </Button>
      </div>
      {stop.error !== undefined && <Problem>{describeAdminError(stop.error)}</Problem>}
    </div>
  )
}

const EndedJob = ({ job }: { job: Job }) => (
  <>
    <p class="soft">{words('job_started', job.by, formatDateTime(job.started_at))}</p>
    {job.messages.length > 0 && (
      <ul class="commands" lang="en">
        {job.messages.map((message, index) => (
          <li key={index}>{message}</li>
        ))}
      </ul>
    )}
  </>
)

interface Wanted {
  job: 'create' | 'verify' | 'drill'
  passphrase?: string
}

function StartButtons({
  onStart,
  onTest,
  focusStatus,
}: PartProps & { onStart: (wanted: Wanted) => Promise<void>; onTest: () => void }) {
  const part = useFocusFallback(focusStatus)
  const create = useMutation(() => onStart({ job: 'create' }))
  const verify = useMutation(() => onStart({ job: 'verify' }))
  const error = create.error ?? verify.error
  const begin = (job: typeof create) => () => {
    focusStatus()
    job.start()
  }
  return (
    <div ref={part}>
      <div class="action-row">
        <Button kind="main" busy={create.busy} onClick={begin(create)}>
          {words('create_backup')}
        </Button>
        <Button busy={verify.busy} onClick={begin(verify)}>
          {words('verify_backups')}
        </Button>
        <Button onClick={onTest}>{words('test_restore')}</Button>
      </div>
      {error !== undefined && <Problem>{describeAdminError(error)}</Problem>}
    </div>
  )
}

function TestRestore({ onStart, onClose }: { onStart: (passphrase: string) => Promise<void>; onClose: () => void }) {
  const [passphrase, setPassphrase] = useState('')
  return (
    <FormDialog
      title={words('test_restore')}
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
          autocomplete="new-password"
          data-first
          onText={setPassphrase}
        />
      )}
    </FormDialog>
  )
}

/** Starts jobs on the backups, and shows the running or last one. */
export function BackupJobs(props: { hasPlace: boolean; onEnd: () => Promise<void> }) {
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
  const status = useRef<HTMLParagraphElement>(null)
  const focusStatus = () => status.current?.focus()
  // The button that opened the dialog may be gone when the dialog closes.
  useLayoutEffect(
    () => (isTesting ? () => void (document.activeElement === document.body && focusStatus()) : undefined),
    [isTesting],
  )
  const start = async (wanted: Wanted): Promise<void> => {
    try {
      await bridge.call('admin.start_backup_job', wanted)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'conflict') throw error
      void shown.reload()
      throw new ApiError({ code: error.code, message: words('job_conflict', error.message) })
    }
    wasRunning.current = true
    await shown.reload()
  }
  return (
    <>
      {shown.error !== undefined && <Problem>{describeAdminError(shown.error)}</Problem>}
      <section class={isRunning(job) ? 'standing warn' : ''}>
        <p role="status" tabIndex={-1} ref={status}>
          {job && <JobStatus job={job} />}
        </p>
        {job &&
          (isRunning(job) ? (
            <RunningJob job={job} onStop={shown.reload} focusStatus={focusStatus} />
          ) : (
            <EndedJob job={job} />
          ))}
      </section>
      {!isRunning(job) && props.hasPlace && (
        <StartButtons onStart={start} onTest={() => setTesting(true)} focusStatus={focusStatus} />
      )}
      {isTesting && (
        <TestRestore
          onClose={() => setTesting(false)}
          onStart={(passphrase) => start({ job: 'drill', ...(passphrase === '' ? {} : { passphrase }) })}
        />
      )}
    </>
  )
}
