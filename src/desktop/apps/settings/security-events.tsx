import { ShieldCheck } from 'lucide'
import { bridge } from '../../kit/bridge.ts'
import { formatDateTime } from '../../kit/formats.ts'
import { Icon } from '../../kit/icon.tsx'
import { useLoaded } from '../../kit/loaded.ts'
import { securityAdvice, securityEventActor, securityEventTitle } from '../../kit/security-words.ts'
import { Empty, Loading } from '../../kit/states.tsx'
import { explain } from '../../kit/trouble.ts'
import { browserIn } from './browsers.ts'
import { words } from './words.ts'

/** What changed who can get into the account. */
export function SecurityEvents() {
  const { value, trouble } = useLoaded(() => bridge.call('accountSettings.security_events', {}))
  if (trouble !== undefined) return <p class="flaw">{explain(trouble)}</p>
  if (!value) return <Loading />
  if (value.events.length === 0) return <Empty icon={ShieldCheck} title={words('no_security_events')} />
  return (
    <>
      <p class="soft">{securityAdvice()}</p>
      <ul class="sign-ins">
        {value.events.map((event) => {
          const { browser, system } = browserIn(event.user_agent ?? '')
          const client = browser && system ? words('on', browser, system) : browser
          const details = [formatDateTime(event.at), securityEventActor(event), client, event.ip]
          return (
            <li key={event.id}>
              <Icon of={ShieldCheck} size={24} />
              <div>
                <strong>{securityEventTitle(event)}</strong>
                <small>{details.filter(Boolean).join(' · ')}</small>
              </div>
            </li>
          )
        })}
      </ul>
    </>
  )
}
