import { ShieldCheck, ShieldOff } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button } from '../../kit/button.tsx'
import { HiddenUsername, Switch, TextField } from '../../kit/field.tsx'
import { Icon } from '../../kit/icon.tsx'
import { useQuery, useMutation } from '../../kit/query.ts'
import { Loading } from '../../kit/empty-state.tsx'
import { describeError } from '../../kit/api-error.ts'
import { saveFile } from '../../kit/save-file.ts'
import { common } from '../../kit/words.ts'
import type { AnswerOf } from '../../wire/actions.ts'
import { words } from './words.ts'

function CodeForm({
  label,
  kind = 'main',
  run,
  onCancel,
  children,
}: {
  label: string
  kind?: 'main' | 'danger'
  run: (code: string) => Promise<void>
  onCancel: () => void
  children?: ComponentChildren
}) {
  const [code, setCode] = useState('')
  const task = useMutation(() => run(code.replaceAll(' ', '')))
  return (
    <form class="form" onSubmit={task.start}>
      <TextField
        label={words('code')}
        hint={words('code_hint')}
        value={code}
        required
        maxLength={20}
        inputMode="numeric"
        autocomplete="one-time-code"
        problem={task.error === undefined ? undefined : describeError(task.error)}
        onText={setCode}
      />
      {children}
      <div class="actions">
        <Button kind={kind} type="submit" busy={task.busy}>
          {label}
        </Button>
        <Button onClick={onCancel}>{common('cancel')}</Button>
      </div>
    </form>
  )
}

/** Asks for the password before setting up the second factor. */
function PasswordForm({ run, onCancel }: { run: (password: string) => Promise<void>; onCancel: () => void }) {
  const [password, setPassword] = useState('')
  const task = useMutation(() => run(password))
  return (
    <form class="form" onSubmit={task.start}>
      <p class="soft">{words('password_first')}</p>
      <HiddenUsername />
      <TextField
        type="password"
        label={words('current_password')}
        value={password}
        required
        maxLength={1024}
        autocomplete="current-password"
        problem={task.error === undefined ? undefined : describeError(task.error)}
        onText={setPassword}
      />
      <div class="actions">
        <Button kind="main" type="submit" busy={task.busy}>
          {words('set_up')}
        </Button>
        <Button onClick={onCancel}>{common('cancel')}</Button>
      </div>
    </form>
  )
}

const saveCodes = (codes: readonly string[]): void =>
  saveFile(new Blob([`${codes.join('\n')}\n`], { type: 'text/plain' }), 'svc-backup-codes.txt')

const Codes = ({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) => (
  <section>
    <h3>{words('codes_title')}</h3>
    <p>{words('codes_text')}</p>
    <ol class="codes">
      {codes.map((code) => (
        <li key={code}>
          <code>{code}</code>
        </li>
      ))}
    </ol>
    <div class="form">
      <div class="actions">
        <Button onClick={() => saveCodes(codes)}>{words('save_codes')}</Button>
        <Button kind="main" onClick={onDone}>
          {words('codes_done')}
        </Button>
      </div>
    </div>
  </section>
)

type Step = 'nothing' | 'set_up' | 'turn_off' | 'new_codes'

export function SecondFactor() {
  const { value, error, reload } = useQuery(() => bridge.call('accountSettings.2fa_status', {}))
  const [enrolment, setEnrolment] = useState<
    (AnswerOf<'accountSettings.setup_2fa'> & { password: string }) | undefined
  >(undefined)
  const [endsOthers, setEndsOthers] = useState(true)
  const [codes, setCodes] = useState<readonly string[] | undefined>(undefined)
  const [step, setStep] = useState<Step>('nothing')

  async function begin(password: string): Promise<void> {
    setEnrolment({ ...(await bridge.call('accountSettings.setup_2fa', { current_password: password })), password })
    setStep('nothing')
  }
  async function enable(totp_code: string): Promise<void> {
    const { backup_codes } = await bridge.call('accountSettings.enable_2fa', {
      totp_code,
      current_password: enrolment!.password,
      end_others: endsOthers,
    })
    setEnrolment(undefined)
    setCodes(backup_codes)
    await reload()
  }
  async function turnOff(totp_code: string): Promise<void> {
    await bridge.call('accountSettings.disable_2fa', { totp_code })
    setStep('nothing')
    await reload()
  }
  async function renew(totp_code: string): Promise<void> {
    const { backup_codes } = await bridge.call('accountSettings.regenerate_backup_codes', { totp_code })
    setStep('nothing')
    setCodes(backup_codes)
    await reload()
  }

  if (error !== undefined) return <p class="problem">{describeError(error)}</p>
  if (!value) return <Loading />
  if (codes) return <Codes codes={codes} onDone={() => setCodes(undefined)} />
  const { enabled, backup_codes_left } = value
  return (
    <section>
      <p class="soft">{words('factor_text')}</p>
      <p class={`factor ${enabled ? 'on' : ''}`} role="status">
        <Icon of={enabled ? ShieldCheck : ShieldOff} size={22} />
        <strong>{words(enabled ? 'factor_on' : 'factor_off')}</strong>
        {enabled && <span>{words('codes_left', backup_codes_left)}</span>}
      </p>
      {enrolment && (
        <div class="enrol">
          <p>{words('scan')}</p>
          <img src={enrolment.qr_code_url} alt={words('qr')} width={200} height={200} />
          <p>{words('secret')}</p>
          <code>{enrolment.secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
          <CodeForm label={words('turn_on')} run={enable} onCancel={() => setEnrolment(undefined)}>
            <Switch label={words('end_others')} checked={endsOthers} onSwitch={setEndsOthers} />
          </CodeForm>
        </div>
      )}
      {step === 'set_up' && <PasswordForm run={begin} onCancel={() => setStep('nothing')} />}
      {step === 'turn_off' && (
        <CodeForm label={words('turn_off')} kind="danger" run={turnOff} onCancel={() => setStep('nothing')} />
      )}
      {step === 'new_codes' && <CodeForm label={words('new_codes')} run={renew} onCancel={() => setStep('nothing')} />}
      {!enrolment && step === 'nothing' && (
        <div class="form">
          <div class="actions">
            {!enabled && (
              <Button kind="main" onClick={() => setStep('set_up')}>
                {words('set_up')}
              </Button>
            )}
            {enabled && <Button onClick={() => setStep('new_codes')}>{words('new_codes')}</Button>}
            {enabled && (
              <Button kind="danger" onClick={() => setStep('turn_off')}>
                {words('turn_off')}
              </Button>
            )}
          </div>
        </div>
      )}
    </section>
  )
}
