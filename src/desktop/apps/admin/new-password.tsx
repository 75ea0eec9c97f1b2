import { useState } from 'preact/hooks'
import { Button, IconButton } from '../../kit/button.tsx'
import { Dices, Eye, EyeOff } from 'lucide'
import { TextField } from '../../kit/field.tsx'
import { words } from './words.ts'

// Without characters that are easily confused.
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'

/** A password that can be read out: four groups of five characters, about 99 bits of entropy. */
function generatePassword(): string {
  const picked: string[] = []
  while (picked.length < 20) {
    for (const byte of crypto.getRandomValues(new Uint8Array(32)))
      // Reject bytes beyond a multiple of the alphabet's length, so that all characters are equally likely.
      if (byte < 256 - (256 % ALPHABET.length) && picked.length < 20) picked.push(ALPHABET[byte % ALPHABET.length]!)
  }
  return picked.join('').replace(/(.{5})(?=.)/g, '$1-')
}

/** A new password for another user: typed, or generated and shown. */
export function NewPassword({
  value,
  problem,
  onChange,
}: {
  value: string
  problem: string | undefined
  onChange: (value: string) => void
}) {
  const [isVisible, setVisible] = useState(false)
  return (
    <div class="new-password">
      <TextField
        label={words('new_password')}
        hint={words('new_password_hint')}
        type={isVisible ? 'text' : 'password'}
        value={value}
        required
        minLength={8}
        maxLength={1024}
        autocomplete="new-password"
        data-first
        spellcheck={false}
        problem={problem}
        onText={onChange}
      />
      <div class="actions">
        <Button
          icon={Dices}
          onClick={() => {
            setVisible(true)
            onChange(generatePassword())
          }}
        >
          {words('make_up')}
        </Button>
        <IconButton
          icon={isVisible ? EyeOff : Eye}
          label={words(isVisible ? 'hide_password' : 'show_password')}
          onClick={() => setVisible(!isVisible)}
        />
      </div>
    </div>
  )
}
