import { effect } from '@preact/signals'
import { GripHorizontal } from 'lucide'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../../kit/icon.tsx'
import { apps } from '../apps.ts'
import { appName } from '../app-name.ts'
import { surroundings } from '../broker.ts'
import { readStored, store } from '../stored.ts'
import { user } from '../session.ts'
import { edges, isPhone, type Box } from '../windows.ts'
import { words } from '../words.ts'
import { readDock, readPanel } from './answers.ts'
import {
  answered,
  atWork,
  dockWishes,
  isTried,
  keepWish,
  keyOf,
  panelWishes,
  startedWell,
  switchOff,
  type Component,
} from './components.ts'
import { run } from './runner.ts'

const screen = () => ({ width: innerWidth, height: innerHeight - edges.top - edges.bottom })

/** Runs a component in its frame for as long as the frame is there. */
function useComponent(component: Component) {
  const frame = useRef<HTMLIFrameElement>(null)
  // Before the frame can have loaded: a component is put in when it has.
  useLayoutEffect(() => {
    const key = keyOf(component)
    const stops: (() => void)[] = []
    const stop = () => stops.splice(0).forEach((one) => one())
    const running = run(frame.current!, component, surroundings(), {
      onRunning(hooks) {
        startedWell(component)
        if (hooks.includes('dock')) ask('dock', (value) => keepWish(dockWishes, key, readDock(value)))
        if (hooks.includes('panel')) ask('panel', (value) => keepWish(panelWishes, key, readPanel(value)))
      },
      onFailure(failure) {
        stop()
        switchOff(component, failure)
      },
    })

    /** Asks a hook now, and again whenever what it goes by has changed. */
    function ask(hook: 'dock' | 'panel', take: (value: unknown) => void): void {
      const put = () => {
        const list = apps.value.map(({ slug }) => ({ slug, name: appName(slug) }))
        void running.ask(hook, { ...screen(), ...surroundings(), apps: list }).then((value) => {
          try {
            take(value)
            answered(component, hook, value)
          } catch {
            running.stop()
            stop()
            switchOff(component, { kind: 'wrong' })
          }
        })
      }
      stops.push(effect(put))
      if (hook !== 'panel') return
      let timer: ReturnType<typeof setTimeout> | undefined
      const later = () => {
        clearTimeout(timer)
        timer = setTimeout(put, 300)
      }
      addEventListener('resize', later)
      stops.push(
        () => removeEventListener('resize', later),
        () => clearTimeout(timer),
      )
    }

    stops.push(
      running.stop,
      effect(() => running.tell(surroundings())),
      () => keepWish(dockWishes, key, undefined),
      () => keepWish(panelWishes, key, undefined),
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

const between = (least: number, value: unknown, most: number, otherwise: number): number =>
  typeof value === 'number' && Number.isFinite(value) ? Math.max(least, Math.min(value, most)) : otherwise

const within = ({ x, y, width, height }: Box): Box => {
  const space = screen()
  const w = between(80, width, Math.min(800, space.width), 240)
  const h = between(48, height, Math.min(800, space.height), 140)
  return { x: between(0, x, space.width - w, 0), y: between(0, y, space.height - h, 0), width: w, height: h }
}

const placesKey = (): string => `svc.widgets.${user.value?.id}`
const places = (): Map<string, { x: number; y: number }> => new Map(readStored<[string, Box][]>(placesKey(), []))

/**
 * Where a widget is: where somebody put it, where a hook wants it, or beside the ones before it at the right edge; one that is
 * tried out stands at the lower edge, out of the way of who writes it.
 */
function firstBox(component: Component, at: number): Box {
  const { component_id, metadata } = component
  const { width, height } = metadata as { width?: unknown; height?: unknown }
  const size = { width: between(80, width, 800, 240), height: between(48, height, 800, 140) }
  if (isTried(component)) return within({ x: 24, y: screen().height - size.height - 16, ...size })
  const wished = [...panelWishes.value.values()].findLast(({ widgets }) => widgets.has(component_id))
  const here = { x: screen().width - size.width - 24, y: 24 + at * 164, ...size, ...wished?.widgets.get(component_id) }
  return within({ ...here, ...places().get(component_id) })
}

/** Pixels that an arrow key moves. */
const STEP = 16

function Widget({ component, at }: { component: Component; at: number }) {
  const frame = useComponent(component)
  const name = component.component_id
  const [moved, setMoved] = useState<{ x: number; y: number } | undefined>(undefined)
  const box = within({ ...firstBox(component, at), ...moved })
  const isTrial = isTried(component)

  function moveTo(x: number, y: number): void {
    const next = within({ ...box, x, y })
    setMoved({ x: next.x, y: next.y })
    if (!isTrial) store(placesKey(), [...places().set(name, { x: next.x, y: next.y })].slice(-200))
  }

  function onPointerDown(event: PointerEvent & { currentTarget: HTMLElement }): void {
    if (event.button !== 0) return
    const handle = event.currentTarget
    const [dx, dy] = [box.x - event.clientX, box.y - event.clientY]
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
    moveTo(box.x + step[0], box.y + step[1])
  }

  const style = isPhone.value
    ? { height: `${box.height}px` }
    : { left: `${box.x}px`, top: `${box.y}px`, width: `${box.width}px`, height: `${box.height}px` }
  return (
    <section class={`widget ${isTrial ? 'trial' : ''}`} aria-label={words('widget', name)} style={style}>
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

/** Everything of the user's own that runs in frames: widgets behind the windows, and hooks out of sight. */
export function Components() {
  const of = (type: Component['component_type']) => atWork.value.filter((one) => one.component_type === type)
  return (
    <>
      <div class="widgets">
        {of('widget').map((component, at) => (
          <Widget key={keyOf(component)} component={component} at={at} />
        ))}
      </div>
      {of('js').map((component) => (
        <Hooks key={keyOf(component)} component={component} />
      ))}
    </>
  )
}
