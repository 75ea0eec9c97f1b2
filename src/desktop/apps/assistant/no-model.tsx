import { Bot } from 'lucide'
import { bridge } from '../../kit/bridge.ts'
import { Button } from '../../kit/button.tsx'
import { EmptyState } from '../../kit/empty-state.tsx'
import { loadModels } from './store.ts'
import { words } from './words.ts'

/** Placeholder if no model is configured; administrators are told how to do it. */
export function NoModel() {
  const isAdmin = bridge.user.value?.role === 'admin'
  return (
    <EmptyState icon={Bot} title={words('no_model')}>
      <p>{words(isAdmin ? 'no_model_admin' : 'no_model_user')}</p>
      {isAdmin && (
        <>
          <pre tabIndex={0} aria-label={words('no_model')}>
            svc config set assistant.base_url http://127.0.0.1:11434{'\n'}svc config set assistant.chat_model MODEL
          </pre>
          <p>{words('no_model_key')}</p>
          <pre>svc config set assistant.api_key - &lt; key.txt</pre>
        </>
      )}
      <Button onClick={() => void loadModels()}>{words('check_again')}</Button>
    </EmptyState>
  )
}
