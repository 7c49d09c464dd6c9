/** now moves every ten seconds: ages on the page follow it. */
export const now = $state({ at: Date.now() })

setInterval(() => {
  if (!document.hidden) now.at = Date.now()
}, 10_000)
