import { FitAddon } from '@xterm/addon-fit'
import { Terminal, type ITerminalOptions } from '@xterm/xterm'
import ofTerminal from '@xterm/xterm/css/xterm.css?inline'
import type { Screen, Told } from './main'
import { dress } from './dress'
import { presses } from './keys'
import { typeable } from './messages'

/** How many bytes may wait to be shown. More is dropped, because a browser cannot slow down the sender. */
const most = 16 << 20
/** The size of one message, in bytes. */
const piece = 64 << 10

interface Looks {
  label: string
  font: number
  much: string
}

/** make shows a terminal in an element. Links in it are disabled. */
export function make(element: HTMLElement, label: string, options: ITerminalOptions): Terminal {
  dress(ofTerminal)
  const shown = new Terminal({
    fontFamily: `ui-monospace, 'DejaVu Sans Mono', 'Cascadia Mono', Menlo, Consolas, monospace`,
    scrollback: 10_000,
    cursorBlink: false,
    minimumContrastRatio: 4.5,
    linkHandler: { activate: () => undefined, allowNonHttpProtocols: false },
    theme: { background: '#15181d', foreground: '#e8ebf0', cursor: '#e8ebf0' },
    tabStopWidth: 8,
    ...options,
  })
  shown.open(element)
  shown.textarea?.setAttribute('aria-label', label)
  return shown
}

/**
 * terminal shows a text console in an element. Output of a guest cannot leave it: no sequence can set a title, use the clipboard, open a
 * window or follow a link.
 */
export function terminal(element: HTMLElement, { label, font, much }: Looks, tell: Told): Screen {
  Terminal.strings.tooMuchOutput = much
  const shown = make(element, label, { fontSize: font })
  const fit = new FitAddon()
  shown.loadAddon(fit)
  let socket: WebSocket | undefined
  let waiting = 0
  let dropped = 0
  const encoder = new TextEncoder()

  const send = (bytes: Uint8Array<ArrayBuffer>): void => {
    if (socket?.readyState !== WebSocket.OPEN) return
    for (let at = 0; at < bytes.length; at += piece) socket.send(bytes.subarray(at, at + piece))
  }
  shown.onData((text) => send(encoder.encode(text)))
  shown.onBinary((text) => send(Uint8Array.from(text, (character) => character.charCodeAt(0))))
  shown.onResize(({ cols, rows }) => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ resize: { columns: cols, rows } }))
    tell({ type: 'size', columns: cols, rows })
  })
  const settle = (): void => {
    const room = fit.proposeDimensions()
    if (!room || !Number.isFinite(room.cols) || !Number.isFinite(room.rows)) return
    shown.resize(Math.max(2, Math.min(1000, room.cols)), Math.max(1, Math.min(1000, room.rows)))
  }
  settle()

  function print(bytes: Uint8Array): void {
    if (waiting + bytes.length > most) {
      dropped += bytes.length
      return
    }
    waiting += bytes.length
    shown.write(bytes, () => {
      waiting -= bytes.length
      if (dropped === 0 || waiting > most / 2) return
      shown.write(`\r\n\u001b[0;7m[${dropped} B]\u001b[0m\r\n`)
      dropped = 0
    })
  }

  return {
    size: () => ({ columns: shown.cols, rows: shown.rows }),
    attach(opened) {
      socket = opened
      opened.binaryType = 'arraybuffer'
      opened.addEventListener('open', () => {
        tell({ type: 'open' })
        opened.send(JSON.stringify({ resize: { columns: shown.cols, rows: shown.rows } }))
      })
      opened.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) => {
        if (data instanceof ArrayBuffer) print(new Uint8Array(data))
        else notice(data, tell)
      })
      opened.addEventListener('close', ({ code, reason }) => tell({ type: 'closed', code, reason }))
    },
    write: (text) => shown.paste(typeable(text).text),
    press: (keys) => {
      const bytes = presses[keys]?.bytes
      if (bytes) send(encoder.encode(bytes))
    },
    font: (size) => {
      shown.options.fontSize = size
      settle()
    },
    reader: (on) => {
      shown.options.screenReaderMode = on
    },
    focus: () => shown.focus(),
    selection: () => shown.getSelection(),
    settle,
    end: () => {
      socket?.close()
      shown.dispose()
    },
  }
}

/** notice reads the only text message of the service: that the terminal is recorded. */
function notice(data: string, tell: Told): void {
  try {
    const told = JSON.parse(data) as { recorded?: boolean; notice?: string }
    if (told.recorded) tell({ type: 'recorded', notice: String(told.notice ?? '') })
  } catch {
    // Another version of the service sends something that this version does not know.
  }
}
