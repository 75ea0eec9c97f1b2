import type { contract } from '../../contract/contract.ts'
import type { Answer, Params } from '../../contract/define.ts'

type Contract = typeof contract

type ActionsOf<E extends keyof Contract> = Contract[E]['actions']

/** Names of actions, `endpoint.action`: `rows.push`, `filesystem.list`. */
export type ActionName = { [E in keyof Contract]: `${E}.${keyof ActionsOf<E> & string}` }[keyof Contract]

type ActionOf<N extends ActionName> = N extends `${infer E extends keyof Contract}.${infer A}`
  ? A extends keyof ActionsOf<E>
    ? ActionsOf<E>[A]
    : never
  : never

export type ParamsOf<N extends ActionName> = Params<ActionOf<N>>

/** The response of an action; a `Blob` if it is binary. */
export type AnswerOf<N extends ActionName> = ActionOf<N> extends { answers: 'bytes' } ? Blob : Answer<ActionOf<N>>
