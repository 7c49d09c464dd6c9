import source from './checksum.worker.ts?worker&url'

/** The part of Trusted Types that TypeScript's types lack. */
declare const trustedTypes:
  | { createPolicy: (name: string, rules: { createScriptURL: () => string }) => { createScriptURL: (url: string) => unknown } }
  | undefined

type Told = { read: number } | { sum: string } | { failed: string }

/** The page's policy allows scripts only through this policy: the one that is built with the page, and no other. */
const address: string =
  typeof trustedTypes === 'undefined'
    ? source
    : (trustedTypes.createPolicy('hostler-worker', { createScriptURL: () => source }).createScriptURL('') as string)

/**
 * checksum computes the SHA-256 of a file in hexadecimal digits, in a worker. read is called with the number of bytes read so far; the
 * signal cancels it.
 */
export function checksum(file: Blob, signal: AbortSignal, read: (bytes: number) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error)
    const worker = new Worker(address, { type: 'module' })
    const end = (): void => {
      worker.terminate()
      signal.removeEventListener('abort', stop)
    }
    const stop = (): void => {
      end()
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', stop, { once: true })
    worker.onmessage = ({ data }: MessageEvent<Told>) => {
      if ('read' in data) return read(data.read)
      end()
      if ('sum' in data) resolve(data.sum)
      else reject(new Error(data.failed))
    }
    worker.onerror = ({ message }) => {
      end()
      reject(new Error(message || 'the checksum could not be computed'))
    }
    worker.postMessage(file)
  })
}
