import type { SetupWords } from './words.ts'

const style = `
:root { color-scheme: light dark; --page: #f3f4f8; --card: #fff; --text: #171a21; --soft: #565e6c; --line: #7f8899; --main: #3b5bdb; --on-main: #fff; --bad: #b3261e; --sky: radial-gradient(120% 90% at 15% 0%, #c9d8ff, #0000 60%), radial-gradient(90% 80% at 95% 20%, #ffd9c7, #0000 55%), radial-gradient(120% 100% at 60% 110%, #bfe6e2, #0000 60%), linear-gradient(#eef1fb, #e6eaf6); }
@media (prefers-color-scheme: dark) {
  :root { --page: #14171d; --card: #1b1f27; --text: #e9ecf2; --soft: #a4adbd; --line: #77829a; --main: #8fa6ff; --on-main: #0d1433; --bad: #ffb4ab; --sky: radial-gradient(120% 90% at 15% 0%, #26376f, #0000 60%), radial-gradient(90% 80% at 95% 20%, #5a3244, #0000 55%), radial-gradient(120% 100% at 60% 110%, #14474b, #0000 60%), linear-gradient(#12151f, #0e1119); }
}
* { box-sizing: border-box; }
body { background: var(--sky) fixed; color: var(--text); font: 1rem/1.5 system-ui, sans-serif; margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; }
main { background: var(--card); border-radius: 20px; box-shadow: 0 1px 2px #10182814, 0 8px 28px #10182829; max-width: 26rem; padding: 2rem 1.5rem; width: 100%; }
h1 { font-size: 1.4rem; line-height: 1.25; margin: 0 0 .75rem; text-align: center; }
svg { display: block; fill: var(--main); margin: 0 auto 1rem; } svg path { fill: var(--on-main); }
p { margin: 0 0 1rem; } p:last-child { margin: 0; } small { color: var(--soft); display: block; margin-top: .25rem; }
label { display: block; font-weight: 600; margin: 1rem 0 .25rem; }
input { background: transparent; border: 1px solid var(--line); border-radius: 10px; color: inherit; font: inherit; padding: .6rem .7rem; width: 100%; }
button { background: var(--main); border: 0; border-radius: 10px; color: var(--on-main); cursor: pointer; font: 600 1rem/1.5 system-ui, sans-serif; margin-top: 1.5rem; padding: .65rem; width: 100%; }
button:disabled { cursor: progress; opacity: .6; }
:focus-visible { outline: 3px solid var(--main); outline-offset: 2px; }
a { color: var(--main); }
code { background: var(--page); border-radius: .3rem; display: block; font: .9rem ui-monospace, monospace; overflow-wrap: anywhere; padding: .6rem .7rem; }
#error { color: var(--bad); font-weight: 600; margin: 1rem 0 0; } #error:empty { display: none; }
[hidden] { display: none; }
`

const script = `
const form = document.querySelector('form')
const button = form.querySelector('button')
const error = document.querySelector('#error')
const token = new URLSearchParams(location.search).get('token')
const words = JSON.parse(form.dataset.words)

async function create() {
  const { username, display_name, password, repeated } = Object.fromEntries(new FormData(form))
  if (password !== repeated) throw new Error(words.differ)
  const shown = display_name.trim() === '' ? {} : { display_name }
  const answer = await fetch('/api/setup.php', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, username, password, ...shown }),
  }).catch(() => { throw new Error(words.unreachable) })
  const said = await answer.json().catch(() => ({}))
  if (!answer.ok) throw new Error(words.errors[said.code] || (words.language === 'en' && said.error) || words.failed)
  return said.user
}

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  error.textContent = ''
  button.disabled = true
  try {
    const user = await create()
    // The link is used up: it need not stay in the history of this browser.
    history.replaceState(null, '', location.pathname)
    document.querySelector('#name').textContent = user.username
    document.querySelector('#login').textContent = 'svc login ' + location.origin
    document.querySelector('#start').hidden = true
    const done = document.querySelector('#done')
    done.hidden = false
    done.querySelector('h1').focus()
  } catch (reason) {
    error.textContent = reason.message
  } finally {
    button.disabled = false
  }
})
`

const page = (nonce: string, language: string, title: string, body: string): string => `<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>${title}</title><style nonce="${nonce}">${style}</style></head>
<body><main><svg viewBox="0 0 32 32" width="52" height="52" aria-hidden="true"><rect width="32" height="32" rx="8"/><path d="M8 21a5 5 0 0 1 1-9.9A7 7 0 0 1 22.4 13 4.2 4.2 0 0 1 22 21z"/></svg>
${body}</main></body></html>
`

/** Messages for the script, as the value of an attribute. */
const dataOf = ({ language, differ, unreachable, failed, errors }: SetupWords): string =>
  JSON.stringify({ language, differ, unreachable, failed, errors }).replaceAll('&', '&amp;').replaceAll('"', '&quot;')

/** The form that creates the first administrator. The token stays in the URL. */
export const formPage = (nonce: string, words: SetupWords): string =>
  page(
    nonce,
    words.language,
    words.title,
    `<section id="start">
<h1>${words.heading}</h1>
<p>${words.intro}</p>
<noscript><p>${words.no_script}</p><code>svc user add NAME --role admin</code></noscript>
<form data-words="${dataOf(words)}">
<label for="username">${words.username}</label>
<input id="username" name="username" required maxlength="64" autocomplete="username" autocapitalize="none" spellcheck="false" autofocus aria-describedby="username-rule">
<small id="username-rule">${words.username_rule}</small>
<label for="display-name">${words.display_name}</label>
<input id="display-name" name="display_name" maxlength="100" autocomplete="name" aria-describedby="name-rule">
<small id="name-rule">${words.display_name_rule}</small>
<label for="password">${words.password}</label>
<input id="password" name="password" type="password" required minlength="8" maxlength="1024" autocomplete="new-password" aria-describedby="password-rule">
<small id="password-rule">${words.password_rule}</small>
<label for="repeated">${words.repeated}</label>
<input id="repeated" name="repeated" type="password" required autocomplete="new-password">
<p id="error" role="alert"></p>
<button>${words.create}</button>
</form>
</section>
<section id="done" hidden>
<h1 tabindex="-1">${words.welcome} <span id="name"></span></h1>
<p>${words.done} <a href="/">${words.desktop}</a></p>
<p>${words.terminal}</p>
<code id="login"></code>
</section>
<script nonce="${nonce}">${script}</script>`,
  )

export const messagePage = (
  nonce: string,
  { language, desktop }: SetupWords,
  { title, text, command }: { title: string; text: string; command?: string },
): string =>
  page(
    nonce,
    language,
    title,
    `<h1>${title}</h1>\n<p>${text}</p>\n${command === undefined ? `<p><a href="/">${desktop}</a></p>` : `<code>${command}</code>`}`,
  )
