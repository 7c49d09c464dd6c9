// The field over a list of links: what is typed is in the address, and keys go between the field and the links.
import { untrack } from 'svelte'
import type { Keys } from '../app/keys'
import { at, setQuery } from '../app/router.svelte'
import { stepLinks } from './links'
import { filterOf, parse, type Fields } from './query'

/** The address follows the last key by so much, in milliseconds. */
const pause = 200

interface Options<T> {
  fields: Fields<T>
  /** Reads the list again. */
  load: () => void
  /** What else of the list is in the address. */
  rest?: () => Record<string, string>
}

/** Search is that of one list. A page makes it while it is set up. */
export class Search<T> {
  query = $state(at.query.get('q') ?? '')
  /** The field, and what holds the rows, each of which has a link in its heading. */
  field: HTMLInputElement | undefined = $state()
  body: HTMLElement | undefined = $state()
  readonly keys: Keys
  readonly fields: Fields<T>
  /** read is what was typed, as it was understood; fits tests a thing of the list for it. */
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

  /** write brings what the list shows into the address, with what is to be shown otherwise from now on. */
  write = (values: Record<string, string> = {}): void => setQuery({ q: this.query, ...this.#rest(), ...values })

  clear = (): void => {
    clearTimeout(this.#writing)
    this.query = ''
    setQuery({})
    this.field?.focus()
  }

  /** pressed is for the keys of the field. */
  pressed = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') stepLinks(this.body, 1)
    else if (event.key === 'Escape' && this.query) this.clear()
    else if (event.key === 'Escape') this.field?.blur()
    else return
    event.preventDefault()
  }
}
