// An app runs in a frame without an origin: no cookies, no local storage, and nothing loads but its own files. What it
// wants of the desktop it asks for with postMessage, as `openNotes` does.

const phases = {
  work: { minutes: 25, ended: 'Well done. Have a rest.' },
  pause: { minutes: 5, ended: 'Back to work, when you like.' },
  rest: { minutes: 15, ended: 'Rested? A new set begins.' },
}

/** After so many rounds of work the rest is a long one. */
const ROUNDS = 4

const find = (selector) => document.querySelector(selector)
const [left, round, said, hand, toggle] = ['#left', '#round', '#said', '.hand', '#toggle'].map(find)

const state = { phase: 'work', round: 1, left: 25 * 60_000, endsAt: undefined, timer: undefined, sound: undefined }

const isRunning = () => state.endsAt !== undefined
const total = () => phases[state.phase].minutes * 60_000

function show() {
  const seconds = Math.ceil(state.left / 1_000)
  const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  left.textContent = clock
  document.title = isRunning() ? `${clock} · Focus` : 'Focus'
  round.textContent = `Round ${state.round} of ${ROUNDS}`
  hand.style.strokeDashoffset = String(1 - state.left / total())
  toggle.textContent = isRunning() ? 'Pause' : state.left < total() ? 'Go on' : 'Start'
  find(`[value=${state.phase}]`).checked = true
}

function enter(phase) {
  stop()
  state.phase = phase
  state.left = total()
  show()
}

function start() {
  // Browsers allow sound only after somebody touched the page.
  state.sound ??= new AudioContext()
  state.endsAt = Date.now() + state.left
  state.timer = setInterval(tick, 250)
  said.textContent = ''
  show()
}

function stop() {
  clearInterval(state.timer)
  state.endsAt = undefined
}

function tick() {
  // Reckoned from the end: a page in the background is woken seldom.
  state.left = Math.max(0, state.endsAt - Date.now())
  if (state.left === 0) finish()
  else show()
}

function finish() {
  const { phase, round: done } = state
  chime()
  if (phase === 'rest') state.round = 1
  else if (phase === 'pause') state.round = done + 1
  enter(phase !== 'work' ? 'work' : done === ROUNDS ? 'rest' : 'pause')
  said.textContent = phases[phase].ended
}

/** Two soft notes. */
function chime() {
  for (const [index, frequency] of [523, 784].entries()) {
    const at = state.sound.currentTime + index * 0.25
    const volume = new GainNode(state.sound, { gain: 0 })
    volume.gain.linearRampToValueAtTime(0.2, at + 0.02)
    volume.gain.exponentialRampToValueAtTime(0.001, at + 1.2)
    const note = new OscillatorNode(state.sound, { frequency })
    note.connect(volume).connect(state.sound.destination)
    note.start(at)
    note.stop(at + 1.2)
  }
}

function switchOver() {
  if (!isRunning()) return start()
  tick()
  stop()
  show()
}

/** Asks the desktop to open another app. */
const openNotes = () => parent.postMessage({ type: 'svc-open-app', slug: 'notes', path: '/' }, '*')

toggle.addEventListener('click', switchOver)
find('#reset').addEventListener('click', () => enter(state.phase))
find('#notes').addEventListener('click', openNotes)
find('.phases').addEventListener('change', ({ target }) => enter(target.value))
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('button, input')) return
  if (event.key === ' ') switchOver()
  else if (event.key === 'r') enter(state.phase)
  else return
  event.preventDefault()
})

show()
