// Keeps the current link of a row of links in view that a narrow screen scrolls sideways.
import type { Attachment } from 'svelte/attachments'

/** currentInView scrolls a nav to its link with aria-current. Give it what decides which link that is. */
export const currentInView =
  (part: string): Attachment<HTMLElement> =>
  (nav) => {
    void part
    const here = nav.querySelector<HTMLElement>('[aria-current]')
    if (here) nav.scrollLeft = here.offsetLeft - nav.offsetLeft - (nav.clientWidth - here.offsetWidth) / 2
  }
