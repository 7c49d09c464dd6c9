import { svelte } from '@sveltejs/vite-plugin-svelte'
import { playwright } from '@vitest/browser-playwright'
import { defineConfig } from 'vitest/config'

/** Debian's Chromium; another one for a machine that has it elsewhere. */
const chromium = process.env.HOSTLER_CHROMIUM ?? '/usr/bin/chromium'

/** The service that `make ui-dev` shows the page before: that of `make run`, unless another one is named. */
const service = process.env.HOSTLER_SERVICE ?? 'http://127.0.0.1:8480'

export default defineConfig({
  plugins: [svelte()],
  // Files name each other by relative paths, for a proxy may serve the page below a path of its own.
  base: './',
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { checks: { pluginTimings: false } },
    sourcemap: false,
    target: 'es2023',
  },
  server: { proxy: { '/api': { target: service, changeOrigin: false } } },
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'unit', environment: 'node', include: ['src/**/*.test.ts'], exclude: ['src/**/*.browser.test.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'kit',
          include: ['src/**/*.browser.test.ts'],
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({ launchOptions: { executablePath: chromium, args: ['--no-sandbox'] } }),
            instances: [{ browser: 'chromium', viewport: { width: 1280, height: 720 } }],
          },
        },
      },
      {
        extends: true,
        test: {
          name: 'journeys',
          environment: 'node',
          include: ['journeys/*.test.ts'],
          // They wait for conditions; the limits bound what hangs on a busy machine.
          testTimeout: 240_000,
          hookTimeout: 240_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
