import type { Signal } from '@preact/signals'
import type { ComponentChildren, JSX, LooseInputHTMLAttributes, PartialSelectHTMLAttributes } from 'preact'
import { useId } from 'preact/hooks'
import { bridge } from './bridge.ts'

type InputProps = Omit<LooseInputHTMLAttributes<HTMLInputElement>, 'label' | 'role'>

interface TextProps {
  /** Called with the text after every input. */
  onText?: (text: string) => void
}

const asInput = (onText: TextProps['onText']) =>
  onText && { onInput: ({ currentTarget }: { currentTarget: { value: string } }) => onText(currentTarget.value) }

interface FieldProps {
  label: string
  /** Shown below the field. */
  hint?: string | undefined
  /** Error message. */
  problem?: string | undefined
}

function FieldLayout({ id, label, hint, problem, children }: FieldProps & { id: string; children: ComponentChildren }) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {hint && <small id={`${id}-hint`}>{hint}</small>}
      {problem && (
        <p class="problem" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}

const fieldAttributes = (id: string, { hint, problem }: FieldProps) => ({
  id,
  'aria-invalid': problem !== undefined && problem !== '',
  'aria-describedby': [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ') || undefined,
})

export function TextField({ label, hint, problem, onText, ...rest }: FieldProps & TextProps & InputProps) {
  const id = useId()
  return (
    <FieldLayout {...{ id, label, hint, problem }}>
      <input {...(rest as object)} {...asInput(onText)} {...fieldAttributes(id, { label, hint, problem })} />
    </FieldLayout>
  )
}

export function TextArea({
  label,
  hint,
  problem,
  onText,
  ...rest
}: FieldProps & TextProps & Omit<JSX.IntrinsicElements['textarea'], 'label'>) {
  const id = useId()
  return (
    <FieldLayout {...{ id, label, hint, problem }}>
      <textarea {...rest} {...asInput(onText)} {...fieldAttributes(id, { label, hint, problem })} />
    </FieldLayout>
  )
}

export function Select({
  label,
  hint,
  problem,
  options,
  ...rest
}: FieldProps &
  Omit<PartialSelectHTMLAttributes<HTMLSelectElement>, 'label' | 'role'> & {
    options: readonly { value: string; label: string }[]
  }) {
  const id = useId()
  return (
    <FieldLayout {...{ id, label, hint, problem }}>
      <select {...rest} {...fieldAttributes(id, { label, hint, problem })}>
        {options.map(({ value, label: shown }) => (
          <option key={value} value={value} selected={value === rest.value}>
            {shown}
          </option>
        ))}
      </select>
    </FieldLayout>
  )
}

export const Switch = ({
  label,
  onSwitch,
  ...rest
}: { label: string; onSwitch?: (isOn: boolean) => void } & InputProps) => (
  <label class="switch">
    <input
      onChange={({ currentTarget }) => onSwitch?.(currentTarget.checked)}
      {...(rest as object)}
      type="checkbox"
      role="switch"
    />
    <span>{label}</span>
  </label>
)

/** A search of the text in `of`; with `onText` instead, its owner keeps the text. */
export const SearchField = ({
  label,
  of,
  onText = (text) => void (of && (of.value = text)),
  ...rest
}: { label: string; of?: Signal<string> } & TextProps & InputProps) => (
  <input
    type="search"
    class="search"
    aria-label={label}
    placeholder={label}
    value={of?.value}
    {...(rest as object)}
    {...asInput(onText)}
  />
)

/** Why something failed, read aloud by screen readers. */
export const Problem = ({ children }: { children: ComponentChildren }) => (
  <p class="problem" role="alert">
    {children}
  </p>
)

/** A selection without a visible label, for filters above a list. */
export const FilterSelect = ({
  options,
  onPick,
  ...rest
}: {
  class?: string
  'aria-label': string
  value: string
  options: readonly (readonly [value: string, label: string])[]
  onPick: (value: string) => void
}) => (
  <select {...rest} onChange={({ currentTarget }) => onPick(currentTarget.value)}>
    {options.map(([value, label]) => (
      <option key={value} value={value}>
        {label}
      </option>
    ))}
  </select>
)

/** Tells password managers which account a form is for. */
export const HiddenUsername = () => (
  <input
    class="unseen"
    autocomplete="username"
    value={bridge.user.value?.username}
    readOnly
    tabIndex={-1}
    aria-hidden
  />
)
