// The used part of noVNC, whose package has no types: see its docs/API.md.
declare module '@novnc/novnc' {
  export default class RFB extends EventTarget {
    constructor(target: HTMLElement, channel: WebSocket, options?: { credentials?: { password?: string }; shared?: boolean })
    scaleViewport: boolean
    resizeSession: boolean
    background: string
    disconnect(): void
    focus(): void
    blur(): void
    sendKey(keysym: number, code: string | null, down?: boolean): void
  }
}
