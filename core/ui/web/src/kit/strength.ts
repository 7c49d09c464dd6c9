/** The minimum length that the service requires, in characters. */
const least = 12

/**
 * strength estimates how hard a password is to guess, from 0 (too short) to 4. It counts different characters: a repeated letter adds
 * nothing.
 */
export function strength(password: string): 0 | 1 | 2 | 3 | 4 {
  const characters = [...password]
  if (characters.length < least) return 0
  const different = new Set(characters).size
  const classes = [/\p{Ll}/u, /\p{Lu}/u, /\p{N}/u, /[^\p{L}\p{N}]/u].filter((one) => one.test(password)).length
  const score = different + (characters.length - least) / 2 + classes * 2
  if (different < 5) return 1
  if (score < 16) return 2
  return score < 22 ? 3 : 4
}
