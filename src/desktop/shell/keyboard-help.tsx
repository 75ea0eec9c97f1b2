import { Dialog } from '../kit/dialog.tsx'
import { helpOpen } from './key-bindings.ts'
import { words } from './words.ts'

/** The list of shortcuts. */
export function KeyboardHelp() {
  const keys = [
    ['Ctrl K', words('key_launcher')],
    ['Ctrl Alt ← →', words('key_snap')],
    ['Ctrl Alt ↑ ↓', words('key_full')],
    ['Ctrl Alt N', words('key_next')],
    ['Ctrl Alt W', words('key_close')],
    ['Ctrl Alt L', words('key_lock')],
    ['F6', words('key_dock')],
    ['Ctrl Alt H', words('key_help')],
  ]
  return (
    <Dialog title={words('keyboard')} onClose={() => void (helpOpen.value = false)}>
      <dl class="keys">
        {keys.map(([key = '', what]) => (
          <div key={key}>
            <dt>
              {key.split(' ').map((part) => (
                <kbd key={part}>{part}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
