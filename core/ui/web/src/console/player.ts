// Plays the recording of a terminal: an asciicast v2 (https://docs.asciinema.org/manual/asciicast/v2/). It contains output of a guest, and
// stays in this document like that of a console.
import type { Told } from './main'
import { cast, plain, type Cast } from './cast'
import { make } from './terminal'

/** How often the clock moves, in milliseconds, and the longest pause before the next output if pauses are skipped, in seconds. */
const beat = 50
const longestWait = 1
/** How many characters of a recording are read. The browser keeps all of them in memory. */
const most = 128 << 20
/** How many skipped characters are written. Older output has scrolled away, and the terminal refuses more. */
const mostAtOnce = 8 << 20

/** Player plays a recording. */
export interface Player {
  pace: (how: { playing: boolean; speed: number; skip: boolean }) => void
  seek: (at: number) => void
  find: (text: string) => void
  end: () => void
}

export function player(
  element: HTMLElement,
  { path, label, font }: { path: string; label: string; font: number },
  tell: Told,
): Player {
  element.classList.add('recording')
  const shown = make(element, label, { fontSize: font, disableStdin: true, cursorInactiveStyle: 'none' })
  const stop = new AbortController()
  const read: Cast = cast()
  let clock = 0
  /** The next event that has not been shown. */
  let next = 0
  let pace = { playing: false, speed: 1, skip: true }

  async function load(): Promise<void> {
    let status = 0
    try {
      const answer = await fetch(new URL(path, location.href), { signal: stop.signal })
      status = answer.status
      if (!answer.ok || !answer.body) return tell({ type: 'unplayable', status })
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
      let size = 0
      for (;;) {
        const { done, value } = await reader.read()
        const begun = read.size !== undefined
        if (value) read.add(value)
        if (!begun && read.size) resize(read.size)
        size += value?.length ?? 0
        if (size > most) {
          await reader.cancel()
          return loaded(false)
        }
        if (done) return loaded(true)
        tell({ type: 'length', seconds: read.length, loaded: false, whole: true })
      }
    } catch {
      if (!stop.signal.aborted) tell({ type: 'unplayable', status })
    }
  }
  function loaded(whole: boolean): void {
    read.end()
    tell({ type: 'length', seconds: read.length, loaded: true, whole })
  }
  // A terminal processes writes in order and a little later, and so must a reset and a new size.
  const write = (text: string): void => shown.write(text.length > mostAtOnce ? text.slice(-mostAtOnce) : text)
  const resize = ({ columns, rows }: { columns: number; rows: number }): void =>
    shown.write('', () => shown.resize(columns, rows))
  function restart(): void {
    shown.write('\u001bc')
    if (read.size) resize(read.size)
    next = 0
  }
  /** show updates the terminal to the current time. */
  function show(): void {
    let text = ''
    for (; next < read.events.length && read.events[next]!.at <= clock; next++) {
      const event = read.events[next]!
      if (event.output !== undefined) text += event.output
      if (!event.size) continue
      // Output before a new size was written for the old size.
      if (text) write(text)
      text = ''
      resize(event.size)
    }
    if (text) write(text)
    tell({ type: 'at', seconds: clock, ended: next >= read.events.length })
  }
  const timer = setInterval(() => {
    if (!pace.playing || !read.events.length) return
    const upcoming = read.events[next]
    if (upcoming) clock += (beat / 1000) * pace.speed
    if (upcoming && pace.skip && upcoming.at - clock > longestWait * pace.speed) clock = upcoming.at - longestWait * pace.speed
    show()
  }, beat)
  void load()

  function seek(at: number): void {
    const to = Math.max(0, Math.min(read.length, Number.isFinite(at) ? at : 0))
    if (to < clock) restart()
    clock = to
    show()
  }
  return {
    pace: (how) => {
      // At its end, start again from the beginning.
      if (how.playing && !pace.playing && next >= read.events.length) seek(0)
      pace = how
    },
    seek,
    find: (text) => {
      const wanted = text.toLowerCase()
      const at = (from: number, to: number): number =>
        read.events.slice(from, to).findIndex(({ output }) => output && plain(output).toLowerCase().includes(wanted))
      const ahead = at(next, read.events.length)
      const behind = ahead < 0 ? at(0, next) : -1
      const found = read.events[ahead >= 0 ? next + ahead : behind]
      if (found && wanted) seek(found.at)
      tell({ type: 'found', any: found !== undefined && wanted !== '' })
    },
    end: () => {
      stop.abort()
      clearInterval(timer)
      shown.dispose()
    },
  }
}
