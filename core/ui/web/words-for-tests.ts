// Tests begin when the words are there, as the page does: those of the start, and those of what a test file imports.
import { beforeAll } from 'vitest'
import { settled } from './src/words/words.ts'

await settled(undefined)
beforeAll(() => settled(undefined))
