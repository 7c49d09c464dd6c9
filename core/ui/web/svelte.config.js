/** @type {import('@sveltejs/vite-plugin-svelte').SvelteConfig} */
export default {
  compilerOptions: {
    runes: true,
    // The class of a part stands at each of its elements: Svelte's own name for it would be a hundredth of the whole page.
    cssHash: ({ hash, css }) => `s${hash(css)}`,
  },
}
