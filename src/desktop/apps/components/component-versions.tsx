import { useEffect, useState } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { formatDateTime } from '../../kit/formats.ts'
import { Loading } from '../../kit/empty-state.tsx'
import { describeError } from '../../kit/api-error.ts'
import { DiffView } from './diff-view.tsx'
import type { Draft } from './drafts.ts'
import { activate } from './component-status.tsx'
import { codeOf, draft, openComponent, write, type Version } from './open-component.ts'
import { timeOf } from './times.ts'
import { words } from './words.ts'

type Stored = Awaited<ReturnType<typeof codeOf>>

async function copyToEditor({ component_type, code, metadata }: Stored): Promise<void> {
  const question = { title: words('replace_title'), text: words('replace_text') }
  const isConfirmed = !draft.peek() || (await confirm({ ...question, action: words('replace'), danger: true }))
  if (isConfirmed) write({ kind: component_type, code, metadata: { ...metadata } })
}

function VersionDetails({ current, version }: { current: Draft; version: Version }) {
  const [stored, setStored] = useState<Stored | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  useEffect(() => void codeOf(current.name, version.version).then(setStored, setError), [version.version])
  if (error !== undefined) return <p class="problem">{describeError(error)}</p>
  if (!stored) return <Loading />
  return (
    <div class="version-open">
      <div class="actions">
        {!version.is_active && (
          <Button onClick={() => void activate(current.name, version.version)}>{words('activate')}</Button>
        )}
        {stored.code !== current.code && (
          <Button onClick={() => void copyToEditor(stored)}>{words('copy_to_editor')}</Button>
        )}
      </div>
      <DiffView label={words('difference', version.version)} before={stored.code} after={current.code} />
    </div>
  )
}

/** The history of a component; older versions can be restored. */
export function ComponentVersions({ current }: { current: Draft }) {
  const [shown, setShown] = useState<number | undefined>(undefined)
  const versions = openComponent.value?.versions
  if (!versions) return <Loading />
  return (
    <div class="page versions">
      {versions.length === 0 && <p class="soft">{words('no_versions')}</p>}
      <ul>
        {versions.map((version) => {
          const isShown = shown === version.version
          return (
            <li key={version.version}>
              <button
                type="button"
                aria-expanded={isShown}
                onClick={() => setShown(isShown ? undefined : version.version)}
              >
                <strong>{words('version', version.version)}</strong>
                <span>{formatDateTime(timeOf(version.updated_at))}</span>
                {version.is_active && <em>{words('is_active')}</em>}
              </button>
              {isShown && <VersionDetails current={current} version={version} />}
            </li>
          )
        })}
      </ul>
    </div>
  )
}
