/** Link leads to the page where something can be done about a reason: a path of the page. */
export interface Link {
  path: string
  text: string
}

/** leads are sentences that always lead to the same page. */
export const leads = new Map<string, Link>()

/** leading stores the link of a sentence for the control that shows it (why.ts). It returns the sentence. */
export function leading(text: string, link: Link): string {
  leads.set(text, link)
  return text
}
