import { TriangleAlert } from 'lucide'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../kit/button.tsx'
import { Icon } from '../kit/icon.tsx'
import { AppIcon } from './app-icon.tsx'
import { appBySlug, isOfPackage } from './apps.ts'
import { adopt, placeOf, sparePlace, tellPath } from './frames.ts'
import { change, type AppWindow } from './windows.ts'
import { words } from './words.ts'

/** What frames may do: run scripts without an origin of their own, so that nothing of the desktop is within their reach. */
const SANDBOX = 'allow-scripts allow-forms allow-downloads'

/** The app of a window in its frame, hidden until it has something to show; the spare window has no app yet. */
export function Frame({ window: one, title }: { window: AppWindow; title: string }) {
  const { id, slug, path, asked } = one
  const element = useRef<HTMLIFrameElement>(null)
  const [state, setState] = useState<'loading' | 'ready' | 'stopped'>('loading')
  const [place] = useState(() => (slug === '' ? sparePlace() : placeOf(slug)))
  const app = appBySlug(slug)

  // In the moment in which the frame comes to be: its page says only once that it is ready, and may be there before the next frame
  // of a busy desktop, or of one that nobody looks at, is drawn.
  useLayoutEffect(() => {
    const frame = element.current
    if (!frame || !place) return
    const onReady = () => setState((now) => (now === 'stopped' ? now : 'ready'))
    return adopt(frame, { window: id, slug, address: place.address, onReady, onFlood: () => setState('stopped') })
  }, [state === 'stopped'])

  const isFirst = useRef(true)
  useEffect(() => {
    if (!isFirst.current) tellPath(id, path)
    isFirst.current = false
  }, [path, asked])

  if ((!app && slug !== '') || !place) return <p class="frame-note">{words('app_gone')}</p>
  if (state === 'stopped') {
    return (
      <div class="frame-note" role="alert">
        <Icon of={TriangleAlert} size={32} />
        <p>{words('stopped')}</p>
        <Button onClick={() => change(id, { round: one.round + 1 })}>{words('reload')}</Button>
      </div>
    )
  }
  return (
    <div class="frame">
      {state === 'loading' && (
        <div class="frame-note" aria-hidden="true">
          <AppIcon slug={slug} size={64} />
        </div>
      )}
      <iframe
        ref={element}
        title={title}
        data-app={slug}
        sandbox={app && !isOfPackage(app) ? `${SANDBOX} allow-popups` : SANDBOX}
        allow=""
        referrerpolicy="no-referrer"
        class={state === 'ready' ? '' : 'waiting'}
        src={place.src}
      />
    </div>
  )
}
