/** Toast is a short message about what the user has just done. */
export interface Toast {
  id: number
  text: string
  bad: boolean
  /** A path of the page with more details. */
  link?: { path: string; text: string }
}

/** How long a toast is shown, in milliseconds. Errors stay until they are closed. */
const stays = 6000

let next = 1
export const toasts: { all: Toast[] } = $state({ all: [] })

/** say shows a toast and returns its number. */
export function say(text: string, { bad = false, link }: { bad?: boolean; link?: Toast['link'] } = {}): number {
  const id = next++
  toasts.all = [...toasts.all.slice(-3), { id, text, bad, ...(link ? { link } : {}) }]
  if (!bad) setTimeout(() => unsay(id), stays)
  return id
}

export function unsay(id: number): void {
  toasts.all = toasts.all.filter((toast) => toast.id !== id)
}
