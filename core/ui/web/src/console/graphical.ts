import RFB from '@novnc/novnc'
import type { Screen, Told } from './main'
import { presses, shift, shifted, symbol } from './keys'
import { longest, typeable } from './messages'

/** A guest loses keys that arrive faster than this, in milliseconds. */
const pause = 8

/** graphical shows the screen of a guest in an element, as large as the space allows. */
export function graphical(element: HTMLElement, { password }: { password: string }, tell: Told): Screen {
  let rfb: RFB | undefined
  let socket: WebSocket | undefined
  let turn = 0

  async function type(text: string): Promise<void> {
    const mine = ++turn
    const keys = [...typeable(text).text.slice(0, longest.graphical)]
    for (const [i, key] of keys.entries()) {
      if (mine !== turn || !rfb) break
      if (shifted(key)) rfb.sendKey(...shift, true)
      rfb.sendKey(symbol(key), null)
      if (shifted(key)) rfb.sendKey(...shift, false)
      if (i % 25 === 0) tell({ type: 'typed', part: i / keys.length })
      await new Promise((go) => setTimeout(go, pause))
    }
    tell({ type: 'typed', part: 1 })
  }

  return {
    size: () => ({ columns: 80, rows: 24 }),
    attach(opened) {
      turn++
      socket = opened
      // The library reports neither code nor reason.
      opened.addEventListener('close', ({ code, reason }) => {
        rfb = undefined
        tell({ type: 'closed', code, reason })
      })
      rfb = new RFB(element, opened, { credentials: { password }, shared: true })
      rfb.scaleViewport = true
      rfb.resizeSession = true
      rfb.background = '#15181d'
      rfb.addEventListener('connect', () => tell({ type: 'open' }))
      rfb.addEventListener('securityfailure', () => opened.close())
    },
    write: (text) => void type(text),
    press: (name) => {
      const keys = presses[name]?.keys ?? []
      for (const [key, code] of keys) rfb?.sendKey(key, code, true)
      for (const [key, code] of [...keys].reverse()) rfb?.sendKey(key, code, false)
    },
    font: () => undefined,
    reader: () => undefined,
    focus: () => rfb?.focus(),
    selection: () => '',
    settle: () => undefined,
    end: () => {
      turn++
      rfb?.disconnect()
      socket?.close()
      element.replaceChildren()
    },
  }
}
