import svelte from 'eslint-plugin-svelte'
import typescript from 'typescript-eslint'
import configuration from './svelte.config.js'

export default typescript.config(
  { ignores: ['built', 'node_modules', 'src/api/schema.d.ts', 'src/api/operations.ts'] },
  ...typescript.configs.strict,
  ...svelte.configs.recommended,
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: {
      parserOptions: { parser: typescript.parser, extraFileExtensions: ['.svelte'], svelteConfig: configuration },
    },
  },
  {
    rules: {
      'svelte/no-at-html-tags': 'error',
      'no-restricted-globals': ['error', 'alert', 'confirm', 'prompt'],
      '@typescript-eslint/no-non-null-assertion': 'off',
      // A counter is read in an effect or a derived value to depend on it: void guests.shape.
      'no-void': 'off',
      // Large data are plain on purpose; a counter tells of changes.
      'svelte/prefer-svelte-reactivity': 'off',
      'svelte/no-navigation-without-resolve': 'off', // of SvelteKit's router, which is not ours
    },
  },
  {
    // Only the client speaks to the service.
    files: ['src/**/*.svelte', 'src/**/*.ts'],
    // The documents of recordings and of the API have no client, and each reads one file.
    ignores: ['src/api/client.ts', 'src/console/player.ts', 'src/reference/main.ts', '**/*.test.ts'],
    rules: { 'no-restricted-globals': ['error', 'fetch', 'alert', 'confirm', 'prompt'] },
  },
)
