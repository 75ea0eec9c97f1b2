import { TriangleAlert } from 'lucide'
import { useState } from 'preact/hooks'
import { Banner } from '../../kit/banner.tsx'
import { bridge } from '../../kit/bridge.ts'
import { Button } from '../../kit/button.tsx'
import { Icon } from '../../kit/icon.tsx'
import { toast, toastError } from '../../kit/toast.tsx'
import { describeError } from '../../kit/api-error.ts'
import { DiffView } from './diff-view.tsx'
import { discardDraft } from './drafts.ts'
import { describeFailure } from './stop-reason.ts'
import { draft, isConflict, refreshOpen, openComponent, saveAnyway, saveError } from './open-component.ts'
import { lineOf, refresh } from './store.ts'
import { words } from './words.ts'

/** Makes a version the active one. */
export async function activate(component_id: string, version: number): Promise<void> {
  try {
    await bridge.call('desktopComponents.activate', { component_id, version })
    toast(words('activated', version))
  } catch (error) {
    toastError(error)
  }
  await Promise.all([refresh(), refreshOpen()])
}

function Conflict() {
  const [isShown, setShown] = useState(false)
  const mine = draft.value
  const theirs = openComponent.value?.present
  if (!isConflict.value || !mine) return null
  return (
    <div class="conflict" role="alert">
      <p>{words('conflict')}</p>
      <Button onClick={saveAnyway}>{words('keep_mine')}</Button>
      {theirs && <Button onClick={() => discardDraft(mine.name)}>{words('take_theirs')}</Button>}
      {theirs && (
        <Button kind="quiet" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
          {words('show_theirs')}
        </Button>
      )}
      {theirs && isShown && <DiffView label={words('difference_theirs')} before={theirs.code} after={mine.code} />}
    </div>
  )
}

/** Notices above the editor: stopped, not active, or changed by someone else. */
export function ComponentStatus({ name }: { name: string }) {
  const line = lineOf(name)
  const listed = line?.listed
  return (
    <>
      <Conflict />
      {saveError.value !== undefined && (
        <div class="banner bad" role="alert">
          {describeError(saveError.value)}
        </div>
      )}
      {line?.stopped && (
        <div class="banner bad" role="alert">
          <Icon of={TriangleAlert} />
          <span>{words('stopped', describeFailure(line.stopped.failure))}</span>
          <Button onClick={() => bridge.restartComponent(name)}>{words('run_again')}</Button>
        </div>
      )}
      {listed?.active === null && (
        <Banner>
          <span>{words('not_active')}</span>
          <Button onClick={() => void activate(name, listed.newest)}>{words('enable')}</Button>
        </Banner>
      )}
      {listed && listed.active !== null && listed.active !== listed.newest && (
        <Banner>{words('older_active', listed.active, listed.newest)}</Banner>
      )}
    </>
  )
}
