/** The libraries in the built page. A test compares the list with package.json and the licence texts. */
export const packages = [
  { name: 'svelte', version: '5.57.3', licence: 'MIT' },
  { name: '@novnc/novnc', version: '1.7.0', licence: 'MPL-2.0', source: 'https://github.com/novnc/noVNC/tree/v1.7.0' },
  { name: '@xterm/xterm', version: '6.0.0', licence: 'MIT' },
  { name: '@xterm/addon-fit', version: '0.11.0', licence: 'MIT' },
  { name: 'uplot', version: '1.6.32', licence: 'MIT' },
  { name: '@noble/hashes', version: '2.4.0', licence: 'MIT' },
  { name: 'rapidoc', version: '9.3.8', licence: 'MIT' },
  { name: 'cronstrue', version: '3.39.0', licence: 'MIT' },
]
