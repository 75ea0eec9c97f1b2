import { Laptop, Monitor, Smartphone } from 'lucide'
import { bridge } from '../../kit/bridge.ts'
import { Button } from '../../kit/button.tsx'
import { confirm } from '../../kit/dialog.tsx'
import { formatDateTime } from '../../kit/formats.ts'
import { Icon } from '../../kit/icon.tsx'
import { useQuery } from '../../kit/query.ts'
import { EmptyState, Loading } from '../../kit/empty-state.tsx'
import { toast, toastError } from '../../kit/toast.tsx'
import { describeError } from '../../kit/api-error.ts'
import { parseUserAgent } from './user-agent.ts'
import { words } from './words.ts'

async function endAccess(request: Promise<unknown>, reload: () => Promise<void>): Promise<void> {
  try {
    await request
    toast(words('ended'))
  } catch (error) {
    toastError(error)
  }
  await reload()
}

export function Sessions() {
  const { value, error, reload } = useQuery(() => bridge.call('accountSettings.sessions', {}))
  if (error !== undefined) return <p class="problem">{describeError(error)}</p>
  if (!value) return <Loading />
  const end = (session_id: number) => endAccess(bridge.call('accountSettings.revoke_session', { session_id }), reload)
  return (
    <ul class="sign-ins">
      {value.sessions.map(({ session_id, user_agent, ip, last_used_at, current }) => {
        const { browser, system, isPhone } = parseUserAgent(user_agent)
        const name = browser && system ? words('on', browser, system) : browser || words('unknown_browser')
        return (
          <li key={session_id}>
            <Icon of={isPhone ? Smartphone : Monitor} size={24} />
            <div>
              <strong>{name}</strong>
              <small>
                {current ? `${words('this_one')} · ` : ''}
                {ip} · {words('last_used', formatDateTime(last_used_at))}
              </small>
            </div>
            {!current && (
              <Button aria-label={`${words('end')}: ${name}`} onClick={() => void end(session_id)}>
                {words('end')}
              </Button>
            )}
          </li>
        )
      })}
    </ul>
  )
}

/** Devices with a sync client. */
export function Devices() {
  const { value, error, reload } = useQuery(() => bridge.call('accountSettings.devices', {}))
  if (error !== undefined) return <p class="problem">{describeError(error)}</p>
  if (!value) return <Loading />
  if (value.devices.length === 0) return <EmptyState icon={Laptop} title={words('no_devices')} />
  const revoke = async (token_id: number, name: string) => {
    const isConfirmed = await confirm({
      title: words('revoke_title', name),
      text: words('revoke_text'),
      action: words('revoke'),
      danger: true,
    })
    if (isConfirmed) await endAccess(bridge.call('accountSettings.revoke_device', { token_id }), reload)
  }
  return (
    <ul class="sign-ins">
      {value.devices.map(({ token_id, device_name, device_id, last_used_at, last_ip }) => {
        const name = device_name || device_id
        const used = last_used_at ? words('last_used', formatDateTime(last_used_at)) : words('never_used')
        return (
          <li key={token_id}>
            <Icon of={Laptop} size={24} />
            <div>
              <strong>{name}</strong>
              <small>{last_ip ? `${last_ip} · ${used}` : used}</small>
            </div>
            <Button aria-label={`${words('revoke')}: ${name}`} onClick={() => void revoke(token_id, name)}>
              {words('revoke')}
            </Button>
          </li>
        )
      })}
    </ul>
  )
}
