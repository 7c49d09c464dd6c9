/** Link is where something can be done about a reason: a path of the page. */
export interface Link {
  path: string
  text: string
}

/** leads are the sentences that always lead to the same place. */
export const leads = new Map<string, Link>()

/** leading remembers where a sentence leads, for the control that says it (why.ts). It yields the sentence. */
export function leading(text: string, link: Link): string {
  leads.set(text, link)
  return text
}
