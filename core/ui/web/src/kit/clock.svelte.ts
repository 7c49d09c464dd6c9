/** now changes every ten seconds, so that ages on the page are updated. */
export const now = $state({ at: Date.now() })

setInterval(() => {
  if (!document.hidden) now.at = Date.now()
}, 10_000)
