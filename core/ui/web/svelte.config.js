/** The file that each class belongs to. */
const files = new Map()

/**
 * The class of a component stands at each of its elements, so it is short: S, with which no other class begins, and three characters of
 * the hash of the file's name. Two files with the same class would get each other's styles.
 * @type {import('svelte/compiler').CssHashGetter}
 */
function cssHash({ hash, filename }) {
  const file = filename.replaceAll('\\', '/').replace(/^.*\/(?=src\/)/, '')
  const name = `S${hash(file).slice(-3)}`
  const other = files.get(name) ?? file
  if (other !== file) throw new Error(`${file} and ${other} have the same CSS class ${name}: rename one of them`)
  files.set(name, file)
  return name
}

/** @type {import('@sveltejs/vite-plugin-svelte').SvelteConfig} */
export default {
  compilerOptions: { runes: true, cssHash },
}
