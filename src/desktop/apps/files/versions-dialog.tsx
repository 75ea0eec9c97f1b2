import { printable } from '../../../base/text.ts'
import { useEffect, useState } from 'preact/hooks'
import { Download, RotateCcw } from 'lucide'
import { bridge } from '../../kit/bridge.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { formatDateTime, formatSize } from '../../kit/formats.ts'
import { Loading } from '../../kit/empty-state.tsx'
import { toast } from '../../kit/toast.tsx'
import { describeError } from '../../kit/api-error.ts'
import { Problem } from '../../kit/field.tsx'
import type { AnswerOf } from '../../wire/actions.ts'
import { refresh } from './folder.ts'
import { kindOf } from './file-kinds.ts'
import { nameOf } from './paths.ts'
import { words } from './words.ts'

type Version = AnswerOf<'versions.list'>['versions'][number]

/** Largest text shown here, bytes. */
const TEXT_MAX = 200_000

function VersionText({ path, version }: { path: string; version: Version }) {
  const [text, setText] = useState<string | undefined>(undefined)
  useEffect(() => {
    bridge
      .call('versions.download', { path, version_id: version.version_id })
      .then((bytes) => bytes.text())
      .then(setText, (error: unknown) => setText(describeError(error)))
  }, [version.version_id])
  return text === undefined ? <Loading /> : <pre tabIndex={0}>{text}</pre>
}

function Line({ path, version, onRestore }: { path: string; version: Version; onRestore: () => void }) {
  const [isShown, setShown] = useState(false)
  const { version_id, size, created_at, current } = version
  const kind = kindOf({ name: nameOf(path), type: 'file' })
  const isText = (kind === 'text' || kind === 'markdown') && size <= TEXT_MAX
  const when = formatDateTime(created_at)
  return (
    <li>
      <span class="when">
        <strong>{when}</strong>
        <small>
          {formatSize(size)}
          {current && ` · ${words('present')}`}
        </small>
      </span>
      {!current && isText && (
        <Button kind="quiet" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
          {words(isShown ? 'hide' : 'show')}
        </Button>
      )}
      {!current && (
        <IconButton
          icon={Download}
          label={words('download_of', when)}
          onClick={() => bridge.download('versions.download', { path, version_id })}
        />
      )}
      {!current && <IconButton icon={RotateCcw} label={words('restore_of', when)} onClick={onRestore} />}
      {isShown && <VersionText path={path} version={version} />}
    </li>
  )
}

/** Earlier versions of a file, to view or restore. */
export function VersionsDialog({ path, onClose }: { path: string; onClose: () => void }) {
  const [versions, setVersions] = useState<readonly Version[] | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)

  function load(): void {
    bridge.call('versions.list', { path }).then(({ versions: all }) => {
      setVersions(all)
      setError(undefined)
    }, setError)
  }
  useEffect(load, [path])

  async function restore({ version_id }: Version): Promise<void> {
    const present = versions?.find(({ current }) => current)
    const terms = present ? { if_sha256: present.sha256 } : {}
    try {
      await bridge.call('versions.restore', { path, version_id, ...terms })
      toast(words('version_restored'))
      refresh()
      onClose()
    } catch (error) {
      load()
      setError(error)
    }
  }

  return (
    <Dialog title={words('versions_of', printable(nameOf(path)))} onClose={onClose}>
      {error !== undefined && <Problem>{describeError(error)}</Problem>}
      {versions === undefined && error === undefined && <Loading />}
      <ul class="versions">
        {versions?.map((version) => (
          <Line key={version.version_id} path={path} version={version} onRestore={() => void restore(version)} />
        ))}
      </ul>
      {versions && versions.length < 2 && <p class="soft">{words('no_versions')}</p>}
    </Dialog>
  )
}
