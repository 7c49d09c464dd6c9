/** Toast is a short word about what one has just done. */
export interface Toast {
  id: number
  text: string
  bad: boolean
  /** A path of the page that says more. */
  link?: { path: string; text: string }
}

/** How long one stays, in milliseconds; what is bad stays until it is closed. */
const stays = 6000

let next = 1
export const toasts: { all: Toast[] } = $state({ all: [] })

/** say shows a toast, and yields its number. */
export function say(text: string, { bad = false, link }: { bad?: boolean; link?: Toast['link'] } = {}): number {
  const id = next++
  toasts.all = [...toasts.all.slice(-3), { id, text, bad, ...(link ? { link } : {}) }]
  if (!bad) setTimeout(() => unsay(id), stays)
  return id
}

export function unsay(id: number): void {
  toasts.all = toasts.all.filter((toast) => toast.id !== id)
}
