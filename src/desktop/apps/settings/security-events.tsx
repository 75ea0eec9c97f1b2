import { ShieldCheck } from 'lucide'
import { bridge } from '../../kit/bridge.ts'
import { formatDateTime } from '../../kit/formats.ts'
import { Icon } from '../../kit/icon.tsx'
import { useQuery } from '../../kit/query.ts'
import { securityAdvice, securityEventActor, securityEventTitle } from '../../kit/security-words.ts'
import { EmptyState, Loading } from '../../kit/empty-state.tsx'
import { describeError } from '../../kit/api-error.ts'
import { parseUserAgent } from './user-agent.ts'
import { words } from './words.ts'

/** Changes to who can get into the account. */
export function SecurityEvents() {
  const { value, error } = useQuery(() => bridge.call('accountSettings.security_events', {}))
  if (error !== undefined) return <p class="problem">{describeError(error)}</p>
  if (!value) return <Loading />
  if (value.events.length === 0) return <EmptyState icon={ShieldCheck} title={words('no_security_events')} />
  return (
    <>
      <p class="soft">{securityAdvice()}</p>
      <ul class="sign-ins">
        {value.events.map((event) => {
          const { browser, system } = parseUserAgent(event.user_agent ?? '')
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
