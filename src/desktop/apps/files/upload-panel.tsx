import { printable } from '../../../base/text.ts'
import { CircleCheck, RotateCw, TriangleAlert, X } from 'lucide'
import { useState } from 'preact/hooks'
import { Button, IconButton } from '../../kit/button.tsx'
import { formatSize } from '../../kit/formats.ts'
import { Icon } from '../../kit/icon.tsx'
import { describeError } from '../../kit/api-error.ts'
import { common } from '../../kit/words.ts'
import { cancel, cancelAll, changes, retry, retryAll, sizeOf, clearFinished, uploads, type Upload } from './uploads.ts'
import { words } from './words.ts'

/** Rows shown; the rest is counted. */
const MAX_LINES = 60

const rank: Record<Upload['state'], number> = { failed: 0, asking: 1, sending: 2, waiting: 3, done: 4, skipped: 5 }

function Line({ upload }: { upload: Upload }) {
  // Uploads are mutated in place: subscribe to their changes.
  void changes.value
  const { name, state, sent, error } = upload
  const isRunning = state === 'sending' || state === 'waiting' || state === 'asking'
  return (
    <li>
      {state === 'done' && <Icon of={CircleCheck} size={16} />}
      {state === 'failed' && <Icon of={TriangleAlert} size={16} />}
      <span class="name">{printable(name)}</span>
      {state === 'failed' && <span class="bad">{describeError(error)}</span>}
      {state === 'skipped' && <span class="soft">{words('skipped')}</span>}
      {state === 'waiting' && <span class="soft">{words('waiting')}</span>}
      {state === 'sending' && sizeOf(upload) > 0 && (
        <progress aria-label={printable(name)} max={sizeOf(upload)} value={sent}>
          {formatSize(sent)}
        </progress>
      )}
      {state === 'failed' && (
        <IconButton
          icon={RotateCw}
          size={16}
          label={words('retry_one', printable(name))}
          onClick={() => retry(upload)}
        />
      )}
      {(isRunning || state === 'failed') && (
        <IconButton icon={X} size={16} label={words('cancel_one', printable(name))} onClick={() => cancel(upload)} />
      )}
    </li>
  )
}

/** Progress of uploads; nothing if there are none. */
export function UploadPanel() {
  const [isOpen, setOpen] = useState(true)
  void changes.value
  if (uploads.length === 0) return null
  const count = (state: Upload['state']) => uploads.filter((upload) => upload.state === state).length
  const [done, skipped, failed] = [count('done'), count('skipped'), count('failed')]
  const isFinished = done + skipped + failed === uploads.length
  const counted = uploads.filter(({ state, file }) => state !== 'skipped' && file)
  const total = counted.reduce((sum, upload) => sum + sizeOf(upload), 0)
  const sent = counted.reduce((sum, upload) => sum + upload.sent, 0)
  const shown = uploads.toSorted((a, b) => rank[a.state] - rank[b.state]).slice(0, MAX_LINES)
  return (
    <section class="uploads" aria-label={words('uploads')}>
      <header>
        <strong role="status">
          {!isFinished
            ? words('uploading', done + 1, uploads.length - skipped)
            : failed > 0
              ? words('uploads_failed', failed)
              : words('uploaded', done)}
        </strong>
        <span class="space" />
        {failed > 1 && <Button onClick={retryAll}>{common('retry')}</Button>}
        {!isFinished && <Button onClick={cancelAll}>{words('cancel_all')}</Button>}
        <Button kind="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {words(isOpen ? 'less' : 'details')}
        </Button>
        {isFinished && <IconButton icon={X} label={common('dismiss')} onClick={clearFinished} />}
      </header>
      {!isFinished && total > 0 && <progress class="whole" aria-label={words('uploads')} max={total} value={sent} />}
      {isOpen && (
        <ul>
          {shown.map((upload) => (
            <Line key={upload.id} upload={upload} />
          ))}
          {uploads.length > MAX_LINES && <li class="soft">{words('more_uploads', uploads.length - MAX_LINES)}</li>}
        </ul>
      )}
    </section>
  )
}
