import { catalogue } from '../../kit/language.ts'
import { english } from './english.ts'
import { german } from './german.ts'

export const words = catalogue(english, german)
