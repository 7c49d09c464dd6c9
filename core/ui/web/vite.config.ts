import { svelte } from '@sveltejs/vite-plugin-svelte'
import { playwright } from '@vitest/browser-playwright'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'
import { chromium } from './chromium.ts'
import { chunkName, wordsOfPages } from './words-of-pages.ts'

/** The service that `make ui-dev` shows the page before: that of `make run`, unless another one is named. */
const service = process.env.HOSTLER_SERVICE ?? 'http://127.0.0.1:8480'

/** The documents of consoles and of the API bring their own styles: those of the page are not for them. */
const withoutStyles: Plugin = {
  name: 'documents-without-styles',
  transformIndexHtml: {
    order: 'post',
    handler: (html, { filename }) =>
      /(console|api-docs)\.html$/.test(filename) ? html.replace(/\s*<link rel="stylesheet"[^>]*>/, '') : html,
  },
}

export default defineConfig({
  plugins: [svelte(), wordsOfPages(), withoutStyles],
  // Files name each other by relative paths, for a proxy may serve the page below a path of its own.
  base: './',
  build: {
    outDir: 'built',
    assetsInlineLimit: 0,
    // Compressed one by one, the styles of the parts would be twice as large.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000, // a test holds what each document may weigh
    // The console and the API reference are documents of their own, each with a policy of its own.
    rolldownOptions: {
      input: ['index.html', 'console.html', 'api-docs.html'],
      output: { chunkFileNames: ({ facadeModuleId }) => chunkName(facadeModuleId) },
      checks: { pluginTimings: false },
    },
    sourcemap: false,
    target: 'es2023',
  },
  server: { proxy: { '/api': { target: service, changeOrigin: false } } },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          environment: 'node',
          include: ['src/**/*.test.ts'],
          exclude: ['src/**/*.browser.test.ts'],
          setupFiles: ['words-for-tests.ts'],
        },
      },
      {
        extends: true,
        // Found late, it would reload a test.
        optimizeDeps: { include: ['uplot', '@noble/hashes/sha2.js', '@noble/hashes/utils.js'] },
        test: {
          name: 'kit',
          include: ['src/**/*.browser.test.ts'],
          setupFiles: ['words-for-tests.ts'],
          // As with the journeys, the limits bound what hangs on a busy machine.
          testTimeout: 120_000,
          expect: { poll: { timeout: 60_000 } },
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
          globalSetup: ['journeys/first-state.ts'],
          isolate: false, // what they import is larger than they are, and each calls stage for what it stands on
          // They wait for conditions; the limits bound what hangs on a busy machine.
          testTimeout: 480_000,
          hookTimeout: 240_000,
          expect: { poll: { timeout: 60_000 } },
        },
      },
    ],
  },
})
