import { signal } from '@preact/signals'

/** A question that a dialog shows until it is answered. */
export interface Question<Subject, Answer> {
  subject: Subject
  /** Undefined if the user cancels. */
  answer: (answer: Answer | undefined) => void
}

/** A place for one question at a time; another one cancels it. */
export function makeQuestion<Subject, Answer>() {
  const current = signal<Question<Subject, Answer> | undefined>(undefined)
  const ask = (subject: Subject): Promise<Answer | undefined> =>
    new Promise((resolve) => {
      current.value?.answer(undefined)
      current.value = {
        subject,
        answer: (answer) => {
          current.value = undefined
          resolve(answer)
        },
      }
    })
  return { current, ask }
}
