// Keys that a browser intercepts or a keyboard lacks: what to send to a terminal and to a graphical console.

interface Press {
  /** The sequence for a terminal. Keys without it work only in graphical consoles. */
  bytes?: string
  /** The keys for a graphical console in order, as X11 names (RFC 6143 section 7.5.4) with their codes. */
  keys: [symbol: number, code: string][]
}

const control: [number, string] = [0xffe3, 'ControlLeft']
const alt: [number, string] = [0xffe9, 'AltLeft']
const letter = (name: string): [number, string] => [name.toLowerCase().charCodeAt(0), `Key${name}`]
const functionKey = (n: number): [number, string] => [0xffbd + n, `F${n}`]

/** The sequences that xterm sends for the function keys. */
const functions = ['OP', 'OQ', 'OR', 'OS', '[15~', '[17~', '[18~', '[19~', '[20~', '[21~', '[23~', '[24~']

export const presses: Record<string, Press> = {
  'Ctrl Alt Del': { keys: [control, alt, [0xffff, 'Delete']] },
  'Ctrl W': { bytes: '\u0017', keys: [control, letter('W')] },
  'Ctrl T': { bytes: '\u0014', keys: [control, letter('T')] },
  'Ctrl N': { bytes: '\u000e', keys: [control, letter('N')] },
  Esc: { bytes: '\u001b', keys: [[0xff1b, 'Escape']] },
  Tab: { bytes: '\t', keys: [[0xff09, 'Tab']] },
  'Alt Tab': { keys: [alt, [0xff09, 'Tab']] },
  'Alt F4': { keys: [alt, functionKey(4)] },
  Meta: { keys: [[0xffeb, 'MetaLeft']] },
}
for (const [i, sequence] of functions.entries()) {
  presses[`F${i + 1}`] = { bytes: `\u001b${sequence}`, keys: [functionKey(i + 1)] }
}
for (let n = 1; n <= 6; n++) presses[`Ctrl Alt F${n}`] = { keys: [control, alt, functionKey(n)] }

/** symbol returns the X11 key code for a character: Latin 1 characters are their own codes, all others use Unicode. */
export function symbol(character: string): number {
  if (character === '\r') return 0xff0d
  if (character === '\t') return 0xff09
  const point = character.codePointAt(0) ?? 0
  return point < 0x100 ? point : 0x01000000 | point
}

/**
 * shifted reports whether a character needs the shift key on the default keyboard layout of hypervisors, which do not add shift themselves.
 */
export const shifted = (character: string): boolean => /^[A-Z~!@#$%^&*()_+{}|:"<>?]$/.test(character)

export const shift: [number, string] = [0xffe1, 'ShiftLeft']
