// What the page and the document of the console tell each other. Each takes messages of the other one's window and of its own origin only.

/** Kind is what a console carries: the bytes of a terminal, or pictures by RFB. */
export type Kind = 'terminal' | 'graphical'

/** Ticket is the right to connect once. It comes by a message, so that it is in no address and in no history. */
export interface Ticket {
  kind: Kind
  path: string
  ticket: string
  password: string | null
}

/** Order is what the page wants of the document. */
export type Order =
  /** much is what a reader says when more appears than it can read; the document has the page's language. */
  | { type: 'open'; ticket: Ticket; label: string; font: number; language: string; much: string }
  /** End the console. */
  | { type: 'close' }
  /** Type the text, key by key where the console is graphical. */
  | { type: 'write'; text: string }
  /** Press keys together, by their names in keys.ts. */
  | { type: 'press'; keys: string }
  | { type: 'font'; size: number }
  /** Have a reader read what appears. */
  | { type: 'reader'; on: boolean }
  | { type: 'focus' }
  /** Tell what is selected. */
  | { type: 'copy' }
  /** Play a recording, in the place of a console. The path is that of its asciicast. */
  | { type: 'play'; path: string; label: string; font: number }
  | { type: 'pace'; playing: boolean; speed: number; skip: boolean }
  /** Go to a time of it, in seconds. */
  | { type: 'seek'; at: number }
  /** Go to where a text is shown next. */
  | { type: 'find'; text: string }

/** Event is what the document tells the page. */
export type Event =
  /** It is loaded, and has this room; the page asks for a ticket then. */
  | { type: 'ready'; columns: number; rows: number }
  | { type: 'open' }
  /** The socket has closed; the code is that of RFC 6455, or 4000 and the status of a problem. */
  | { type: 'closed'; code: number; reason: string }
  /** What the terminal shows is recorded, with what the service says of it. */
  | { type: 'recorded'; notice: string }
  | { type: 'size'; columns: number; rows: number }
  /** Somebody pastes text that has lines, or more than a few: they are shown first. */
  | { type: 'paste'; text: string }
  | { type: 'selection'; text: string }
  /** How much of a text is typed, from 0 to 1. */
  | { type: 'typed'; part: number }
  /** Somebody wants the keyboard back. */
  | { type: 'release' }
  /** How long the recording is, in seconds, as far as it has come; whole is false where it is longer than what is played. */
  | { type: 'length'; seconds: number; loaded: boolean; whole: boolean }
  | { type: 'at'; seconds: number; ended: boolean }
  | { type: 'found'; any: boolean }
  /** The recording did not come; the status is that of the answer, 0 without one. */
  | { type: 'unplayable'; status: number }

/** The longest text that is typed at once: into a terminal, and key by key. */
export const longest: Record<Kind, number> = { terminal: 1_000_000, graphical: 20_000 }

/**
 * typeable is a text as it may be typed: lines end as the key Enter does, and what controls a terminal is left out, for a text that was
 * copied from elsewhere could hold commands in it.
 */
export function typeable(text: string): { text: string; left: number } {
  const lines = text.replace(/\r\n?|\n/g, '\r')
  const kept = lines.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, '')
  return { text: kept, left: lines.length - kept.length }
}
