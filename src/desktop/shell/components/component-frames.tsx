import { effect } from '@preact/signals'
import { GripHorizontal } from 'lucide'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../../kit/icon.tsx'
import { apps } from '../apps.ts'
import { appName } from '../app-name.ts'
import { desktopState } from '../broker.ts'
import { readItem, writeItem } from '../local-storage.ts'
import { user } from '../session.ts'
import { insets, isPhone, type Rect } from '../windows.ts'
import { words } from '../words.ts'
import { parseDockLayout, parsePanelLayout } from './hook-results.ts'
import {
  reportHookResult,
  runningComponents,
  dockLayouts,
  isPreview,
  setLayout,
  keyOf,
  panelLayouts,
  reportRunning,
  stopComponent,
  type Component,
} from './components.ts'
import { runComponent } from './component-sandbox.ts'

const workArea = () => ({ width: innerWidth, height: innerHeight - insets.top - insets.bottom })

function useComponent(component: Component) {
  const frame = useRef<HTMLIFrameElement>(null)
  // A layout effect runs before the frame can load.
  useLayoutEffect(() => {
    const key = keyOf(component)
    const disposers: (() => void)[] = []
    const stop = () => disposers.splice(0).forEach((one) => one())
    const sandbox = runComponent(frame.current!, component, desktopState(), {
      onRunning(hooks) {
        reportRunning(component)
        if (hooks.includes('dock')) followHook('dock', (value) => setLayout(dockLayouts, key, parseDockLayout(value)))
        if (hooks.includes('panel'))
          followHook('panel', (value) => setLayout(panelLayouts, key, parsePanelLayout(value)))
      },
      onFailure(failure) {
        stop()
        stopComponent(component, failure)
      },
    })

    /** Calls a hook now and whenever its input changes. */
    function followHook(hook: 'dock' | 'panel', apply: (value: unknown) => void): void {
      const callHook = () => {
        const list = apps.value.map(({ slug }) => ({ slug, name: appName(slug) }))
        void sandbox.callHook(hook, { ...workArea(), ...desktopState(), apps: list }).then((value) => {
          try {
            apply(value)
            reportHookResult(component, hook, value)
          } catch {
            sandbox.stop()
            stop()
            stopComponent(component, { kind: 'invalid_result' })
          }
        })
      }
      disposers.push(effect(callHook))
      if (hook !== 'panel') return
      let timer: ReturnType<typeof setTimeout> | undefined
      const callHookLater = () => {
        clearTimeout(timer)
        timer = setTimeout(callHook, 300)
      }
      addEventListener('resize', callHookLater)
      disposers.push(
        () => removeEventListener('resize', callHookLater),
        () => clearTimeout(timer),
      )
    }

    disposers.push(
      sandbox.stop,
      effect(() => sandbox.setDesktopState(desktopState())),
      () => setLayout(dockLayouts, key, undefined),
      () => setLayout(panelLayouts, key, undefined),
    )
    return stop
  }, [])
  return frame
}

const Sandbox = ({ of, title }: { of: ReturnType<typeof useComponent>; title: string }) => (
  <iframe
    ref={of}
    title={title}
    sandbox="allow-scripts"
    allow=""
    referrerpolicy="no-referrer"
    src="/sandbox/frame.html"
  />
)

function Hooks({ component }: { component: Component }) {
  const frame = useComponent(component)
  return (
    <div class="component-hooks" aria-hidden="true" inert>
      <Sandbox of={frame} title={component.component_id} />
    </div>
  )
}

const clamp = (min: number, value: unknown, max: number, fallback: number): number =>
  typeof value === 'number' && Number.isFinite(value) ? Math.max(min, Math.min(value, max)) : fallback

const clampRect = ({ x, y, width, height }: Rect): Rect => {
  const space = workArea()
  const w = clamp(80, width, Math.min(800, space.width), 240)
  const h = clamp(48, height, Math.min(800, space.height), 140)
  return { x: clamp(0, x, space.width - w, 0), y: clamp(0, y, space.height - h, 0), width: w, height: h }
}

const positionsKey = (): string => `svc.widgets.${user.value?.id}`
const loadPositions = (): Map<string, { x: number; y: number }> =>
  new Map(readItem<[string, Rect][]>(positionsKey(), []))

/** Initial position of a widget: chosen by user or hook, or at the right edge; a preview at the lower edge. */
function initialRect(component: Component, index: number): Rect {
  const { component_id, metadata } = component
  const { width, height } = metadata as { width?: unknown; height?: unknown }
  const size = { width: clamp(80, width, 800, 240), height: clamp(48, height, 800, 140) }
  if (isPreview(component)) return clampRect({ x: 24, y: workArea().height - size.height - 16, ...size })
  const requested = [...panelLayouts.value.values()].findLast(({ widgets }) => widgets.has(component_id))
  const wanted = {
    x: workArea().width - size.width - 24,
    y: 24 + index * 164,
    ...size,
    ...requested?.widgets.get(component_id),
  }
  return clampRect({ ...wanted, ...loadPositions().get(component_id) })
}

/** Pixels per arrow key. */
const STEP = 16

function Widget({ component, index }: { component: Component; index: number }) {
  const frame = useComponent(component)
  const name = component.component_id
  const [position, setPosition] = useState<{ x: number; y: number } | undefined>(undefined)
  const rect = clampRect({ ...initialRect(component, index), ...position })
  const isPreviewed = isPreview(component)

  function moveTo(x: number, y: number): void {
    const next = clampRect({ ...rect, x, y })
    setPosition({ x: next.x, y: next.y })
    if (!isPreviewed) writeItem(positionsKey(), [...loadPositions().set(name, { x: next.x, y: next.y })].slice(-200))
  }

  function onPointerDown(event: PointerEvent & { currentTarget: HTMLElement }): void {
    if (event.button !== 0) return
    const handle = event.currentTarget
    const [dx, dy] = [rect.x - event.clientX, rect.y - event.clientY]
    handle.setPointerCapture(event.pointerId)
    const follow = ({ clientX, clientY }: PointerEvent) => moveTo(clientX + dx, clientY + dy)
    const end = () => {
      handle.removeEventListener('pointermove', follow)
      handle.removeEventListener('lostpointercapture', end)
    }
    handle.addEventListener('pointermove', follow)
    handle.addEventListener('lostpointercapture', end)
  }

  function onKeyDown(event: KeyboardEvent): void {
    const steps: Record<string, readonly [number, number]> = {
      ArrowLeft: [-STEP, 0],
      ArrowRight: [STEP, 0],
      ArrowUp: [0, -STEP],
      ArrowDown: [0, STEP],
    }
    const step = steps[event.key]
    if (!step) return
    event.preventDefault()
    moveTo(rect.x + step[0], rect.y + step[1])
  }

  const style = isPhone.value
    ? { height: `${rect.height}px` }
    : { left: `${rect.x}px`, top: `${rect.y}px`, width: `${rect.width}px`, height: `${rect.height}px` }
  return (
    <section class={`widget ${isPreviewed ? 'preview' : ''}`} aria-label={words('widget', name)} style={style}>
      <Sandbox of={frame} title={name} />
      {!isPhone.value && (
        <button
          type="button"
          class="widget-handle"
          aria-label={words('move_widget', name)}
          title={words('move_widget', name)}
          onPointerDown={onPointerDown}
          onKeyDown={onKeyDown}
        >
          <Icon of={GripHorizontal} size={16} />
        </button>
      )}
    </section>
  )
}

/** Frames of the user's components: widgets behind the windows, and hidden ones for hooks. */
export function Components() {
  const of = (type: Component['component_type']) => runningComponents.value.filter((one) => one.component_type === type)
  return (
    <>
      <div class="widgets">
        {of('widget').map((component, index) => (
          <Widget key={keyOf(component)} component={component} index={index} />
        ))}
      </div>
      {of('js').map((component) => (
        <Hooks key={keyOf(component)} component={component} />
      ))}
    </>
  )
}
