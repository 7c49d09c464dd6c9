// Reads an asciicast v2 as it arrives: a line with the header, then one line for each event.

interface Size {
  columns: number
  rows: number
}
/** Event is output or a new size, at a time in seconds since the beginning. */
interface Event {
  at: number
  output?: string
  size?: Size
}
export interface Cast {
  readonly events: Event[]
  /** The initial size; undefined until the header has arrived. */
  readonly size: Size | undefined
  /** The time of the last event, in seconds. */
  readonly length: number
  add: (text: string) => void
  /** Call it when no more data comes, because the last line has no line end. */
  end: () => void
}

/** The limits for the size of a terminal, whatever a recording says. */
const sized = (columns: unknown, rows: unknown): Size | undefined => {
  const [x, y] = [Math.floor(Number(columns)), Math.floor(Number(rows))]
  return x >= 2 && y >= 1 && x <= 1000 && y <= 1000 ? { columns: x, rows: y } : undefined
}

/** cast reads a recording. It skips everything that is not an event. */
export function cast(): Cast {
  const events: Event[] = []
  let size: Size | undefined
  let part = ''
  let last = 0
  let begun = false

  function line(text: string): void {
    if (!text.trim()) return
    let read: unknown
    try {
      read = JSON.parse(text)
    } catch {
      return
    }
    if (!begun && read && typeof read === 'object' && !Array.isArray(read)) {
      const { width, height } = read as Record<string, unknown>
      size = sized(width, height)
      begun = true
    }
    if (!Array.isArray(read)) return
    const [at, kind, data] = read as unknown[]
    if (typeof at !== 'number' || !Number.isFinite(at) || typeof data !== 'string') return
    // A clock that was set back must not make a recording run backwards.
    last = Math.max(last, at)
    if (kind === 'o') events.push({ at: last, output: data })
    const changed = kind === 'r' ? /^(\d{1,4})x(\d{1,4})$/.exec(data) : null
    const next = changed && sized(changed[1], changed[2])
    if (next) events.push({ at: last, size: next })
  }
  return {
    events,
    get size() {
      return size
    },
    get length() {
      return last
    },
    add(text) {
      const lines = (part + text).split('\n')
      part = lines.pop() ?? ''
      lines.forEach(line)
    },
    end() {
      line(part)
      part = ''
    },
  }
}

/** plain returns output without control sequences. */
export const plain = (output: string): string =>
  output.replace(/\u001b(?:\[[\d;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g, '')
