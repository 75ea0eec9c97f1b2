import { printable } from '../../../base/text.ts'
import { ArrowUp, Folder } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Loading } from '../../kit/empty-state.tsx'
import { describeError } from '../../kit/api-error.ts'
import { VirtualList } from '../../kit/virtual-list.tsx'
import { common } from '../../kit/words.ts'
import { folder } from './folder.ts'
import { transfer } from './operations.ts'
import { isWithin, join, nameOf, parentOf, takesFiles } from './paths.ts'
import { words } from './words.ts'

type State = { path: string; folders: string[] } | { error: unknown } | undefined

/** Selects a target folder: arrow keys move, Enter opens. */
export function FolderPicker({
  mode,
  paths,
  onClose,
}: {
  mode: 'move' | 'copy'
  paths: readonly string[]
  onClose: () => void
}) {
  const [path, setPath] = useState(folder.peek())
  const [state, setState] = useState<State>(undefined)
  const [chosen, setChosen] = useState<string | undefined>(undefined)

  useEffect(() => {
    let isGone = false
    setChosen(undefined)
    bridge.call('filesystem.list', { path }).then(
      ({ items }) => {
        const folders = items.filter(({ type }) => type === 'directory').map(({ name }) => name)
        if (!isGone) setState({ path, folders: folders.filter((name) => !paths.includes(join(path, name))) })
      },
      (error: unknown) => !isGone && setState({ error }),
    )
    return () => void (isGone = true)
  }, [path])

  const target = chosen === undefined ? path : join(path, chosen)
  const isAllowed = takesFiles(target) && !paths.some((one) => isWithin(target, one))
  const name = nameOf(target) || words('my_files')
  return (
    <Dialog title={words(mode === 'move' ? 'move_title' : 'copy_title', paths.length)} onClose={onClose}>
      <div class="picker-path">
        <IconButton
          icon={ArrowUp}
          label={words('up')}
          disabled={path === '/'}
          onClick={() => setPath(parentOf(path))}
        />
        <strong class="break">{path === '/' ? words('my_files') : path}</strong>
      </div>
      <div class="picker">
        {state === undefined ? (
          <Loading />
        ) : 'error' in state ? (
          <p class="problem">{describeError(state.error)}</p>
        ) : state.folders.length === 0 ? (
          <p class="soft">{words('no_folders')}</p>
        ) : (
          <VirtualList
            items={state.folders}
            rowHeight={40}
            keyOf={(one) => one}
            label={words('folders')}
            selected={chosen}
            onSelect={setChosen}
            onOpen={(one) => setPath(join(path, one))}
          >
            {(one) => (
              <span class="picker-line">
                <Icon of={Folder} /> <span>{printable(one)}</span>
              </span>
            )}
          </VirtualList>
        )}
      </div>
      <footer>
        <Button onClick={onClose}>{common('cancel')}</Button>
        {chosen !== undefined && <Button onClick={() => setPath(join(path, chosen))}>{words('go_in')}</Button>}
        <Button
          kind="main"
          disabled={!isAllowed}
          onClick={() => {
            onClose()
            void transfer(mode, paths, target)
          }}
        >
          {words(mode === 'move' ? 'move_here' : 'copy_here', printable(name))}
        </Button>
      </footer>
    </Dialog>
  )
}
