import { useState } from 'preact/hooks'
import { Button, IconButton } from '../../kit/button.tsx'
import { Dices, Eye, EyeOff } from 'lucide'
import { TextField } from '../../kit/field.tsx'
import { words } from './words.ts'

// Without letters that are taken for others.
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789'

/** A password that can be read out: four groups of five, some 99 bits. */
function madeUpPassword(): string {
  const picked: string[] = []
  while (picked.length < 20) {
    for (const byte of crypto.getRandomValues(new Uint8Array(32)))
      // Only whole rounds of the letters, so that each comes equally often.
      if (byte < 256 - (256 % LETTERS.length) && picked.length < 20) picked.push(LETTERS[byte % LETTERS.length]!)
  }
  return picked.join('').replace(/(.{5})(?=.)/g, '$1-')
}

/** A password for somebody else: typed, or made up and shown. */
export function NewPassword({
  value,
  flaw,
  onChange,
}: {
  value: string
  flaw: string | undefined
  onChange: (value: string) => void
}) {
  const [isSeen, setSeen] = useState(false)
  return (
    <div class="new-password">
      <TextField
        label={words('new_password')}
        hint={words('new_password_hint')}
        type={isSeen ? 'text' : 'password'}
        value={value}
        required
        minLength={8}
        maxLength={1024}
        autocomplete="new-password"
        data-first
        spellcheck={false}
        flaw={flaw}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
      <div class="actions">
        <Button
          icon={Dices}
          onClick={() => {
            setSeen(true)
            onChange(madeUpPassword())
          }}
        >
          {words('make_up')}
        </Button>
        <IconButton
          icon={isSeen ? EyeOff : Eye}
          label={words(isSeen ? 'hide_password' : 'show_password')}
          onClick={() => setSeen(!isSeen)}
        />
      </div>
    </div>
  )
}
