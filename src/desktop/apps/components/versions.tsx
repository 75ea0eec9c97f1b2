import { useEffect, useState } from 'preact/hooks'
import { Button } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { formatDateTime } from '../../kit/formats.ts'
import { Loading } from '../../kit/states.tsx'
import { explain } from '../../kit/trouble.ts'
import { DifferenceView } from './difference-view.tsx'
import type { Draft } from './drafts.ts'
import { activate } from './notes.tsx'
import { codeOf, draft, present, write, type Version } from './opened.ts'
import { timeOf } from './times.ts'
import { words } from './words.ts'

type Stored = Awaited<ReturnType<typeof codeOf>>

async function takeOver({ component_type, code, metadata }: Stored): Promise<void> {
  const question = { title: words('replace_title'), text: words('replace_text') }
  const isSure = !draft.peek() || (await confirm({ ...question, action: words('replace'), danger: true }))
  if (isSure) write({ kind: component_type, code, metadata: { ...metadata } })
}

function Opened({ one, version }: { one: Draft; version: Version }) {
  const [stored, setStored] = useState<Stored | undefined>(undefined)
  const [trouble, setTrouble] = useState<unknown>(undefined)
  useEffect(() => void codeOf(one.name, version.version).then(setStored, setTrouble), [version.version])
  if (trouble !== undefined) return <p class="flaw">{explain(trouble)}</p>
  if (!stored) return <Loading />
  return (
    <div class="version-open">
      <div class="actions">
        {!version.is_active && (
          <Button onClick={() => void activate(one.name, version.version)}>{words('put_in_force')}</Button>
        )}
        {stored.code !== one.code && <Button onClick={() => void takeOver(stored)}>{words('take_over')}</Button>}
      </div>
      <DifferenceView label={words('difference', version.version)} before={stored.code} after={one.code} />
    </div>
  )
}

/** Every version that is kept: what became of it since, and the ways back. */
export function Versions({ one }: { one: Draft }) {
  const [shown, setShown] = useState<number | undefined>(undefined)
  const versions = present.value?.versions
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
                {version.is_active && <em>{words('is_in_force')}</em>}
              </button>
              {isShown && <Opened one={one} version={version} />}
            </li>
          )
        })}
      </ul>
    </div>
  )
}
