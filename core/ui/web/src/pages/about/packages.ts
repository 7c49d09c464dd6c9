/** What the built page holds of others; a test holds the list against package.json. */
export const packages = [{ name: 'svelte', version: '5.57.3', licence: 'MIT' }]
