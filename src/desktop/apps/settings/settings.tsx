import { useSignal, useSignalEffect } from '@preact/signals'
import {
  ArrowLeft,
  type IconNode,
  KeyRound,
  Laptop,
  MonitorSmartphone,
  Palette,
  ShieldAlert,
  ShieldCheck,
  User,
} from 'lucide'
import type { FunctionComponent } from 'preact'
import { bridge } from '../../kit/bridge.ts'
import { IconButton } from '../../kit/button.tsx'
import { Icon } from '../../kit/icon.tsx'
import { SplitView, Toolbar } from '../../kit/split-view.tsx'
import { OfflineBanner } from '../../kit/empty-state.tsx'
import { common } from '../../kit/words.ts'
import { Appearance } from './appearance.tsx'
import { Devices, Sessions } from './sign-ins.tsx'
import { Password } from './password.tsx'
import { Profile } from './profile.tsx'
import { SecurityEvents } from './security-events.tsx'
import { SecondFactor } from './second-factor.tsx'
import { words } from './words.ts'

const pages = [
  { name: 'profile', icon: User, Page: Profile },
  { name: 'appearance', icon: Palette, Page: Appearance },
  { name: 'password', icon: KeyRound, Page: Password },
  { name: 'second_factor', icon: ShieldCheck, Page: SecondFactor },
  { name: 'sessions', icon: MonitorSmartphone, Page: Sessions },
  { name: 'devices', icon: Laptop, Page: Devices },
  { name: 'security_events', icon: ShieldAlert, Page: SecurityEvents },
] as const satisfies readonly { name: string; icon: IconNode; Page: FunctionComponent }[]

export function Settings() {
  const open = useSignal<(typeof pages)[number] | undefined>(pages[0])
  useSignalEffect(() => {
    const wanted = pages.find(({ name }) => bridge.path.value === `/${name}`)
    if (wanted) open.value = wanted
  })
  const page = open.value
  return (
    <>
      <h1 class="unseen">{words('settings')}</h1>
      <OfflineBanner />
      <SplitView
        label={words('settings')}
        shows={page ? 'main' : 'side'}
        back={page && (() => void (open.value = undefined))}
        side={
          <ul class="side-pages">
            {pages.map((one) => (
              <li key={one.name}>
                <button
                  type="button"
                  aria-current={one === page ? 'page' : undefined}
                  onClick={() => void (open.value = one)}
                >
                  <Icon of={one.icon} />
                  {words(one.name)}
                </button>
              </li>
            ))}
          </ul>
        }
        main={
          page && (
            <>
              <Toolbar label={words(page.name)}>
                <IconButton
                  icon={ArrowLeft}
                  class="only-narrow"
                  label={common('back')}
                  onClick={() => void (open.value = undefined)}
                />
                <h2>{words(page.name)}</h2>
              </Toolbar>
              <div class="page">
                <page.Page key={page.name} />
              </div>
            </>
          )
        }
      />
    </>
  )
}
