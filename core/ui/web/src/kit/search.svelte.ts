// The search field above a list of links. Its text is in the address, and keys move between the field and the links.
import { untrack } from 'svelte'
import type { Keys } from '../app/keys'
import { at, setQuery } from '../app/router.svelte'
import { stepLinks } from './links'
import { filterOf, parse, type Fields } from './query'

/** Delay of the address after the last key, in milliseconds. */
const pause = 200

interface Options<T> {
  fields: Fields<T>
  /** Reloads the list. */
  load: () => void
  /** Other parameters of the list in the address. */
  rest?: () => Record<string, string>
}

/** Search belongs to one list. A page creates it during its setup. */
export class Search<T> {
  query = $state(at.query.get('q') ?? '')
  /** The field, and the element with the rows, each of which has a link in its heading. */
  field: HTMLInputElement | undefined = $state()
  body: HTMLElement | undefined = $state()
  readonly keys: Keys
  readonly fields: Fields<T>
  /** read is the parsed text; fits tests an object of the list. */
  readonly read = $derived.by(() => parse(this.query, this.fields))
  readonly fits = $derived.by(() => filterOf(this.read, this.fields))
  readonly #rest: () => Record<string, string>
  #writing: ReturnType<typeof setTimeout> | undefined

  constructor({ fields, load, rest = () => ({}) }: Options<T>) {
    this.fields = fields
    this.#rest = rest
    this.keys = {
      '/': () => this.field?.focus(),
      j: () => stepLinks(this.body, 1),
      k: () => stepLinks(this.body, -1),
      r: load,
      Escape: this.clear,
    }
    $effect(() => {
      const { query } = at
      untrack(() => (this.query = query.get('q') ?? ''))
    })
    $effect(() => () => clearTimeout(this.#writing))
  }

  /** typed is called when the field has changed. */
  typed = (): void => {
    clearTimeout(this.#writing)
    this.#writing = setTimeout(() => this.write(), pause)
  }

  /** write updates the address with the state of the list and with further changes. */
  write = (values: Record<string, string> = {}): void => setQuery({ q: this.query, ...this.#rest(), ...values })

  clear = (): void => {
    clearTimeout(this.#writing)
    this.query = ''
    setQuery({})
    this.field?.focus()
  }

  /** pressed handles the keys of the field. */
  pressed = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') stepLinks(this.body, 1)
    else if (event.key === 'Escape' && this.query) this.clear()
    else if (event.key === 'Escape') this.field?.blur()
    else return
    event.preventDefault()
  }
}
