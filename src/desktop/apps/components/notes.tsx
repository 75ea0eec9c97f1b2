import { TriangleAlert } from 'lucide'
import { useState } from 'preact/hooks'
import { Banner } from '../../kit/banner.tsx'
import { bridge } from '../../kit/bridge.ts'
import { Button } from '../../kit/button.tsx'
import { Icon } from '../../kit/icon.tsx'
import { toast, toastTrouble } from '../../kit/toast.tsx'
import { explain } from '../../kit/trouble.ts'
import { DifferenceView } from './difference-view.tsx'
import { forget } from './drafts.ts'
import { reasonOf } from './failure.ts'
import { draft, isConflict, look, present, saveAnyway, saveTrouble } from './opened.ts'
import { lineOf, refresh } from './store.ts'
import { words } from './words.ts'

/** Puts a version in force in the place of another. */
export async function activate(component_id: string, version: number): Promise<void> {
  try {
    await bridge.call('desktopComponents.activate', { component_id, version })
    toast(words('now_in_force', version))
  } catch (error) {
    toastTrouble(error)
  }
  await Promise.all([refresh(), look()])
}

function Conflict() {
  const [isShown, setShown] = useState(false)
  const mine = draft.value
  const theirs = present.value?.present
  if (!isConflict.value || !mine) return null
  return (
    <div class="conflict" role="alert">
      <p>{words('conflict')}</p>
      <Button onClick={saveAnyway}>{words('keep_mine')}</Button>
      {theirs && <Button onClick={() => forget(mine.name)}>{words('take_theirs')}</Button>}
      {theirs && (
        <Button kind="quiet" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
          {words('show_theirs')}
        </Button>
      )}
      {theirs && isShown && (
        <DifferenceView label={words('difference_theirs')} before={theirs.code} after={mine.code} />
      )}
    </div>
  )
}

/** What there is to know before one goes on writing: that it was stopped, is not in force, or is another one elsewhere. */
export function Notes({ name }: { name: string }) {
  const line = lineOf(name)
  const listed = line?.listed
  return (
    <>
      <Conflict />
      {saveTrouble.value !== undefined && (
        <div class="banner bad" role="alert">
          {explain(saveTrouble.value)}
        </div>
      )}
      {line?.off && (
        <div class="banner bad" role="alert">
          <Icon of={TriangleAlert} />
          <span>{words('stopped', reasonOf(line.off.failure))}</span>
          <Button onClick={() => bridge.switchOn(name)}>{words('run_again')}</Button>
        </div>
      )}
      {listed?.active === null && (
        <Banner>
          <span>{words('not_in_force')}</span>
          <Button onClick={() => void activate(name, listed.newest)}>{words('switch_on')}</Button>
        </Banner>
      )}
      {listed && listed.active !== null && listed.active !== listed.newest && (
        <Banner>{words('older_in_force', listed.active, listed.newest)}</Banner>
      )}
    </>
  )
}
