// Sends files to the service. It uses the only kind of browser request that reports its progress.
import { address, api, type Command } from './client'
import { Problem, problemOf } from './problem'
import type { ErrorId } from './operations'
import type { components } from './schema'

export type Uploaded = components['schemas']['UploadResult']

/** The destination and type of a file. Empty fields are left out, and the service decides. */
export interface Target {
  host_id: number
  storage: string
  content: string
  node: string
  overwrite: boolean
  /** The required checksum of the file, in hexadecimal digits. */
  sha256: string
}

/**
 * uploadCommand returns the request that sends a file. All fields come before the file, so that the service checks them before it reads the
 * file. id must never have been used before.
 */
export function uploadCommand(
  { host_id, storage, content, node, overwrite, sha256 }: Target,
  file: string,
  id?: string,
): Command<Uploaded> {
  const fields = {
    ...(content ? { content } : {}),
    ...(node ? { node } : {}),
    overwrite: String(overwrite),
    ...(sha256 ? { sha256 } : {}),
  }
  return {
    method: 'post',
    path: '/api/v1/storage/{host_id}/{name}/content',
    options: { path: { host_id, name: storage }, query: { upload_id: id }, form: { fields, file } },
  }
}

interface Way {
  signal: AbortSignal
  /** Called with the number of bytes sent so far and the total. */
  progress: (sent: number, all: number) => void
}

/** How often, and after how many milliseconds, to ask the service about an upload whose connection broke. */
const looks = 5
const pause = 700

/**
 * sendFile uploads a file and returns the job that sends it to the storage. The signal cancels the upload and leaves nothing behind. If the
 * connection breaks, for example because the service refuses the file while it is being sent, sendFile asks the service for the reason.
 */
export async function sendFile(command: Command<Uploaded>, file: File, way: Way): Promise<Uploaded> {
  for (let again = false; ; again = true) {
    const response = await post(command, file, way)
    if (response?.ok) return (await response.json()) as Uploaded
    const problem = response ? await problemOf(response) : await ended(command, way.signal)
    if (problem.id !== 'unauthenticated' || again) throw problem
    await api.get('/api/v1/auth/me') // asks for a login, and returns afterwards
  }
}

/** post returns undefined if the connection broke. */
function post({ path, options }: Command, file: File, { signal, progress }: Way): Promise<Response | undefined> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(reason(signal))
    const form = new FormData()
    for (const [name, value] of Object.entries(options.form?.fields ?? {})) form.append(name, value)
    form.append('file', file, file.name)
    const request = new XMLHttpRequest()
    const stop = (): void => request.abort()
    signal.addEventListener('abort', stop, { once: true })
    request.open('POST', address(path, options))
    request.setRequestHeader('Accept', 'application/json')
    request.upload.onprogress = ({ loaded, total }) => progress(loaded, total)
    request.onabort = () => reject(reason(signal))
    request.onerror = () => resolve(undefined)
    request.onload = () => {
      const headers = new Headers()
      for (const name of ['X-Request-Id', 'Retry-After']) {
        const value = request.getResponseHeader(name)
        if (value) headers.set(name, value)
      }
      resolve(new Response(request.responseText, { status: request.status, headers }))
    }
    request.onloadend = () => signal.removeEventListener('abort', stop)
    request.send(form)
  })
}

const reason = (signal: AbortSignal): Error =>
  signal.reason instanceof Error ? signal.reason : new DOMException('canceled', 'AbortError')

/** ended asks the service why an upload ended. The service may need a moment to notice. */
async function ended({ options }: Command, signal: AbortSignal): Promise<Problem> {
  const { host_id } = options.path as { host_id: number }
  const upload_id = String(options.query?.upload_id)
  for (let look = 0; look < looks && !signal.aborted; look++) {
    await new Promise((go) => setTimeout(go, pause))
    const found = await api
      .get('/api/v1/hosts/{host_id}/uploads/{upload_id}', { path: { host_id, upload_id } })
      .catch(() => undefined)
    // Both sides report a broken connection as a sender that went away.
    if (found?.status === 'failed' && found.error && found.error !== 'canceled')
      return new Problem({ id: found.error as ErrorId, status: 409, detail: found.detail })
    if (found?.status === 'failed') break
  }
  return new Problem({ id: 'offline', status: 0 })
}
