// The messages between the page and the document of the console. Each side accepts only messages from the other's window and its own
// origin.

/** Kind is what a console carries: the bytes of a terminal, or images by RFB. */
export type Kind = 'terminal' | 'graphical'

/** Ticket is the right to connect once. It comes in a message, so that it appears in no address and no history. */
export interface Ticket {
  kind: Kind
  path: string
  ticket: string
  password: string | null
}

/** Order is a command from the page to the document. */
export type Order =
  /** much is what a screen reader says if there is too much output. The document uses the page's language. */
  | { type: 'open'; ticket: Ticket; label: string; font: number; language: string; much: string }
  /** Close the console. */
  | { type: 'close' }
  /** Type the text, key by key in a graphical console. */
  | { type: 'write'; text: string }
  /** Press keys together, by their names in keys.ts. */
  | { type: 'press'; keys: string }
  | { type: 'font'; size: number }
  /** Let a screen reader read new output. */
  | { type: 'reader'; on: boolean }
  | { type: 'focus' }
  /** Send the selected text. */
  | { type: 'copy' }
  /** Play a recording instead of a console. The path is that of its asciicast. */
  | { type: 'play'; path: string; label: string; font: number }
  | { type: 'pace'; playing: boolean; speed: number; skip: boolean }
  /** Jump to a time, in seconds. */
  | { type: 'seek'; at: number }
  /** Jump to the next occurrence of a text. */
  | { type: 'find'; text: string }

/** Event is a message from the document to the page. */
export type Event =
  /** The document is loaded and has this much space. The page then requests a ticket. */
  | { type: 'ready'; columns: number; rows: number }
  | { type: 'open' }
  /** The socket has closed. The code is that of RFC 6455, or 4000 plus the status of a problem. */
  | { type: 'closed'; code: number; reason: string }
  /** The terminal is recorded, with the service's message about it. */
  | { type: 'recorded'; notice: string }
  | { type: 'size'; columns: number; rows: number }
  /** Somebody pastes text with several lines, or a long one. The page shows it first. */
  | { type: 'paste'; text: string }
  | { type: 'selection'; text: string }
  /** How much of a text has been typed, from 0 to 1. */
  | { type: 'typed'; part: number }
  /** The user wants to move the focus back to the page. */
  | { type: 'release' }
  /** The length of the recording that has arrived so far, in seconds. whole is false if the recording is longer than what can be played. */
  | { type: 'length'; seconds: number; loaded: boolean; whole: boolean }
  | { type: 'at'; seconds: number; ended: boolean }
  | { type: 'found'; any: boolean }
  /** The recording did not arrive. The status is that of the response, 0 without one. */
  | { type: 'unplayable'; status: number }

/** The longest text that can be typed at once: into a terminal, and key by key. */
export const longest: Record<Kind, number> = { terminal: 1_000_000, graphical: 20_000 }

/**
 * typeable returns a text as it may be typed: lines end with the key Enter, and control sequences are removed, because a copied text could
 * contain commands.
 */
export function typeable(text: string): { text: string; left: number } {
  const lines = text.replace(/\r\n?|\n/g, '\r')
  const kept = lines.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, '')
  return { text: kept, left: lines.length - kept.length }
}
