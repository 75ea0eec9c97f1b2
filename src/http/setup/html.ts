const style = `
:root { color-scheme: light dark; --page: #f3f4f8; --card: #fff; --text: #171a21; --soft: #565e6c; --line: #7f8899; --main: #3b5bdb; --on-main: #fff; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14171d; --card: #1b1f27; --text: #e9ecf2; --soft: #a4adbd; --line: #77829a; --main: #8fa6ff; --on-main: #0d1433; --bad: #ffb4ab; }
}
* { box-sizing: border-box; }
body { background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; }
main { background: var(--card); border-radius: 20px; box-shadow: 0 1px 2px #10182814, 0 8px 28px #10182829; max-width: 26rem; padding: 2rem 1.5rem; width: 100%; }
h1 { font-size: 1.4rem; line-height: 1.25; margin: 0 0 .75rem; }
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

async function create() {
  const { username, display_name, password, repeated } = Object.fromEntries(new FormData(form))
  if (password !== repeated) throw new Error('The two passwords differ.')
  const shown = display_name.trim() === '' ? {} : { display_name }
  const answer = await fetch('/api/setup.php', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, username, password, ...shown }),
  }).catch(() => { throw new Error('The server cannot be reached. Is it still running?') })
  const said = await answer.json().catch(() => ({}))
  if (!answer.ok) throw new Error(said.error || 'That did not work; the log of the server says more.')
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
  } catch (error) {
    error.textContent = error.message
  } finally {
    button.disabled = false
  }
})
`

const page = (nonce: string, title: string, body: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>${title}</title><style nonce="${nonce}">${style}</style></head>
<body><main>${body}</main></body></html>
`

/** The form that makes the first administrator; the token stays in the address it was opened with. */
export const formPage = (nonce: string): string =>
  page(
    nonce,
    'Set up svc',
    `<section id="start">
<h1>Make the first administrator</h1>
<p>This account manages the service and can make further accounts.</p>
<noscript><p>This page needs JavaScript. Without it, run on the server’s machine:</p><code>svc user add NAME --role admin</code></noscript>
<form>
<label for="username">User name</label>
<input id="username" name="username" required maxlength="64" autocomplete="username" autocapitalize="none" spellcheck="false" autofocus aria-describedby="username-rule">
<small id="username-rule">Letters a–z, digits, “.”, “_” and “-”.</small>
<label for="display-name">Name shown to others</label>
<input id="display-name" name="display_name" maxlength="100" autocomplete="name" aria-describedby="name-rule">
<small id="name-rule">May be left empty.</small>
<label for="password">Password</label>
<input id="password" name="password" type="password" required minlength="8" maxlength="1024" autocomplete="new-password" aria-describedby="password-rule">
<small id="password-rule">At least 8 characters; 15 or more are better.</small>
<label for="repeated">Password again</label>
<input id="repeated" name="repeated" type="password" required autocomplete="new-password">
<p id="error" role="alert"></p>
<button>Make the administrator</button>
</form>
</section>
<section id="done" hidden>
<h1 tabindex="-1">Welcome, <span id="name"></span></h1>
<p>The service is set up, and this link is used up. <a href="/">Go to the desktop</a>, or sign in from a terminal with:</p>
<code id="login"></code>
</section>
<script nonce="${nonce}">${script}</script>`,
  )

/** A page that only says something, with a command to run where one helps. */
export const messagePage = (
  nonce: string,
  { title, text, command }: { title: string; text: string; command: string | undefined },
): string =>
  page(nonce, title, `<h1>${title}</h1>\n<p>${text}</p>${command === undefined ? '' : `\n<code>${command}</code>`}`)
