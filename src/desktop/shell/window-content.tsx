import { TriangleAlert } from 'lucide'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { makeBackoff } from '../../base/retry.ts'
import { Button } from '../kit/button.tsx'
import { Icon } from '../kit/icon.tsx'
import { AppIcon } from './app-icon.tsx'
import { appBySlug, isBuiltIn } from './apps.ts'
import { online } from './feed.ts'
import { registerFrame, sourceOf, prewarmedSource, sendToApp } from './frame-registry.ts'
import { discardPrewarmed, front, updateWindow, type AppWindow } from './windows.ts'
import { words } from './words.ts'

/** Frames may run scripts, but without `allow-same-origin` they have no access to the desktop. */
const SANDBOX = 'allow-scripts allow-forms allow-downloads'

/** Time until an app that has not rendered is reported as slow, ms. */
const LATE_AFTER = 10_000
/** Delays before retrying to load a page, ms. */
const RETRY = { first: 3_000, longest: 60_000 }

/** Retries loading an app: after a delay, and when the server is reachable again. */
function useAttempts(isLoading: boolean) {
  const [attempt, setAttempt] = useState(0)
  const [isLate, setLate] = useState(false)
  const [backoff] = useState(() => makeBackoff(RETRY))
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const retry = () => setAttempt((count) => count + 1)
  useEffect(() => {
    if (!isLoading) return
    const late = setTimeout(() => setLate(true), LATE_AFTER)
    return () => clearTimeout(late)
  }, [isLoading])
  const isOnline = online.value
  useEffect(() => {
    if (isLoading && isLate && isOnline) retry()
  }, [isOnline])
  useEffect(() => () => clearTimeout(timer.current), [])
  return {
    attempt,
    isLate: isLoading && (isLate || !isOnline),
    retry,
    onFailed: () => {
      setLate(true)
      clearTimeout(timer.current)
      timer.current = setTimeout(retry, backoff.next())
    },
    /** A page that answered is only slow: do not replace it. */
    onConnected: () => clearTimeout(timer.current),
  }
}

/** The frame of an app, hidden until it has rendered; the prewarmed window has no app yet. */
export function WindowContent({ window: one, title }: { window: AppWindow; title: string }) {
  const { id, slug, path, pathRequests } = one
  const element = useRef<HTMLIFrameElement>(null)
  const [state, setState] = useState<'loading' | 'ready' | 'stopped'>('loading')
  const [source] = useState(() => (slug === '' ? prewarmedSource() : sourceOf(slug)))
  const app = appBySlug(slug)
  const { attempt, isLate, retry, onFailed, onConnected } = useAttempts(state === 'loading' && slug !== '')

  // A layout effect: the page announces itself only once, possibly before the next paint of a busy or hidden desktop.
  useLayoutEffect(() => {
    const frame = element.current
    if (!frame || !source) return
    const onReady = () => setState((now) => (now === 'stopped' ? now : 'ready'))
    return registerFrame(frame, {
      window: id,
      slug,
      address: source.address,
      onReady,
      onFailed: () => (slug === '' ? discardPrewarmed(id) : onFailed()),
      onConnected,
      onRateExceeded: () => setState('stopped'),
    })
  }, [attempt, state === 'stopped'])

  // Focusing earlier could focus the browser's error page, which passes no keys to the desktop.
  useEffect(() => {
    const section = element.current?.closest('section')
    const focused = document.activeElement
    if (state === 'ready' && front.value?.id === id && (focused === document.body || focused === section))
      element.current?.focus()
  }, [state])

  const isFirst = useRef(true)
  useEffect(() => {
    if (!isFirst.current) sendToApp(id, { type: 'svc-path', path })
    isFirst.current = false
  }, [path, pathRequests])

  if ((!app && slug !== '') || !source) return <p class="frame-note">{words('app_gone')}</p>
  if (state === 'stopped') {
    return (
      <div class="frame-note" role="alert">
        <Icon of={TriangleAlert} size={32} />
        <p>{words('stopped')}</p>
        <Button onClick={() => updateWindow(id, { reloads: one.reloads + 1 })}>{words('reload')}</Button>
      </div>
    )
  }
  // The permissions of the prewarmed frame are those of the app that it becomes.
  const isOwn = !app || isBuiltIn(app)
  return (
    <div class="frame">
      {state === 'loading' && (
        <div class="frame-note" aria-hidden={!isLate}>
          <AppIcon slug={slug} size={64} />
          {isLate && (
            <>
              <p role="status">{words('not_loading')}</p>
              <Button onClick={retry}>{words('reload')}</Button>
            </>
          )}
        </div>
      )}
      <iframe
        key={attempt}
        ref={element}
        title={title}
        data-app={slug}
        sandbox={isOwn ? SANDBOX : `${SANDBOX} allow-popups`}
        allow={isOwn ? 'fullscreen' : ''}
        referrerpolicy="no-referrer"
        class={state === 'ready' ? '' : 'waiting'}
        src={source.src}
      />
    </div>
  )
}
